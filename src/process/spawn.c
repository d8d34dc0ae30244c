/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a request to what a keeper needs: program, arguments, variables, working directory.
 *
 * Whatever can be refused is refused here, before anything is spawned: limits that can't be
 * enforced, a working directory that isn't one, a program that doesn't exist.
 */
#include "base/fd.h"
#include "base/secret.h"
#include "base/utf8.h"
#include "process/procs_internal.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* One argument or variable holds less than this (the kernel's MAX_ARG_STRLEN). */
#define ARG_MAX_BYTES (128u << 10)
#define STRINGS_MAX (4u << 20)
#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/*
 * Runs a script that is too long for an argument: the shell takes it from descriptor 9, closes
 * that, and evaluates it with no positional parameter left behind. The x keeps newlines at its end.
 */
#define LONG_SCRIPT "set -- \"$(/bin/cat <&9; echo x)\"; exec 9<&-; eval \"shift; ${1%x}\""

/* Where nobody answers, a pager or an editor must not ask; a variable that the caller sets wins. */
static const char *const unattended[] = {
	"PAGER=cat",	    "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0",
	"GIT_EDITOR=false", "EDITOR=false",  "VISUAL=false"};

static size_t name_len(const char *entry)
{
	return strcspn(entry, "=");
}

static bool same_name(const char *a, const char *b)
{
	size_t len = name_len(a);

	return name_len(b) == len && strncmp(a, b, len) == 0;
}

static bool listed(const char *const *list, const char *entry)
{
	for (; list && *list; list++)
		if (same_name(*list, entry))
			return true;
	return false;
}

static bool is_unattended(const char *entry)
{
	for (size_t i = 0; i < CV_LEN(unattended); i++)
		if (same_name(unattended[i], entry))
			return true;
	return false;
}

static bool inheritable(const char *entry, const char *const *extra)
{
	if (cv_secret_name(entry, name_len(entry)) || listed(extra, entry) || is_unattended(entry))
		return false;
	return !same_name(entry, "PWD") && !same_name(entry, "OLDPWD") &&
	       !same_name(entry, "SHLVL") && !same_name(entry, "_");
}

static int add_entry(char ***list, size_t *count, const char *entry)
{
	char **grown = reallocarray(*list, *count + 2, sizeof(char *));

	if (!grown)
		return -ENOMEM;
	*list = grown;
	grown[*count] = strdup(entry);
	grown[*count + 1] = NULL;
	return grown[(*count)++] ? 0 : -ENOMEM;
}

static const char *find_shell(const char *configured)
{
	static const char *const known[] = {"/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash",
					    "/bin/sh", "/usr/bin/sh"};

	if (configured)
		return configured;
	for (size_t i = 0; i < CV_LEN(known); i++)
		if (access(known[i], X_OK) == 0)
			return known[i];
	return NULL;
}

int cv_procs_configure(struct cv_procs *procs, const char *shell, const char *const *extra,
		       int64_t timeout_ms)
{
	size_t count = 0;
	bool has_lang = false;
	int rc = 0;

	procs->shell = find_shell(shell);
	procs->cwd_fd = open(procs->space->cwd, O_PATH | O_DIRECTORY | O_CLOEXEC);
	procs->timeout_ms = timeout_ms;
	for (char **e = environ; rc == 0 && *e; e++) {
		if (!inheritable(*e, extra))
			continue;
		has_lang |= same_name(*e, "LANG") || same_name(*e, "LC_ALL");
		rc = add_entry(&procs->env, &count, *e);
	}
	for (size_t i = 0; rc == 0 && i < CV_LEN(unattended); i++)
		if (!listed(extra, unattended[i]))
			rc = add_entry(&procs->env, &count, unattended[i]);
	if (rc == 0 && !has_lang && !listed(extra, "LANG=C.UTF-8"))
		rc = add_entry(&procs->env, &count, "LANG=C.UTF-8");
	for (; rc == 0 && extra && *extra; extra++)
		rc = add_entry(&procs->env, &count, *extra);
	return rc;
}

