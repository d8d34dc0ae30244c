/* SPDX-License-Identifier: Apache-2.0 */
/* What the measurements share: environments, and programs started without one. */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const char *bench_built(const char *name)
{
	static char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 64);

	path[n > 0 ? n : 0] = '\0';
	/* Two up: programs of this folder are in bench/ of the build directory. */
	for (int i = 0; i < 2 && strrchr(path, '/'); i++)
		*strrchr(path, '/') = '\0';
	snprintf(path + strlen(path), 64, "/%s", name);
	return path;
}

struct cove_env *bench_env_here(void)
{
	struct cove_error err = COVE_ERROR_INIT;
	struct cove_env *env = NULL;

	setenv("COVE_GUEST", bench_built("cove-guest"), 0);
	if (cove_env_open(COVE_OPTS(cove_env_opts, .provider = "here"), &env, &err) >= 0 &&
	    cove_env_ready(env, NULL, &err) >= 0)
		return env;
	bench_failed("environment", err.message);
	cove_env_close(env, COVE_OUTCOME_ABORTED, NULL);
	return NULL;
}

void bench_env_close(struct cove_env *env)
{
	struct cove_error err = COVE_ERROR_INIT;

	if (cove_env_close(env, COVE_OUTCOME_SUCCESS, &err) < 0)
		bench_failed("close", err.message);
}

/* A line of a file of /proc that begins with `field`, the rest of it. */
static bool proc_line(int pid, const char *file, const char *field, char *value, size_t size)
{
	char line[512];
	bool found = false;
	FILE *f;

	snprintf(line, sizeof(line), "/proc/%d/%s", pid, file);
	f = fopen(line, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		found = strncmp(line, field, strlen(field)) == 0;
		if (found)
			snprintf(value, size, "%s", line + strlen(field));
	}
	if (f)
		fclose(f);
	return found;
}

int bench_guest(void)
{
	char file[64];
	char children[4096];
	char name[64];
	int guest = -1;

	snprintf(file, sizeof(file), "task/%d/children", getpid());
	if (!proc_line(getpid(), file, "", children, sizeof(children)))
		return -1;
	for (char *at = children; *at;) {
		int pid = (int)strtol(at, &at, 10);

		if (pid > 0 && proc_line(pid, "comm", "cove-guest", name, sizeof(name)))
			guest = pid;
		at += strspn(at, " \n");
	}
	return guest;
}

long bench_guest_kib(const char *field)
{
	char value[64];
	int pid = bench_guest();

	return pid > 0 && proc_line(pid, "status", field, value, sizeof(value)) ?
		       strtol(value, NULL, 10) :
		       -1;
}

pid_t bench_start(const char *const *argv, int out_fd, int err_fd)
{
	extern char **environ;
	posix_spawn_file_actions_t actions;
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid_t pid = -1;
	int rc;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, null_fd, 0);
	posix_spawn_file_actions_adddup2(&actions, out_fd < 0 ? null_fd : out_fd, 1);
	posix_spawn_file_actions_adddup2(&actions, err_fd < 0 ? null_fd : err_fd, 2);
	rc = posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(null_fd);
	return rc ? bench_failed(argv[0], strerror(rc)) : pid;
}

int bench_wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int bench_spawn(const char *const *argv, int out_fd, int err_fd)
{
	pid_t pid = bench_start(argv, out_fd, err_fd);

	return pid < 0 ? -1 : bench_wait(pid);
}

static int64_t read_both(struct pollfd p[2])
{
	static char buf[65536];
	int64_t total = 0;

	while (p[0].fd >= 0 || p[1].fd >= 0) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return -1;
		for (int i = 0; i < 2; i++) {
			ssize_t n = p[i].fd >= 0 && p[i].revents ? read(p[i].fd, buf, sizeof(buf)) :
								   -1;

			total += n > 0 ? n : 0;
			if (n != 0)
				continue;
			close(p[i].fd);
			p[i].fd = -1;
		}
	}
	return total;
}

int64_t bench_spawn_read(const char *const *argv)
{
	int out[2];
	int err[2];
	pid_t pid;
	int64_t total;

	if (pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
		return bench_failed("pipe", strerror(errno));
	pid = bench_start(argv, out[1], err[1]);
	close(out[1]);
	close(err[1]);
	total = read_both((struct pollfd[]){{.fd = out[0], .events = POLLIN},
					    {.fd = err[0], .events = POLLIN}});
	return pid < 0 || bench_wait(pid) != 0 ? -1 : total;
}
