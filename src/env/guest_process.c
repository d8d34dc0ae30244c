/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the guest on this machine, listens to its last words, and sees to its end. */
#include "base/fd.h"
#include "base/secret.h"
#include "base/utf8.h"
#include "env/env.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifndef COVE_LIBEXECDIR
#define COVE_LIBEXECDIR "/usr/local/libexec/cove"
#endif

static bool executable(const char *path)
{
	return access(path, X_OK) == 0;
}

static bool beside(const char *file, cv_path dst)
{
	const char *slash = strrchr(file, '/');

	return slash &&
	       (size_t)snprintf(dst, sizeof(cv_path), "%.*s/cove-guest", (int)(slash - file),
				file) < sizeof(cv_path) &&
	       executable(dst);
}

/* $COVE_GUEST, else beside the program, else beside the library, else where it was installed. */
static int find_guest(cv_path dst, struct cove_error *err)
{
	const char *given = getenv("COVE_GUEST");
	cv_path self;
	Dl_info info;
	ssize_t n;

	if (given && given[0]) {
		snprintf(dst, sizeof(cv_path), "%s", given);
		return 0;
	}
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[CV_MAX(n, 0)] = '\0';
	if (n > 0 && beside(self, dst))
		return 0;
	if (dladdr((void *)(uintptr_t)find_guest, &info) && info.dli_fname &&
	    beside(info.dli_fname, dst))
		return 0;
	snprintf(dst, sizeof(cv_path), "%s/cove-guest", COVE_LIBEXECDIR);
	if (executable(dst))
		return 0;
	cv_fail(err, COVE_E_SPAWN_FAILED, "the program 'cove-guest' was not found");
	cv_err_hint(err, "keep it beside cove or in %s, or name it in COVE_GUEST", COVE_LIBEXECDIR);
	return COVE_E_SPAWN_FAILED;
}

/* The guest's environment is readable by what runs beside it, so secrets never get there. */
static char **clean_environ(void)
{
	size_t n = 0;
	size_t kept = 0;
	char **list;

	while (environ && environ[n])
		n++;
	list = calloc(n + 1, sizeof(*list));
	if (!list)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (!cv_secret_name(environ[i], strcspn(environ[i], "=")))
			list[kept++] = environ[i];
	return list;
}

static int spawn(const char *path, int sock, int err_fd, char **envp, pid_t *ret)
{
	char *argv[] = {(char *)"cove-guest", NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t set;
	int rc;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	rc = posix_spawn_file_actions_adddup2(&actions, sock, STDIN_FILENO);
	rc = rc ? rc : posix_spawn_file_actions_adddup2(&actions, sock, STDOUT_FILENO);
	rc = rc ? rc : posix_spawn_file_actions_adddup2(&actions, err_fd, STDERR_FILENO);
	sigemptyset(&set);
	posix_spawnattr_setsigmask(&attr, &set);
	sigfillset(&set);
	posix_spawnattr_setsigdefault(&attr, &set);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
						POSIX_SPAWN_SETSIGDEF);
	rc = rc ? rc : posix_spawn(ret, path, &actions, &attr, argv, envp);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return -rc;
}

static int spawn_plain(const char *path, int sock, int err_fd, pid_t *ret, struct cove_error *err)
{
	CV_FREE char **envp = clean_environ();
	int rc = envp ? spawn(path, sock, err_fd, envp, ret) : -ENOMEM;

	if (rc == 0)
		return 0;
	cv_fail_errno(err, -rc, path, "can't start the guest '%s'", path);
	if (err)
		err->code = COVE_E_SPAWN_FAILED;
	return COVE_E_SPAWN_FAILED;
}

/* dup2 onto itself would leave a descriptor close-on-exec, so ours must not be standard ones. */
static int above_standard(int fd)
{
	int high;

	if (fd > STDERR_FILENO)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(fd);
	return high;
}

static void explain(void *user, struct cove_error *err)
{
	struct cove_env *env = user;
	struct pollfd p = {.fd = env->life_fd, .events = POLLIN};
	size_t len = strlen(err->message);

	/* What it had to say was written before its end of the connection closed. */
	poll(&p, 1, 50);
	cv_guest_gone(env);
	if (env->last_words_len > 0) {
		env->last_words[CV_MIN(env->last_words_len, sizeof(env->last_words) - 1)] = '\0';
		env->last_words[strcspn(env->last_words, "\n")] = '\0';
		snprintf(err->message + len, sizeof(err->message) - len, "; its last words: %s",
			 env->last_words);
	}
	cv_redact(err->message);
}

static int connect_guest(struct cove_env *env, int sock, struct cove_error *err)
{
	env->client.timeout_ms = env->timeout_ms;
	env->client.explain = explain;
	env->client.explain_user = env;
	cv_set_nonblock(sock, true);
	if (cv_client_connect(&env->client, sock, sock) < 0)
		return cv_fail(err, COVE_E_PROTOCOL_ERROR,
			       "no guest answers there: it ended at once");
	return 0;
}

int cv_guest_spawn(struct cove_env *env, struct cove_error *err)
{
	int sock[2] = {-1, -1};
	int words[2] = {-1, -1};
	cv_path path;
	int rc = find_guest(path, err);

	if (rc < 0)
		return rc;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sock) < 0 ||
	    pipe2(words, O_CLOEXEC | O_NONBLOCK) < 0) {
		rc = cv_fail_errno(err, errno, NULL, "can't make the connection to a guest");
	} else {
		sock[1] = above_standard(sock[1]);
		words[1] = above_standard(words[1]);
		rc = env->provider->spawn ?
			     env->provider->spawn(env, path, sock[1], words[1], &env->pid, err) :
			     spawn_plain(path, sock[1], words[1], &env->pid, err);
	}
	cv_close(&sock[1]);
	cv_close(&words[1]);
	if (rc < 0) {
		cv_close(&sock[0]);
		cv_close(&words[0]);
		return rc;
	}
	env->pidfd = (int)syscall(SYS_pidfd_open, env->pid, 0);
	env->life_fd = words[0];
	return connect_guest(env, sock[0], err);
}

/* Keeps the first of what is said: the cause comes before the consequences. */
bool cv_guest_gone(struct cove_env *env)
{
	char buf[1024];

	for (;;) {
		ssize_t n = env->life_fd < 0 ? 0 : read(env->life_fd, buf, sizeof(buf));
		size_t room = sizeof(env->last_words) - 1 - env->last_words_len;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0;
		memcpy(env->last_words + env->last_words_len, buf, CV_MIN((size_t)n, room));
		env->last_words_len += CV_MIN((size_t)n, room);
	}
}

void cv_guest_kill(struct cove_env *env)
{
	if (env->pidfd >= 0)
		syscall(SYS_pidfd_send_signal, env->pidfd, SIGKILL, NULL, 0);
}

/* A host that reaps every child itself may have been faster: then there is nothing to wait for. */
void cv_guest_reap(struct cove_env *env)
{
	siginfo_t info;

	if (env->pidfd >= 0)
		while (waitid(P_PIDFD, (id_t)env->pidfd, &info, WEXITED) < 0 && errno == EINTR)
			;
	cv_close(&env->pidfd);
	cv_close(&env->life_fd);
	env->pid = 0;
}