/* The kernel holds these for a process or a group of all, not for the tree of one command. */
static int refuse_limits(const struct cove_limits *l, struct cove_error *err)
{
	const char *field = l->memory_bytes ? "limits.memory_bytes" :
			    l->processes    ? "limits.processes" :
			    l->cpu_ms	    ? "limits.cpu_ms" :
					      NULL;

	if (!field)
		return 0;
	cv_fail_arg(err, field, "limit the whole environment by a sandbox's policy",
		    "can't be enforced for one command");
	if (err)
		err->code = COVE_E_NOT_SUPPORTED;
	return COVE_E_NOT_SUPPORTED;
}

static int bad_cwd(const char *cwd, int errnum, struct cove_error *err)
{
	int rc = cv_fail_errno(err, errnum, cwd, "can't run a command in cwd '%s'", cwd);

	if (err) {
		cv_text_copy(err->field, sizeof(err->field), "cwd");
		cv_text_copy(err->reason, sizeof(err->reason), strerror(errnum));
		if (errnum == ENOENT || errnum == ENOTDIR || errnum == EACCES)
			cv_text_copy(err->hint, sizeof(err->hint),
				     "name a directory that exists and may be entered");
	}
	return rc;
}

/* Opens the working directory; gives its real path for PWD. */
static int open_cwd(const struct cv_procs *procs, const char *cwd, cv_path real,
		    struct cove_error *err)
{
	cv_path abs;
	const char *shown = cwd ? cwd : procs->space->cwd;
	struct stat st;
	int rc = cv_path_expand(shown, procs->space->cwd, procs->space->home, "cwd", abs, err);
	int fd;

	/* The environment's own directory is open already; only one that was removed is not it. */
	if (!cwd && procs->cwd_fd >= 0 && fstat(procs->cwd_fd, &st) == 0 && st.st_nlink > 0) {
		memcpy(real, procs->space->cwd, strlen(procs->space->cwd) + 1);
		return procs->cwd_fd;
	}
	if (rc < 0)
		return rc;
	fd = open(abs, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return bad_cwd(shown, errno, err);
	if (faccessat(AT_FDCWD, abs, X_OK, AT_EACCESS) < 0 ||
	    cv_fd_path(fd, real, sizeof(cv_path)) < 0) {
		rc = bad_cwd(shown, errno, err);
		close(fd);
		return rc;
	}
	return fd;
}

static int too_large(struct cove_error *err, const char *field)
{
	return cv_fail_arg(
		err, field, "put long data into a file or stdin",
		"is too long: one argument or variable holds less than 128 KiB, all together less than 2 MiB");
}

static int add_string(struct cv_launch *l, const char *s, const char *field, struct cove_error *err)
{
	size_t len = strlen(s) + 1;
	int rc;

	if (len > ARG_MAX_BYTES)
		return too_large(err, field);
	rc = cv_buf_add(&l->strings, s, len);
	if (rc == -ENOMEM)
		return cv_fail(err, COVE_E_INTERNAL, "out of memory");
	return rc < 0 ? too_large(err, field) : 0;
}

/* Adds one variable unless a later list has the same name. */
static int add_variable(struct cv_launch *l, const char *entry, struct cove_error *err)
{
	l->run.envc++;
	return add_string(l, entry, "env.set", err);
}

static int add_variables(struct cv_launch *l, const struct cv_procs *procs,
			 const struct cove_env_vars *env, const char *pwd, struct cove_error *err)
{
	char entry[CV_PATH_MAX + 8];
	int rc = 0;

	snprintf(entry, sizeof(entry), "PWD=%s", pwd);
	if (env->inherit && !listed(env->set, entry) && !listed(env->unset, entry))
		rc = add_variable(l, entry, err);
	for (char **e = procs->env; rc == 0 && env->inherit && *e; e++)
		if (!listed(env->set, *e) && !listed(env->unset, *e))
			rc = add_variable(l, *e, err);
	for (const char *const *e = env->set; rc == 0 && e && *e; e++)
		if (!listed(e + 1, *e))
			rc = add_variable(l, *e, err);
	return rc;
}

static const char *variable(const struct cv_procs *procs, const struct cove_env_vars *env,
			    const char *name)
{
	const char *value = NULL;

	for (char **e = procs->env; env->inherit && *e; e++)
		if (same_name(*e, name) && !listed(env->unset, *e))
			value = *e + name_len(name) + 1;
	for (const char *const *e = env->set; e && *e; e++)
		if (same_name(*e, name))
			value = *e + name_len(name) + 1;
	return value;
}

static int no_program(const char *program, struct cove_error *err)
{
	cv_fail(err, COVE_E_NOT_FOUND, "program '%s' was not found", program);
	if (err) {
		err->sys_errno = ENOENT;
		cv_text_copy(err->field, sizeof(err->field), "argv");
	}
	cv_err_hint(err, "name a program of this environment; shell syntax belongs into script");
	cv_err_path(err, program);
	return COVE_E_NOT_FOUND;
}

/* Finds a program as execvp would: its path as given where it has a slash, else along PATH. */
static int find_program(const char *program, const char *path, int cwd_fd, cv_path ret,
			struct cove_error *err)
{
	bool denied = false;

