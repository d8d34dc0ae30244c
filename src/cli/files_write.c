/* SPDX-License-Identifier: Apache-2.0 */
/* cove files write and mkdir: what is new. */
#include "cli/files.h"
#include "cli/interrupt.h"

#include <cove/streams.h>

struct write_args {
	struct env_args env;
	int mode;
	bool no_parents;
	bool durable;
	bool in_place;
	bool executable;
};

/* Where the content comes from. */
struct source {
	int fd;
	int read_error; /* errno */
};

static int64_t read_some(void *user, char *buf, size_t size)
{
	struct source *source = user;
	ssize_t n;

	do
		n = interrupt_signal() ? -1 : read(source->fd, buf, size);
	while (n < 0 && errno == EINTR && !interrupt_signal());
	if (n < 0)
		source->read_error = interrupt_signal() ? EINTR : errno;
	return n;
}

static int write_file(const struct files *f, struct cove_error *err)
{
	const struct write_args *a = f->args;
	struct source source = {.fd = STDIN_FILENO};
	int rc = cove_file_write_stream(f->env,
					COVE_OPTS(cove_file_write_stream_opts, .path = f->words[0],
						  .mode = a->mode ? a->mode : COVE_WRITE_UPSERT,
						  .parents = a->no_parents ? COVE_ZERO : 0,
						  .durable = a->durable, .in_place = a->in_place,
						  .file_mode = a->executable ? 0755 : 0,
						  .source = read_some, .source_user = &source),
					NULL, err);

	if (rc == COVE_E_CALLBACK_FAILED && source.read_error == EINTR)
		return cv_fail(err, COVE_E_CANCELLED, "interrupted, and nothing was written");
	if (rc == COVE_E_CALLBACK_FAILED && source.read_error)
		return cv_fail_errno(err, source.read_error, "stdin", "cannot read stdin");
	return rc;
}

static int run_write(const void *args, const struct words *words)
{
	return files_run(args, words, 1, 1, "PATH, a file; its content is read from stdin",
			 write_file);
}

struct mkdir_args {
	struct env_args env;
	bool parents;
};

static int make_all(const struct files *f, struct cove_error *err)
{
	const struct mkdir_args *a = f->args;
	int code = 0;

	for (size_t i = 0; i < f->count; i++) {
		struct cove_file_mkdir_opts opts = {.size = sizeof(opts),
						    .path = f->words[i],
						    .parents = a->parents,
						    .exist_ok = a->parents};
		int failed = 0;

		if (files_call(f, "file.mkdir", &opts, NULL, err) < 0)
			failed = files_failed(err);
		code = code ? code : failed;
	}
	return code;
}

static int run_mkdir(const void *args, const struct words *words)
{
	return files_run(args, words, 1, FILES_WORDS_MAX, "PATH, or several", make_all);
}

static const char *const modes[] = {"create", "replace", "upsert", "append", NULL};

#define ROW(member) .offset = offsetof(struct write_args, member)
static const struct opt write_options[] = {
	{"mode", 0, OPT_CHOICE, "HOW",
	 "create (it must be missing), replace (it must be there), upsert (default) or append",
	 .names = modes, ROW(mode)},
	{"executable", 'x', OPT_FLAG, .help = "mode 0755 of a new file", ROW(executable)},
	{"no-parents", 0, OPT_FLAG, .help = "don't make missing directories", ROW(no_parents)},
	{"durable", 0, OPT_FLAG, .help = "return only when it is on the disk", ROW(durable)},
	{"in-place", 0, OPT_FLAG,
	 .help = "write into the present file: keeps hard links, not at once", ROW(in_place)},
	{NULL},
};

const struct verb verb_files_write = {
	.name = "files write",
	.summary = "Write stdin to a file, whole or not at all",
	.usage = "[OPTION]... PATH",
	.text = "A reader sees the old content or the new. Mode, owner and attributes of a file that is replaced are kept.",
	.example = "date | cove files write --mode create log/started",
	.max_plain = FILES_WORDS_MAX,
	.size = sizeof(struct write_args),
	.options = write_options,
	.shared = files_options,
	.run = run_write,
};

static const struct opt mkdir_options[] = {
	{"parents", 'p', OPT_FLAG,
	 .help = "make missing parents; a directory that is there is fine",
	 .offset = offsetof(struct mkdir_args, parents)},
	{NULL},
};

const struct verb verb_files_mkdir = {
	.name = "files mkdir",
	.summary = "Make directories",
	.usage = "[OPTION]... PATH...",
	.example = "cove files mkdir -p build/out",
	.max_plain = FILES_WORDS_MAX,
	.size = sizeof(struct mkdir_args),
	.options = mkdir_options,
	.shared = files_options,
	.run = run_mkdir,
};
