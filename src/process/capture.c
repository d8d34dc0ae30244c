/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What sees the output of a command besides its tape, byte by byte as it is read: the live reader,
 * the spill file, and the rendered view.
 */
#include "base/fd.h"
#include "process/procs_internal.h"

#include <fcntl.h>

#define LIVE_MOST (64u << 10)

/* Credit bounds what is read at a time; a frame holds less. */
static void send_live(struct cv_pipe *pipe, const char *data, size_t len)
{
	struct cv_process *p = pipe->process;

	for (size_t at = 0; p->live && p->starter && at < len;) {
		size_t n = CV_MIN(len - at, (size_t)LIVE_MOST);

		p->starter->live(p->starter, pipe->stream, data + at, n);
		at += n;
	}
}

static void spill(struct cv_pipe *pipe, const char *data, size_t len)
{
	struct cv_process *p = pipe->process;

	if (p->spill && cv_spill_add(p->spill, pipe == &p->pipes[1], data, len) < 0 &&
	    p->spill->required)
		cv_process_end(p, COVE_END_KILLED, 0);
}

static void see(void *user, const char *data, size_t len)
{
	struct cv_pipe *pipe = user;

	send_live(pipe, data, len);
	spill(pipe, data, len);
	if (pipe->renderer)
		cove_renderer_add(pipe->renderer, data, len);
}

static void rendered(void *user, const char *data, size_t len)
{
	struct cv_pipe *pipe = user;

	cove_bounder_add(pipe->rendered, data, len);
}

void cv_capture_open(struct cv_pipe *pipe)
{
	struct cv_process *p = pipe->process;

	if (p->render) {
		pipe->rendered = cove_bounder_new((size_t)p->max_output);
		if (pipe->rendered)
			pipe->renderer = cove_renderer_new(rendered, pipe);
	}
	pipe->tape.sink = p->live || p->spill || pipe->renderer ? see : NULL;
	pipe->tape.sink_user = pipe;
}

void cv_capture_done(struct cv_pipe *pipe)
{
	cove_renderer_free(pipe->renderer);
	cove_bounder_free(pipe->rendered);
}

static int open_spill(void *user, cv_path path)
{
	struct cv_process *p = user;
	const char *dir;
	char id[13];
	int fd;

	if (p->procs->scratch(p->procs->scratch_user, &dir, NULL) < 0)
		return -EACCES;
	cv_random_name(id, sizeof(id) - 1);
	if ((size_t)snprintf(path, sizeof(cv_path), "%s/output-%s", dir, id) >= sizeof(cv_path))
		return -ENAMETOOLONG;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_APPEND, 0600);
	if (fd >= 0)
		return fd;
	path[0] = '\0';
	return -errno;
}

int cv_spill_begin(struct cv_process *p, const struct cove_spill *opts)
{
	if (!opts)
		return 0;
	p->spill =
		cv_spill_new(opts->after_bytes, opts->after_lines, opts->required, open_spill, p);
	return p->spill ? 0 : -ENOMEM;
}
