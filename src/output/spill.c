/* SPDX-License-Identifier: Apache-2.0 */
/* The spill file. */
#include "output/spill.h"

#include "base/fd.h"

#define EARLY_MAX (64u << 20)

struct cv_spill *cv_spill_new(int64_t after_bytes, int64_t after_lines, bool required,
			      int (*open)(void *user, cv_path path), void *user)
{
	struct cv_spill *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->after_bytes = after_bytes;
	s->after_lines = after_lines;
	s->required = required;
	s->early = CV_BUF(EARLY_MAX + 1);
	s->fd = -1;
	s->open = open;
	s->user = user;
	return s;
}

void cv_spill_free(struct cv_spill *s)
{
	if (!s)
		return;
	cv_close(&s->fd);
	cv_buf_done(&s->early);
	free(s);
}

/* A file that does not hold everything is none: what was written goes. */
static int give_up(struct cv_spill *s, int errnum)
{
	s->errnum = errnum;
	cv_buf_done(&s->early);
	cv_close(&s->fd);
	if (s->path[0])
		unlink(s->path);
	s->path[0] = '\0';
	return -errnum;
}

static bool exceeds(const struct cv_spill *s)
{
	int64_t lines = s->newlines + s->partial[0] + s->partial[1];

	return s->bytes > s->after_bytes || (s->after_lines && lines > s->after_lines);
}

/* Lines are counted only as long as they decide something: looking for each costs more than writing. */
static void count(struct cv_spill *s, int stream, const char *data, size_t len)
{
	s->bytes += (int64_t)len;
	if (s->after_lines == 0 || s->fd >= 0)
		return;
	for (const char *p = data; (p = memchr(p, '\n', len - (size_t)(p - data))); p++)
		s->newlines++;
	s->partial[stream] = data[len - 1] != '\n';
}

static int begin_file(struct cv_spill *s)
{
	int rc;

	s->fd = s->open(s->user, s->path);
	if (s->fd < 0)
		return give_up(s, -s->fd);
	rc = cv_write_full(s->fd, s->early.data, s->early.len);
	cv_buf_done(&s->early);
	return rc < 0 ? give_up(s, -rc) : 0;
}

int cv_spill_add(struct cv_spill *s, int stream, const char *data, size_t len)
{
	int rc;

	if (s->errnum || len == 0)
		return 0;
	count(s, stream, data, len);
	if (s->fd >= 0) {
		rc = cv_write_full(s->fd, data, len);
		return rc < 0 ? give_up(s, -rc) : 0;
	}
	if (cv_buf_add(&s->early, data, len) < 0)
		return give_up(s, ENOMEM);
	return exceeds(s) ? begin_file(s) : 0;
}
