/* SPDX-License-Identifier: Apache-2.0 */
/* cove files read: a file as it is, or lines of a text. */
#include "cli/files.h"
#include "cli/report.h"

#include <cove/streams.h>

#include <stdio.h>

#define LINE_LENGTH_MAX (INT64_C(1) << 20)

struct read_args {
	struct env_args env;
	int64_t from;
	int64_t lines;
	bool number;
};

/* What came of writing what was read. */
struct sink {
	struct cove_error err;
};

static int put_piece(void *user, const char *data, size_t len)
{
	struct sink *sink = user;

	return files_put(data, len, &sink->err) < 0;
}

static int read_whole(const struct files *f, struct cove_error *err)
{
	struct sink sink = {.err = COVE_ERROR_INIT};
	int rc = files_call(f, "file.read_stream",
			    COVE_OPTS(cove_file_read_stream_opts, .path = f->words[0],
				      .on_data = put_piece, .on_data_user = &sink),
			    NULL, err);

	if (rc == COVE_E_CALLBACK_FAILED)
		*err = sink.err;
	return rc < 0 ? err->code : rc;
}

/* The lines of a page, each behind its number. */
static int put_numbered(const struct cove_bytes *text, int64_t number, struct cove_error *err)
{
	const char *at = text->data;
	const char *end = at + text->len;
	int rc = 0;

	while (rc == 0 && at < end) {
		const char *lf = memchr(at, '\n', (size_t)(end - at));
		const char *next = lf ? lf + 1 : end;
		char head[32];
		int len = snprintf(head, sizeof(head), "%6lld\t", (long long)number++);

		rc = files_put(head, (size_t)len, err);
		if (rc == 0)
			rc = files_put(at, (size_t)(next - at), err);
		at = next;
	}
	return rc;
}

static int put_page(const struct read_args *a, const struct cove_file_read_text_result *page,
		    int64_t offset, struct cove_error *err)
{
	for (size_t i = 0; i < page->truncated_line_count; i++)
		report("line %lld is longer than %lld bytes and was clipped",
		       (long long)page->truncated_lines[i], (long long)LINE_LENGTH_MAX);
	if (a->number)
		return put_numbered(&page->text, offset + 1, err);
	return files_put(page->text.data, page->text.len, err);
}

static int read_lines(const struct files *f, struct cove_error *err)
{
	const struct read_args *a = f->args;
	int64_t left = a->lines ? a->lines : INT64_MAX;
	struct cove_file_read_text_opts opts = {.size = sizeof(opts),
						.path = f->words[0],
						.line_offset = a->from ? a->from - 1 : 0,
						.max_line_length = LINE_LENGTH_MAX};
	bool more = true;
	int rc = 0;

	while (rc == 0 && more && left > 0) {
		struct cove_file_read_text_result *page = NULL;

		opts.line_limit = CV_MIN(left, INT64_C(1000000));
		rc = files_call(f, "file.read_text", &opts, &page, err);
		if (rc < 0)
			break;
		rc = put_page(a, page, opts.line_offset, err);
		more = page->has_more;
		opts.line_offset += page->lines_read;
		left -= page->lines_read;
		cove_result_free(page);
	}
	return rc;
}

static int work(const struct files *f, struct cove_error *err)
{
	const struct read_args *a = f->args;

	return a->from || a->lines || a->number ? read_lines(f, err) : read_whole(f, err);
}

static int run(const void *args, const struct words *words)
{
	return files_run(args, words, 1, 1, "PATH, a file", work);
}

#define ROW(member) .offset = offsetof(struct read_args, member)
static const struct opt options[] = {
	{"from", 0, OPT_NUMBER, "LINE", "begin with this line; the first is 1", .min = 1,
	 .max = INT64_MAX, ROW(from)},
	{"lines", 0, OPT_NUMBER, "N", "at most so many lines", .min = 1, .max = INT64_MAX,
	 ROW(lines)},
	{"number", 'n', OPT_FLAG, .help = "put its number before each line", ROW(number)},
	{NULL},
};

const struct verb verb_files_read = {
	.name = "files read",
	.summary = "Print a file, or some lines of it",
	.usage = "[OPTION]... PATH",
	.text = "Without options a file comes byte for byte, whatever its size. With one of --from, --lines and --number it\n"
		"must be UTF-8 text.",
	.example = "cove files read --from 120 --lines 40 -n src/main.c",
	.max_plain = FILES_WORDS_MAX,
	.size = sizeof(struct read_args),
	.options = options,
	.shared = files_options,
	.run = run,
};
