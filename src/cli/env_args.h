/* SPDX-License-Identifier: Apache-2.0 */
/* The options that choose an environment, shared by the verbs that use one. */
#ifndef CV_CLI_ENV_ARGS_H
#define CV_CLI_ENV_ARGS_H

#include "base/path.h"
#include "cli/opts.h"

#include <cove/env.h>

/* First in the arguments of such a verb. */
struct env_args {
	const char *env;
	const char *seed;
	const char *bind;
	const char **options;
	int retain;
};

/* All of them, and those of a verb that has no --bind. */
extern const struct opt env_options[];
extern const struct opt env_options_without_bind[];

/* cove_env_opts with the strings it points to. */
struct env_setup {
	struct cove_env_opts opts;
	cv_path seed;
	cv_path dir;
};

/*
 * default_retain is for an environment with a workspace; 0: the environment's own default.
 * seed_here: a sandbox starts from the current directory when nothing else is named.
 */
int env_args_resolve(const struct env_args *args, int default_retain, bool seed_here,
		     struct env_setup *ret, struct cove_error *err);

/* Ends an environment; says what is left behind, and where a workspace was asked to be kept. */
void env_args_close(const struct env_args *args, struct cove_env *env, int outcome);

#endif
