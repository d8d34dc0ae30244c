/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions (PROC-20): directory, exported variables, functions and aliases that live from one
 * command to the next.
 *
 * A session is a file in the scratch directory that bash sources before a command and writes anew
 * after it, to a temporary name first: a dump that fails, or a command that is killed, leaves the
 * last good one. The script itself is evaluated unchanged; what surrounds it is below.
 */
#include "process/procs_internal.h"

#include <fcntl.h>

/*
 * %1 is the state file, %2 the directory that the call asked for or nothing, %3 the script, each
 * quoted. The dump begins by unsetting what is exported now, so that what a command unset stays so.
 */
static const char before[] = "__cove_state=";
static const char middle[] =
	"\n__cove_dump() {\n"
	"	local rc=$? f v\n"
	"	trap - EXIT\n"
	"	set +eux\n"
	"	(\n"
	"		umask 077\n"
	"		unset -f __cove_dump\n"
	"		{\n"
	"			echo 'for __cove_v in $(compgen -e); do case $__cove_v in "
	"PWD|OLDPWD|SHLVL|_) ;; *) unset -v \"$__cove_v\" 2>/dev/null;; esac; done'\n"
	"			for v in $(compgen -e); do\n"
	"				case $v in PWD|OLDPWD|SHLVL|_|__cove_*) ;; *) declare -p \"$v\";; esac\n"
	"			done\n"
	"			declare -f\n"
	"			alias -p\n"
	"			printf '__cove_cd=%q\\n' \"$PWD\"\n"
	"		} > \"$__cove_state.new\" && mv -f -- \"$__cove_state.new\" \"$__cove_state\"\n"
	"	) 2>/dev/null\n"
	"	exit $rc\n"
	"}\n"
	"if [ -r \"$__cove_state\" ]; then . \"$__cove_state\"; fi\n"
	"if [ -n \"$__cove_cwd\" ]; then cd -- \"$__cove_cwd\"\n"
	"elif [ -n \"${__cove_cd-}\" ] && ! cd -- \"$__cove_cd\" 2>/dev/null; then\n"
	"	echo \"cove: the session's directory '$__cove_cd' is gone; this is $PWD\" >&2\n"
	"fi\n"
	"unset -v __cove_cd __cove_v __cove_cwd\n"
	"shopt -s expand_aliases\n"
	"trap __cove_dump EXIT\n"
	"eval ";

static int add_quoted(struct cv_buf *b, const char *s)
{
	int rc = cv_buf_adds(b, "'");

	while (rc == 0 && *s) {
		size_t n = strcspn(s, "'");

		rc = cv_buf_add(b, s, n);
		s += n;
		if (rc == 0 && *s) {
			rc = cv_buf_adds(b, "'\\''");
			s++;
		}
	}
	return rc == 0 ? cv_buf_adds(b, "'") : rc;
}

static bool is_bash(const char *shell)
{
	const char *name = shell ? strrchr(shell, '/') : NULL;

	return name && strcmp(name, "/bash") == 0;
}

static int check(const struct cv_procs *procs, const char *name, struct cove_error *err)
{
	if (!is_bash(procs->shell)) {
		cv_fail(err, COVE_E_NOT_SUPPORTED, "a session needs bash as the shell");
		cv_err_hint(err, "leave session out, or configure bash");
		return COVE_E_NOT_SUPPORTED;
	}
	for (const struct cv_process *p = procs->processes; p; p = p->next)
		if (p->session && strcmp(p->session, name) == 0 && p->state != CV_PROCESS_CLEAN) {
			cv_fail(err, COVE_E_BUSY, "the session '%s' runs another command", name);
			cv_err_hint(err, "wait for it, or use another session");
			return COVE_E_BUSY;
		}
	return 0;
}

int cv_session_wrap(struct cv_procs *procs, const struct cove_exec_opts *req, struct cv_buf *script,
		    struct cove_error *err)
{
	const char *dir = NULL;
	cv_path state;
	int rc = check(procs, req->session, err);

	if (rc == 0)
		rc = procs->scratch(procs->scratch_user, &dir, err);
	if (rc < 0)
		return rc;
	snprintf(state, sizeof(state), "%s/session-%s", dir, req->session);
	rc = cv_buf_adds(script, before);
	rc = rc ? rc : add_quoted(script, state);
	rc = rc ? rc : cv_buf_adds(script, "\n__cove_cwd=");
	rc = rc ? rc : add_quoted(script, req->cwd ? "." : "");
	rc = rc ? rc : cv_buf_adds(script, middle);
	rc = rc ? rc : add_quoted(script, req->script);
	return rc < 0 ? cv_fail(err, COVE_E_INTERNAL, "out of memory for the session's script") : 0;
}