	if (strchr(program, '/')) {
		if (faccessat(cwd_fd, program, F_OK, 0) < 0 &&
		    (errno == ENOENT || errno == ENOTDIR))
			return no_program(program, err);
		snprintf(ret, sizeof(cv_path), "%s", program);
		return 0;
	}
	for (const char *p = path ? path : DEFAULT_PATH;; p++) {
		size_t len = strcspn(p, ":");
		struct stat st;
		int n = snprintf(ret, sizeof(cv_path), "%.*s%s%s",
				 (int)CV_MIN(len, (size_t)CV_PATH_MAX), p, len ? "/" : "./",
				 program);

		if (n > 0 && (size_t)n < sizeof(cv_path) && fstatat(cwd_fd, ret, &st, 0) == 0 &&
		    S_ISREG(st.st_mode)) {
			if (faccessat(cwd_fd, ret, X_OK, AT_EACCESS) == 0)
				return 0;
			denied = true;
		}
		p += len;
		if (*p == '\0')
			break;
	}
	if (!denied)
		return no_program(program, err);
	cv_fail_errno(err, EACCES, program, "'%s' is not executable", program);
	if (err)
		err->code = COVE_E_SPAWN_FAILED;
	return COVE_E_SPAWN_FAILED;
}

static int add_program(struct cv_launch *l, const char *path, const char *const *argv,
		       struct cove_error *err)
{
	int rc = add_string(l, path, "argv", err);

	for (; rc == 0 && *argv; argv++) {
		rc = add_string(l, *argv, "argv", err);
		l->run.argc++;
	}
	return rc;
}

static int script_memfd(struct cv_launch *l, const char *script)
{
	int fd = memfd_create("cove-script", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;
	if (cv_write_full(fd, script, strlen(script)) < 0 || lseek(fd, 0, SEEK_SET) < 0) {
		close(fd);
		return -EIO;
	}
	fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL);
	l->fds[4] = fd;
	l->nfds = 5;
	l->run.script = 1;
	return 0;
}

static int add_script(struct cv_launch *l, const struct cv_procs *procs, const char *script,
		      struct cove_error *err)
{
	const char *argv[] = {procs->shell, "-c", script, NULL};

	l->is_script = true;
	if (procs->shell && access(procs->shell, X_OK) < 0 && errno == ENOMEM)
		return cv_fail_errno(err, errno, procs->shell, "can't look at the shell '%s'",
				     procs->shell);
	if (!procs->shell || access(procs->shell, X_OK) < 0) {
		cv_fail(err, COVE_E_SHELL_UNAVAILABLE, "there is no shell%s%s to run a script with",
			procs->shell ? " " : "", procs->shell ? procs->shell : "");
		cv_err_hint(
			err,
			"give argv instead, or configure a shell that exists and is executable");
		return COVE_E_SHELL_UNAVAILABLE;
	}
	if (strlen(script) + 1 > ARG_MAX_BYTES) {
		if (script_memfd(l, script) < 0)
			return cv_fail_errno(err, errno, NULL, "no room to hold the script");
		argv[2] = LONG_SCRIPT;
	}
	return add_program(l, procs->shell, argv, err);
}

static int fill(struct cv_launch *l, struct cv_procs *procs, const struct cove_exec_opts *req,
		struct cove_error *err)
{
	cv_path pwd;
	cv_path program;
	int rc = refuse_limits(&req->limits, err);

