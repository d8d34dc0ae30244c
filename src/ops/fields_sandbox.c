/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of the sandbox: the caller's policy, and the plan that the guest builds from it. */
#include "base/path.h"
#include "ops/fields.h"
#include "ops/table.h"

#include <cove/sandbox.h>

#define UID_MAX 65533
#define MOUNTS_MAX 100 /* CV_SANDBOX_MOUNTS */

#define S struct cove_sandbox_mount
static const struct cv_field mount_rows[] = {
	F(CV_STR, source, "source", "path on the host; left out: a tmpfs", .max = CV_PATH_MAX,
	  .flags = CV_IS_PATH),
	F(CV_STR, target, "target", "path inside", .flags = CV_REQUIRED, .max = CV_PATH_MAX),
	F(CV_BOOL, rw, "rw", "may be written"),
	F(CV_INT, tmpfs_bytes, "tmpfs_bytes", "size of a tmpfs", .unit = "bytes", .def = 64 << 20,
	  .min = 4096, .max = INT64_C(1) << 46),
};
static const struct cv_struct mount_struct = {"mount", sizeof(S), mount_rows, CV_LEN(mount_rows)};
#undef S

#define S struct cove_sandbox_limits
static const struct cv_field limit_rows[] = {
	F(CV_INT, memory_bytes, "memory_bytes", "memory of all together", .unit = "bytes",
	  .min = 16 << 20, .max = INT64_C(1) << 46),
	F(CV_INT, processes, "processes", "processes and threads", .min = 8, .max = 4194304),
	F(CV_INT, disk_bytes, "disk_bytes", "scratch and overlay", .unit = "bytes", .min = 1 << 20,
	  .max = INT64_C(1) << 46),
	F(CV_INT, cpu_millis, "cpu_millis", "thousandths of a processor", .min = 1, .max = 1000000),
};
static const struct cv_struct limits_struct = {"limits", sizeof(S), limit_rows, CV_LEN(limit_rows)};
#undef S

static const char *const networks[] = {"none", "host", NULL};

#define S struct cove_sandbox_policy
static const struct cv_field policy_rows[] = {
	F(CV_OBJV, mounts, "mounts", "what is seen besides", .sub = &mount_struct,
	  .max = MOUNTS_MAX, OFFSET2(mount_count)),
	F(CV_STRV, masked, "masked", "paths inside that show empty", .max = MOUNTS_MAX),
	F(CV_STRV, env, "env", "names of the host's variables that come in", .max = 1000),
	F(CV_ENUM, network, "network", "what of a network there is", .names = networks,
	  .def = COVE_NETWORK_NONE),
	F(CV_OBJ, limits, "limits", "of everything inside together", .sub = &limits_struct),
	F(CV_INT, uid, "uid", "user and group inside", .def = 1000, .min = 1, .max = UID_MAX),
	F(CV_STR, hostname, "hostname", "host name inside", .max = 63),
	F(CV_STR, rootfs, "rootfs", "directory with an unpacked image", .max = CV_PATH_MAX),
};
CV_DESCRIBE(sandbox_policy, "policy", S, policy_rows);
#undef S

#define S struct cv_sandbox_plan
static const struct cv_field plan_rows[] = {
	F(CV_STR, rootfs, "rootfs", "an unpacked image", .max = CV_PATH_MAX),
	F(CV_STR, lower, "lower", "the seed", .max = CV_PATH_MAX),
	F(CV_STR, upper, "upper", "what an overlay writes", .max = CV_PATH_MAX),
	F(CV_STR, work, "work", "its scratch", .max = CV_PATH_MAX),
	F(CV_STR, workspace, "workspace", "bound at /workspace", .max = CV_PATH_MAX),
	F(CV_STR, hostname, "hostname", "host name", .max = 63),
	F(CV_OBJV, mounts, "mounts", "the policy's", .sub = &mount_struct, .max = MOUNTS_MAX,
	  OFFSET2(mount_count)),
	F(CV_STRV, masked, "masked", "the policy's", .max = MOUNTS_MAX),
	F(CV_BOOL, copy_seed, "copy_seed", "no overlay"),
	F(CV_BOOL, read_only, "read_only", "/workspace may not be written"),
	F(CV_BOOL, keeping, "keeping", "only copies, whatever the modes"),
	F(CV_BOOL, host_network, "host_network", "the host's network"),
	F(CV_BOOL, host_root, "host_root", "outside it is root"),
	F(CV_INT, uid, "uid", "user inside", .def = 1000, .min = 1, .max = UID_MAX),
	F(CV_INT, scratch_bytes, "scratch_bytes", "size of the scratch", .def = INT64_C(4) << 30,
	  .min = 1 << 20, .max = INT64_C(1) << 46),
	F(CV_INT, processes, "processes", "limit of processes", .max = 4194304),
	F(CV_STR, oom, "oom", "counts kills for want of memory", .max = CV_PATH_MAX),
};
const struct cv_struct cv_struct_sandbox_plan = {"plan", sizeof(S), plan_rows, CV_LEN(plan_rows)};
#undef S
