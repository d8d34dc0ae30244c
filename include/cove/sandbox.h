/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy of the environment `sandbox`: what a command inside sees and may use.
 *
 * Without one a command gets the system directories to read, /workspace, a home and scratch space
 * of its own, no network but its own loopback, and none of the host's variables. A policy opens or
 * closes more, field by field; what it does not name stays as it is.
 *
 * Example:
 *
 *	#include <cove/cove.h>
 *
 *	int main(void)
 *	{
 *		struct cove_sandbox_mount data = {.source = "/usr/share", .target = "/data"};
 *		struct cove_sandbox_policy policy = {
 *			.size = sizeof(policy), .mounts = &data, .mount_count = 1};
 *		struct cove_env *env = NULL;
 *		if (cove_env_open(COVE_OPTS(cove_env_opts, .provider = "sandbox", .policy = &policy),
 *				  &env, NULL) < 0)
 *			return 1;
 *		return cove_env_close(env, COVE_OUTCOME_SUCCESS, NULL) < 0;
 *	}
 */
#ifndef COVE_SANDBOX_H
#define COVE_SANDBOX_H

#include <cove/base.h>

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What of a network a command has. */
enum cove_network {
	COVE_NETWORK_NONE = 1, /* a loopback of its own, nothing else (default) */
	COVE_NETWORK_HOST,     /* the host's, all of it */
};

/* Something more that is seen inside. Later ones may lie in earlier ones; two in one place not. */
struct cove_sandbox_mount {
	/* absolute path on the host, no link; NULL: a tmpfs */
	const char *source;
	/* absolute path inside; not /, /proc, /dev, /workspace or below these */
	const char *target;
	/* may be written; default read-only; a tmpfs always may */
	bool rw;
	/* size of a tmpfs, bytes; default 64 MiB */
	int64_t tmpfs_bytes;
};

/*
 * Limits of everything inside together; 0: none. One that this machine can't truly enforce is
 * refused with `not_supported` before anything starts.
 */
struct cove_sandbox_limits {
	/* memory, with what lies on a tmpfs, bytes; needs a control group that the caller may write */
	int64_t memory_bytes;
	/* processes and threads, cove's few included, at least 8 */
	int64_t processes;
	/* scratch and what an overlay takes up, bytes, at least 1 MiB; default 4 GiB */
	int64_t disk_bytes;
	/* processor time of all together, thousandths of a processor; needs a control group */
	int64_t cpu_millis;
};

/* The policy; zero is the default of every field. */
struct cove_sandbox_policy {
	/* set by COVE_OPTS */
	size_t size;
	/* what is seen besides */
	const struct cove_sandbox_mount *mounts;
	/* how many */
	size_t mount_count;
	/* absolute paths inside that show empty, NULL at the end */
	const char *const *masked;
	/* names of the host's variables that come in, NULL at the end; default none */
	const char *const *env;
	/* enum cove_network */
	int network;
	/* limits */
	struct cove_sandbox_limits limits;
	/* user and group id inside, 1..65533; default 1000 */
	int64_t uid;
	/* host name inside, 1..63 letters, digits and hyphens; default "cove" */
	const char *hostname;
	/* absolute path of a directory with an unpacked image; default the host's system directories */
	const char *rootfs;
};

#ifdef __cplusplus
}
#endif

#endif
