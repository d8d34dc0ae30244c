/* SPDX-License-Identifier: Apache-2.0 */
/* The providers that are built in, one file each. */
#ifndef CV_PROVIDERS_PROVIDERS_H
#define CV_PROVIDERS_PROVIDERS_H

#include "env/env.h"

extern const struct cv_provider cv_provider_here;
extern const struct cv_provider cv_provider_sandbox;
extern const struct cv_provider cv_provider_workspace;

/* Makes a path absolute by its letters, from the process's directory; field names it in errors. */
int cv_provider_absolute(struct cove_env *env, const char *path, const char *field,
			 const char **ret, struct cove_error *err);

/* Copies a list of strings into the environment. */
int cv_provider_keep_list(struct cove_env *env, const char *const *list, const char *const **ret,
			  struct cove_error *err);

/* What here and workspace share: home, the host's file namespace, no isolation. */
int cv_provider_on_host(struct cove_env *env, struct cove_error *err);

/* run_dir.c: the directory of one run; chooses env->root, job_id, run_id and workspace. No I/O. */
int cv_run_dir_choose(struct cove_env *env, const struct cove_env_opts *opts,
		      struct cove_error *err);
/* Before anything is made (JOB-14). */
int cv_run_dir_check_seed(const struct cove_env *env, struct cove_error *err);
/* The seed does not hold the root, which is where the run's directory will be. */
int cv_run_dir_check_outside(const struct cove_env *env, struct cove_error *err);
int cv_run_dir_make(struct cove_env *env, struct cove_error *err);
int cv_run_dir_remove_layers(const struct cove_env *env, struct cove_error *err);
int cv_run_dir_remove(const struct cove_env *env, struct cove_error *err);

/*
 * Removes the scratch directory of an environment, where the guest made one. with_parent: the
 * directory around it too, which then holds nothing else.
 */
int cv_provider_remove_tmp(const struct cove_env *env, bool with_parent, struct cove_error *err);

#endif