	if (rc < 0)
		return rc;
	rc = open_cwd(procs, req->cwd, pwd, err);
	if (rc < 0)
		return rc;
	l->fds[3] = rc;
	if (req->script)
		rc = add_script(l, procs, req->script, err);
	else
		rc = find_program(req->argv[0], variable(procs, &req->env, "PATH"), l->fds[3],
				  program, err);
	if (rc == 0 && req->argv)
		rc = add_program(l, program, req->argv, err);
	if (rc == 0)
		rc = add_variables(l, procs, &req->env, pwd, err);
	if (rc < 0)
		return rc;
	l->what = strdup(req->script ? procs->shell : req->argv[0]);
	l->cwd = strdup(req->cwd ? req->cwd : procs->space->cwd);
	return l->what && l->cwd ? 0 : cv_fail(err, COVE_E_INTERNAL, "out of memory");
}

int cv_launch_new(struct cv_procs *procs, const struct cove_exec_opts *req, struct cv_launch **ret,
		  struct cove_error *err)
{
	struct cv_launch *l = calloc(1, sizeof(*l));
	int rc;

	if (!l)
		return cv_fail(err, COVE_E_INTERNAL, "out of memory");
	l->strings = CV_BUF(STRINGS_MAX);
	l->run = (struct cv_keeper_run){
		.kind = CV_KEEPER_RUN,
		.umask = 022,
		.tty = req->tty != NULL,
		.file_size_bytes = req->limits.file_size_bytes,
	};
	for (size_t i = 0; i < CV_LEN(l->fds); i++)
		l->fds[i] = -1;
	l->cwd_fd = procs->cwd_fd;
	l->nfds = 4;
	rc = fill(l, procs, req, err);
	if (rc < 0) {
		cv_launch_free(l);
		return rc;
	}
	*ret = l;
	return 0;
}

/*
 * Standard descriptors belong to the process and may be the shared null device; the others are the
 * launch's.
 */
void cv_launch_free(struct cv_launch *l)
{
	if (!l)
		return;
	for (size_t i = 3; i < CV_LEN(l->fds); i++)
		if (l->fds[i] != l->cwd_fd)
			cv_close(&l->fds[i]);
	cv_buf_done(&l->strings);
	free((char *)l->what);
	free((char *)l->cwd);
	free(l);
}

int cv_launch_error(const struct cv_launch *l, int stage, int errnum, struct cove_error *err)
{
	static const char *const names[] = {"", "fork", "cwd", "setup", "exec"};

	if (stage == CV_SPAWN_CWD)
		return bad_cwd(l->cwd, errnum, err);
	if (stage == CV_SPAWN_EXEC && errnum == E2BIG)
		return too_large(err, l->is_script ? "env.set" : "argv");
	cv_fail_errno(err, errnum, l->what, "can't start '%s' (%s)", l->what, names[stage]);
	if (!err)
		return COVE_E_SPAWN_FAILED;
	err->code = COVE_E_SPAWN_FAILED;
	snprintf(err->reason, sizeof(err->reason), "%s failed: %s", names[stage], strerror(errnum));
	if (errnum == ENOEXEC)
		cv_err_hint(err,
			    "it is no program; a script needs a #! line, or run it with its shell");
	else if (errnum == ENOENT)
		cv_err_hint(err,
			    "it exists, but the interpreter of its #! line or its loader does not");
	else if (errnum == EACCES)
		cv_err_hint(err, "make it executable, and its file system not noexec");
	else if (errnum == EAGAIN || errnum == ENOMEM)
		err->retry = COVE_RETRY_AFTER_CAPACITY;
	return COVE_E_SPAWN_FAILED;
}

char *cv_command_text(const struct cove_exec_opts *req)
{
	struct cv_buf text = CV_BUF(8192);
	size_t len;

	if (req->script)
		cv_buf_add(&text, req->script, strnlen(req->script, 4096));
	for (size_t i = 0; !req->script && req->argv[i]; i++) {
		if (cv_buf_add(&text, " ", i > 0) < 0)
			break;
		cv_buf_add(&text, req->argv[i], strnlen(req->argv[i], 4096));
	}
	if (!text.data && cv_buf_adds(&text, "") < 0)
		return NULL;
	cv_redact(text.data);
	len = CV_MIN(text.len, (size_t)1024);
	text.data[len < text.len ? cv_utf8_cut(text.data, len) : len] = '\0';
	return text.data;
}
