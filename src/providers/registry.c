/* SPDX-License-Identifier: Apache-2.0 */
/* Which providers there are, and how one is chosen and configured. */
#include "providers/providers.h"

#include <limits.h>

#define NOT_BUILT(provider_name, provider_title, what)                                             \
	{                                                                                          \
		.name = (provider_name), .title = (provider_title), .description = (what),         \
		.detail = "not in this build"                                                      \
	}

/* Those known by name but not built are refused as not_supported, never as unknown. */
static const struct cove_provider_info rows[] = {
	{.name = "here",
	 .title = "Here",
	 .description = "commands and files in a directory of this machine, as they are",
	 .available = true},
	{.name = "workspace",
	 .title = "Workspace",
	 .description = "a fresh directory of this machine for each run",
	 .available = true},
	{.name = "sandbox",
	 .title = "Sandbox",
	 .description = "its own view of files, processes and network, as an ordinary user",
	 .available = true},
	NOT_BUILT("docker", "Docker", "a container of an image"),
	NOT_BUILT("ssh", "SSH", "another machine over ssh"),
	NOT_BUILT("remote", "Remote", "an environment that another cove serves"),
	NOT_BUILT("unsupported", "Unsupported", "refuses every operation"),
};

static const struct cv_provider *const built[] = {&cv_provider_sandbox, &cv_provider_workspace,
						  &cv_provider_here};

/* Other names under which users know them. */
static const char *const aliases[][2] = {{"current-directory", "here"},
					 {"filesystem", "workspace"}};

const struct cove_provider_info *cove_providers(size_t *ret_count)
{
	*ret_count = CV_LEN(rows);
	return rows;
}

static int unknown(const char *name, struct cove_error *err)
{
	char known[200] = "known:";

	for (size_t i = 0; i < CV_LEN(rows); i++) {
		size_t len = strlen(known);

		snprintf(known + len, sizeof(known) - len, "%s %s", i ? "," : "", rows[i].name);
	}
	return cv_fail_arg(err, "provider", known, "is '%.100s', which is no environment", name);
}

/* A name may carry what the provider works on behind a colon, such as docker:IMAGE. */
static bool names(const char *given, const char *name)
{
	size_t len = strlen(name);

	return strncmp(given, name, len) == 0 && (given[len] == '\0' || given[len] == ':');
}

static int find(const char *name, const struct cv_provider **ret, struct cove_error *err)
{
	for (size_t i = 0; i < CV_LEN(aliases); i++)
		if (strcmp(name, aliases[i][0]) == 0)
			name = aliases[i][1];
	for (size_t i = 0; i < CV_LEN(built); i++)
		if (strcmp(name, built[i]->info.name) == 0) {
			*ret = built[i];
			return 0;
		}
	for (size_t i = 0; i < CV_LEN(rows); i++)
		if (!rows[i].available && names(name, rows[i].name)) {
			cv_fail(err, COVE_E_NOT_SUPPORTED,
				"the environment '%.100s' can't be provided: %s", name,
				rows[i].detail);
			cv_err_hint(err, "use sandbox, workspace or here");
			return COVE_E_NOT_SUPPORTED;
		}
	return unknown(name, err);
}

static int check_options(const struct cv_provider *p, const char *const *options,
			 struct cove_error *err)
{
	for (; options && *options; options++) {
		bool known = false;

		for (const char *const *key = p->option_keys; key && *key; key++)
			known |= strncmp(*options, *key, strlen(*key)) == 0;
		if (!known)
			return cv_fail_arg(
				err, "options",
				"give KEY=VALUE with a key of the provider (see docs/cli.md)",
				"has '%.100s', which %s does not take", *options, p->info.name);
	}
	return 0;
}

int cv_provider_keep_list(struct cove_env *env, const char *const *list, const char *const **ret,
			  struct cove_error *err)
{
	size_t n = 0;
	const char **copy;

	while (list && list[n])
		n++;
	copy = cv_arena_array(env->arena, n + 1, sizeof(*copy));
	if (!copy)
		return cv_fail(err, COVE_E_INTERNAL, "out of memory");
	for (size_t i = 0; i < n; i++) {
		int rc = cv_env_keep(env, list[i], &copy[i], err);

		if (rc < 0)
			return rc;
	}
	*ret = copy;
	return 0;
}

static int check_common(const struct cove_env_opts *opts, struct cove_error *err)
{
	if (opts->timeout_ms < 0 || opts->timeout_ms > INT32_MAX)
		return cv_fail_arg(err, "timeout_ms", NULL, "is %lld; it must be 1..2147483647 ms",
				   (long long)opts->timeout_ms);
	if (opts->retain & ~(COVE_RETAIN_NEVER * 2 - 1))
		return cv_fail_arg(err, "retain", "bits of enum cove_retain", "has unknown bits");
	if (opts->shell && opts->shell[0] != '/')
		return cv_fail_arg(err, "shell", "give an absolute path", "is not absolute");
	for (const char *const *v = opts->env; v && *v; v++)
		if (**v == '=' || !strchr(*v, '='))
			return cv_fail_arg(err, "env", "entries are NAME=VALUE",
					   "has an entry without a name");
	for (const char *const *r = opts->roots; r && *r; r++)
		if (**r != '/')
			return cv_fail_arg(err, "roots", "give absolute paths",
					   "has '%.200s', which is not absolute", *r);
	return 0;
}

static int configure(struct cove_env *env, const struct cove_env_opts *opts, struct cove_error *err)
{
	int rc = check_common(opts, err);

	if (rc == 0)
		rc = check_options(env->provider, opts->options, err);
	if (rc == 0)
		rc = cv_provider_keep_list(env, opts->options, &env->options, err);
	if (rc == 0)
		rc = cv_provider_keep_list(env, opts->env, &env->vars, err);
	if (rc == 0)
		rc = cv_env_keep(env, opts->shell ? opts->shell : cv_env_option(env, "shell="),
				 &env->shell, err);
	env->timeout_ms = opts->timeout_ms;
	env->retain = opts->retain ? opts->retain : COVE_RETAIN_FAILURE | COVE_RETAIN_ABORTED;
	return rc == 0 ? env->provider->configure(env, opts, err) : rc;
}

int cove_env_open(const struct cove_env_opts *opts, struct cove_env **ret_env,
		  struct cove_error *err)
{
	static const struct cove_env_opts defaults = {.size = sizeof(defaults)};
	const struct cv_provider *provider = NULL;
	CV_FREE void *copy = NULL;
	const void *fitted = &defaults;
	struct cove_env *env;
	int rc = opts ? cv_opts_fit(opts, sizeof(*opts), &fitted, &copy, err) : 0;

	opts = fitted;
	if (rc == 0)
		rc = find(opts->provider ? opts->provider : "sandbox", &provider, err);
	if (rc < 0)
		return rc;
	env = cv_env_new(provider);
	if (!env)
		return cv_fail(err, COVE_E_INTERNAL, "out of memory");
	rc = configure(env, opts, err);
	if (rc < 0) {
		cv_env_free(env);
		return rc;
	}
	*ret_env = env;
	return 0;
}
