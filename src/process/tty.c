/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A terminal for a command (PROC-17): a pseudo-terminal whose slave is its stdin, stdout and stderr,
 * and the controlling terminal of its session. The guest holds the master: what is written to it is
 * typed, signals included, and closing it hangs up.
 */
#include "process/procs_internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>

static int set_size(int fd, int64_t rows, int64_t cols)
{
	struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)cols};

	return ioctl(fd, TIOCSWINSZ, &size) < 0 ? -errno : 0;
}

int cv_tty_open(struct cv_process *p, const struct cove_tty *tty, int child_fds[3])
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	int unlock = 0;

	if (master < 0)
		return -errno;
	p->pipes[0].fd = master;
	if (ioctl(master, TIOCSPTLCK, &unlock) < 0 || set_size(master, tty->rows, tty->cols) < 0)
		return -errno;
	p->in.fd = fcntl(master, F_DUPFD_CLOEXEC, 3);
	for (int i = 0; i < 3; i++) {
		/* By the master, not by a path: /dev/pts may be another's. */
		child_fds[i] = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
		if (child_fds[i] < 0)
			return -errno;
	}
	return p->in.fd < 0 ? -errno : 0;
}

void cv_process_resize(struct cv_procs *procs, const void *request, struct cv_reply *reply)
{
	const struct cove_process_resize_opts *req = request;
	struct cove_error err = COVE_ERROR_INIT;
	struct cv_process *p = cv_process_find(procs, req->process, req->generation, &err);
	struct cove_nothing none = {0};

	if (p && (!p->tty || p->pipes[0].fd < 0)) {
		cv_fail(&err, COVE_E_CONFLICT, "'%s' has no terminal%s", p->handle,
			p->tty ? " any more" : "");
		cv_err_path(&err, p->handle);
		p = NULL;
	}
	if (!p) {
		reply->error(reply, &err);
		return;
	}
	set_size(p->pipes[0].fd, req->rows, req->cols);
	reply->result(reply, &none);
}
