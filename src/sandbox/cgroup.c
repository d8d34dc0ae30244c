/* SPDX-License-Identifier: Apache-2.0 */
/* Makes, limits and removes control groups of either version. */
#include "sandbox/cgroup.h"

#include "base/fd.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#define CGROUP2_MAGIC 0x63677270

/* After the last process has ended its group may still seem used for so long. */
#define REMOVE_TRIES 200

#define PREFIX "cove-"
#define ABANDONED_S 60

struct controller {
	const char *name;
	const char *field; /* of the limit, for errors */
	int64_t value;
	const char *v2_file;
	const char *v1_file;
	bool is_cpu; /* written as quota and period */
};

static const char *const v2_roots[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};

bool cv_cgroup_needed(const struct cove_sandbox_limits *l)
{
	return l->memory_bytes || l->cpu_millis || (l->processes && geteuid() == 0);
}

static int put(int dirfd, const char *file, const char *text)
{
	CV_CLOSE int fd = openat(dirfd, file, O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

/* This process's group: in the line of the controller, or in version 2's, which names none. */
static int own_group(const char *controller, cv_path ret)
{
	CV_FREE char *text = NULL;
	size_t len;
	size_t want = strlen(controller);
	int rc = cv_read_file(AT_FDCWD, "/proc/self/cgroup", 1 << 16, &text, &len);

	/* Lines are NUMBER:NAME,NAME:PATH. */
	for (char *line = text; rc == 0 && *line;
	     line += strcspn(line, "\n"), line += *line == '\n') {
		char *name = line + strcspn(line, ":\n");
		size_t n;

		for (; *name == ':' || *name == ','; name += n) {
			n = strcspn(++name, ",:\n");
			if (n == want && strncmp(name, controller, n) == 0) {
				char *path = name + strcspn(name, ":\n") + 1;

				path[strcspn(path, "\n")] = '\0';
				cv_text_copy(ret, sizeof(cv_path), strcmp(path, "/") ? path : "");
				return 0;
			}
			if (name[n] == ':')
				break;
		}
	}
	return rc < 0 ? rc : -ENOENT;
}

/*
 * Removes the groups of hosts that were killed: those of ours that are older than a minute and have
 * no process any more. A living host misses none: nothing joins its group later.
 */
static void sweep(const char *parent)
{
	DIR *dir = opendir(parent);
	int64_t old = time(NULL) - ABANDONED_S;

	for (struct dirent *e; dir && (e = readdir(dir));) {
		struct stat st;

		if (strncmp(e->d_name, PREFIX, strlen(PREFIX)) == 0 &&
		    fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    st.st_mtim.tv_sec < old)
			unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR);
	}
	if (dir)
		closedir(dir);
}

/* Opens a new group below parent; -errno. */
static int make_in(struct cv_cgroup *g, const char *parent, const char *id, int *ret_dir)
{
	char *path = g->dirs[g->count];

	sweep(parent);
	if ((size_t)snprintf(path, sizeof(cv_path), "%s/" PREFIX "%s", parent, id) >=
	    sizeof(cv_path))
		return -ENAMETOOLONG;
	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return -errno;
	*ret_dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return *ret_dir < 0 ? -errno : 0;
}

static void limit_text(const struct controller *c, bool v2, char text[64])
{
	if (c->is_cpu && v2)
		snprintf(text, 64, "%lld 100000", (long long)c->value * 100);
	else
		snprintf(text, 64, "%lld", (long long)(c->is_cpu ? c->value * 100 : c->value));
}

/* Limits the group and opens what the guest joins by; the group is listed even when this fails. */
static int arm(struct cv_cgroup *g, int dir, const struct controller *c, bool v2)
{
	char text[64];
	int rc;
	int procs;

	limit_text(c, v2, text);
	rc = put(dir, v2 ? c->v2_file : c->v1_file, text);
	if (rc < 0)
		return rc;
	/* Swap would let it have more than it was given; where there is none there is no such file. */
	if (v2 && strcmp(c->name, "memory") == 0)
		put(dir, "memory.swap.max", "0");
	procs = openat(dir, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	if (procs < 0)
		return -errno;
	if (strcmp(c->name, "memory") == 0)
		snprintf(g->oom, sizeof(g->oom), "%s/%s", g->dirs[g->count],
			 v2 ? "memory.events" : "memory.oom_control");
	g->procs[g->count++] = procs;
	g->procs[g->count] = -1;
	return 0;
}

static int try_one(struct cv_cgroup *g, const char *parent, const char *id,
		   const struct controller *c, bool v2)
{
	CV_CLOSE int dir = -1;
	int rc = make_in(g, parent, id, &dir);

	if (rc == 0)
		rc = arm(g, dir, c, v2);
	if (rc < 0 && dir >= 0)
		rmdir(g->dirs[g->count]);
	return rc;
}

static int try_v2(struct cv_cgroup *g, const char *id, const struct controller *c)
{
	cv_path own;
	cv_path parent;
	char enable[32];
	int rc = own_group("", own);

	for (size_t i = 0; rc == 0 && i < CV_LEN(v2_roots); i++) {
		struct statfs fs;
		CV_CLOSE int dir = -1;

		if (statfs(v2_roots[i], &fs) < 0 || fs.f_type != CGROUP2_MAGIC)
			continue;
		if ((size_t)snprintf(parent, sizeof(parent), "%s%s", v2_roots[i], own) >=
		    sizeof(parent))
			return -ENAMETOOLONG;
		dir = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		snprintf(enable, sizeof(enable), "+%s", c->name);
		put(dir, "cgroup.subtree_control", enable);
		return try_one(g, parent, id, c, true);
	}
	return rc < 0 ? rc : -ENOENT;
}

static int try_v1(struct cv_cgroup *g, const char *id, const struct controller *c)
{
	cv_path own;
	cv_path parent;
	int rc = own_group(c->name, own);

	if (rc < 0)
		return rc;
	if ((size_t)snprintf(parent, sizeof(parent), "/sys/fs/cgroup/%s%s", c->name, own) >=
	    sizeof(parent))
		return -ENAMETOOLONG;
	return try_one(g, parent, id, c, false);
}

static int unenforceable(const struct controller *c, int errnum, struct cove_error *err)
{
	cv_fail_arg(err, c->field,
		    c->value && strcmp(c->name, "pids") == 0 ?
			    "run as an ordinary user, or where control groups may be made" :
			    "run where control groups may be made: as root, or in a delegated one "
			    "(systemd-run --user --scope -p Delegate=yes)",
		    "can't be enforced here: no control group with '%s' can be made (%s)", c->name,
		    strerror(errnum));
	if (err)
		err->code = COVE_E_NOT_SUPPORTED;
	return COVE_E_NOT_SUPPORTED;
}

int cv_cgroup_make(const struct cove_sandbox_limits *l, const char *id, struct cv_cgroup *g,
		   struct cove_error *err)
{
	const struct controller controllers[CV_CGROUPS] = {
		{.name = "memory",
		 .field = "policy.limits.memory_bytes",
		 .value = l->memory_bytes,
		 .v2_file = "memory.max",
		 .v1_file = "memory.limit_in_bytes"},
		{.name = "pids",
		 .field = "policy.limits.processes",
		 .value = geteuid() == 0 ? l->processes : 0,
		 .v2_file = "pids.max",
		 .v1_file = "pids.max"},
		{.name = "cpu",
		 .field = "policy.limits.cpu_millis",
		 .value = l->cpu_millis,
		 .v2_file = "cpu.max",
		 .v1_file = "cpu.cfs_quota_us",
		 .is_cpu = true},
	};

	memset(g, 0, sizeof(*g));
	g->procs[0] = -1;
	for (size_t i = 0; i < CV_CGROUPS; i++) {
		int rc = controllers[i].value ? try_v2(g, id, &controllers[i]) : 0;

		if (rc < 0)
			rc = try_v1(g, id, &controllers[i]);
		if (rc < 0) {
			cv_cgroup_joined(g);
			cv_cgroup_remove(g);
			return unenforceable(&controllers[i], -rc, err);
		}
	}
	return 0;
}

void cv_cgroup_joined(struct cv_cgroup *g)
{
	for (int i = 0; i < g->count; i++)
		cv_close(&g->procs[i]);
}

int cv_cgroup_remove(struct cv_cgroup *g)
{
	int rc = 0;

	for (int i = 0; i < g->count; i++) {
		int tries = 0;

		while (rmdir(g->dirs[i]) < 0 && errno != ENOENT) {
			if (errno != EBUSY || tries++ == REMOVE_TRIES) {
				rc = -errno;
				break;
			}
			poll(NULL, 0, 1);
		}
	}
	g->count = 0;
	return rc;
}
