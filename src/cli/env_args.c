/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing an environment on the command line: --env, else COVE_ENV, else the default (PROV-1). */
#include "cli/env_args.h"

#include "cli/report.h"

static const char *const retain_names[] = {"success", "failure", "aborted",
					   "always",  "never",	 NULL};

#define ENV_OPTION(member) .offset = offsetof(struct env_args, member)
#define COMMON_ROWS                                                                                \
	{"env",                                                                                    \
	 0,                                                                                        \
	 OPT_TEXT,                                                                                 \
	 "E",                                                                                      \
	 "environment: sandbox, workspace or here (default: $COVE_ENV, else sandbox)",             \
	 ENV_OPTION(env)},                                                                         \
		{"seed",                                                                           \
		 0,                                                                                \
		 OPT_TEXT,                                                                         \
		 "DIR",                                                                            \
		 "the workspace starts as DIR, which is never changed",                            \
		 ENV_OPTION(seed)},                                                                \
		{"retain",                                                                         \
		 0,                                                                                \
		 OPT_BITS,                                                                         \
		 "LIST",                                                                           \
		 "keep the workspace after: success,failure,aborted,always,never",                 \
		 .names = retain_names,                                                            \
		 ENV_OPTION(retain)},                                                              \
	{                                                                                          \
		"option", 'o', OPT_LIST, "KEY=VALUE",                                              \
			"an option of the environment, such as root=DIR", ENV_OPTION(options)      \
	}

const struct opt env_options_without_bind[] = {COMMON_ROWS, {NULL}};
const struct opt env_options[] = {
	COMMON_ROWS,
	{"bind", 0, OPT_TEXT, "DIR", "work in DIR itself: what changes there stays",
	 ENV_OPTION(bind)},
	{NULL},
};

/* Other names are resolved here, because what --bind and --retain mean depends on the provider. */
static const char *provider_of(const struct env_args *args)
{
	static const char *const aliases[][2] = {{"current-directory", "here"},
						 {"filesystem", "workspace"}};
	const char *from_env = getenv("COVE_ENV");
	const char *name = args->env;

	if (!name)
		name = from_env && *from_env ? from_env : "sandbox";
	for (size_t i = 0; i < CV_LEN(aliases); i++)
		if (strcmp(name, aliases[i][0]) == 0)
			return aliases[i][1];
	return name;
}

static int make_absolute(const char *path, const char *field, cv_path dst, struct cove_error *err)
{
	/* A path that is absolute needs no directory to start from. */
	CV_FREE char *cwd = path[0] == '/' ? strdup("/") : getcwd(NULL, 0);
	const char *home = getenv("HOME");
	int rc;

	if (!cwd)
		return cv_fail_errno(err, errno, NULL, "can't tell the current directory");
	rc = cv_path_expand(path, cwd, home ? home : "/", field, dst, err);
	if (rc >= 0)
		cv_path_normalise(dst);
	return rc;
}

/* Nobody means all of these by leaving --seed out. */
static bool too_much(const char *dir)
{
	const char *home = getenv("HOME");

	return strcmp(dir, "/") == 0 || (home && cv_path_below(home, dir));
}

/* In a sandbox the current directory is what one works on; it is never changed. */
static int seed_from_here(struct env_setup *ret, struct cove_error *err)
{
	int rc = make_absolute(".", "seed", ret->seed, err);

	if (rc < 0)
		return rc;
	if (too_much(ret->seed))
		return cv_fail_arg(err, "seed", "name it with --seed or --bind, or go to a project",
				   "would be the current directory, '%s', which holds your home",
				   ret->seed);
	ret->opts.seed = ret->seed;
	return 0;
}

int env_args_resolve(const struct env_args *args, int default_retain, bool seed_here,
		     struct env_setup *ret, struct cove_error *err)
{
	const char *provider = provider_of(args);
	bool here = strcmp(provider, "here") == 0;
	bool sandbox = strcmp(provider, "sandbox") == 0;
	int rc;

	ret->opts = (struct cove_env_opts){
		.size = sizeof(ret->opts),
		.provider = provider,
		.retain = args->retain || here ? args->retain : default_retain,
		.options = (const char *const *)args->options,
	};
	if (args->seed) {
		if ((rc = make_absolute(args->seed, "seed", ret->seed, err)) < 0)
			return rc;
		ret->opts.seed = ret->seed;
	}
	if (sandbox && seed_here && !args->seed && !args->bind)
		return seed_from_here(ret, err);
	if (!args->bind)
		return 0;
	if (!here && !sandbox)
		return cv_fail_arg(err, "bind", "use --env sandbox, or --seed",
				   "does not go with --env %s", provider);
	if ((rc = make_absolute(args->bind, "bind", ret->dir, err)) < 0)
		return rc;
	ret->opts.dir = ret->dir;
	return 0;
}

void env_args_close(const struct env_args *args, struct cove_env *env, int outcome)
{
	struct cove_error err = COVE_ERROR_INIT;
	const char *workspace = env && args->retain ? cove_env_workspace(env) : NULL;
	CV_FREE char *kept = workspace ? strdup(workspace) : NULL;

	if (cove_env_close(env, outcome, &err) < 0) {
		report_error(&err);
		return;
	}
	if (kept && access(kept, F_OK) == 0)
		report("the workspace is kept in %s", kept);
}
