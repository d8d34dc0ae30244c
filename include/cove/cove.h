/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcove: environments for agents. This header includes all the others.
 *
 * An environment is a place with files, commands, processes and their output. It is reached through
 * a small guest program that runs inside it; every operation is carried out there. A struct
 * cove_env may be used by any number of threads at once; the library starts no thread of its own,
 * installs no signal handler and changes no state of the process.
 *
 * Example:
 *
 *	#include <cove/cove.h>
 *	#include <stdio.h>
 *
 *	int main(void)
 *	{
 *		struct cove_error err = COVE_ERROR_INIT;
 *		struct cove_env *env = NULL;
 *		struct cove_exec_result *r = NULL;
 *		int rc = cove_env_open(COVE_OPTS(cove_env_opts, .provider = "here"), &env, &err);
 *		if (rc >= 0)
 *			rc = cove_exec(env, COVE_OPTS(cove_exec_opts, .script = "echo hello", .timeout_ms = 60000),
 *				       &r, &err);
 *		if (rc < 0)
 *			fprintf(stderr, "%s\n", err.message);
 *		else
 *			printf("%s", r->out.text);
 *		cove_exec_result_free(r);
 *		cove_env_close(env, COVE_OUTCOME_SUCCESS, NULL);
 *		return rc < 0;
 *	}
 */
#ifndef COVE_COVE_H
#define COVE_COVE_H

#include <cove/base.h>
#include <cove/changes.h>
#include <cove/env.h>
#include <cove/error.h>
#include <cove/files.h>
#include <cove/job.h>
#include <cove/output.h>
#include <cove/port.h>
#include <cove/process.h>
#include <cove/sandbox.h>
#include <cove/streams.h>
#include <cove/watch.h>

#endif
