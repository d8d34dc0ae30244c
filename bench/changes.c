/* SPDX-License-Identifier: Apache-2.0 */
/* What was changed, 50 files of 20,000, in an overlay; beside `git diff --no-index` of two trees. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

static const char make[] =
	"mkdir seed; cd seed; for d in $(seq 200); do mkdir d$d; for f in $(seq 100); do "
	"seq $f $((f + 40)) >d$d/f$f; done; done; cd ..; cp -a seed now; cd now;";
static const char change[] = "for d in $(seq 50); do sed -i '20s/$/!/' d$d/f$d; done";

static int sh(const char *script)
{
	return bench_spawn((const char *const[]){"bash", "-c", script, NULL}, -1, 2);
}

static int diff(void *user, int format)
{
	struct cove_env_diff_result *d = NULL;
	int rc = cove_env_diff(user, COVE_OPTS(cove_env_diff_opts, .format = format), &d, NULL);

	if (rc >= 0 && d->change_count != 50)
		rc = -1;
	cove_result_free(d);
	return rc;
}

static int patch_ours(void *user)
{
	return diff(user, COVE_DIFF_PATCH);
}

static int list_ours(void *user)
{
	return diff(user, COVE_DIFF_LIST);
}

/* It tells with 1 that there is a difference. */
static int git(const char *how)
{
	const char *const argv[] = {"sh", "-c", "git diff --no-index \"$0\" seed now; [ $? = 1 ]",
				    how, NULL};

	return bench_spawn_read(argv) > 0 ? 0 : -1;
}

static int patch_base(void *user)
{
	(void)user;
	return git("--binary");
}

static int list_base(void *user)
{
	(void)user;
	return git("--name-status");
}

static struct cove_env *prepare(void)
{
	struct cove_env *env = NULL;
	struct cove_error err = COVE_ERROR_INIT;
	char seed[4096];
	char script[1024];

	snprintf(script, sizeof(script), "%s%s", make, change);
	if (sh(script) != 0 || !realpath("seed", seed))
		return NULL;
	if (cove_env_open(COVE_OPTS(cove_env_opts, .provider = "sandbox", .seed = seed,
				    .retain = COVE_RETAIN_NEVER),
			  &env, &err) < 0 ||
	    cove_exec(env, COVE_OPTS(cove_exec_opts, .script = change), NULL, &err) < 0)
		bench_failed("changes", err.message);
	return env;
}

int main(void)
{
	struct cove_env *env = prepare();
	const struct bench_pair pairs[] = {
		{.name = "changes.patch",
		 .ours = {"cove_env_diff, 50 of 20,000 files", patch_ours},
		 .base = {"git diff --no-index --binary", patch_base}},
		{.name = "changes.list",
		 .ours = {"the list alone", list_ours},
		 .base = {"git diff --no-index --name-status", list_base}},
	};
	int rc = env ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct bench_pair pair = pairs[i];

		pair.user = env;
		pair.pairs = 30;
		pair.most = 100;
		rc = bench_pairs(&pair);
	}
	bench_env_close(env);
	return rc != 0;
}
