/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of any size, as their bytes come and go; see files.h for what holds for every file.
 *
 * Example:
 *
 *	#include <cove/cove.h>
 *	#include <stdio.h>
 *
 *	int main(void)
 *	{
 *		struct cove_error err = COVE_ERROR_INIT;
 *		struct cove_env *env = NULL;
 *		int out = 1;
 *		if (cove_env_open(COVE_OPTS(cove_env_opts, .provider = "here"), &env, &err) < 0)
 *			return 1;
 *		int rc = cove_file_read_stream(
 *			env, COVE_OPTS(cove_file_read_stream_opts, .path = "/proc/version",
 *				       .on_data = cove_data_to_fd, .on_data_user = &out),
 *			NULL, &err);
 *		if (rc < 0)
 *			fprintf(stderr, "%s\n", err.message);
 *		cove_env_close(env, COVE_OUTCOME_SUCCESS, NULL);
 *		return rc < 0;
 *	}
 */
#ifndef COVE_STREAMS_H
#define COVE_STREAMS_H

#include <cove/files.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Receives the next bytes of a file, at most 65,536; `data` is borrowed for the call. Return 0 to go
 * on; anything else ends the read, and the call fails with `callback_failed`.
 */
typedef int (*cove_data_fn)(void *user, const char *data, size_t len);

/*
 * Gives the next bytes of a file that is written: puts at most `size` of them into `buf` and tells
 * how many; 0 at the end. A negative number says that it failed: nothing is written then, and the
 * call fails with `callback_failed`.
 */
typedef int64_t (*cove_source_fn)(void *user, char *buf, size_t size);

/* Request of cove_file_read_stream(). */
struct cove_file_read_stream_opts {
	/* set by COVE_OPTS */
	size_t size;
	/* required */
	const char *path;
	/* first byte, ≥ 0 */
	int64_t offset;
	/* bytes at most; default: to the end */
	int64_t length;
	/* required; called in the thread that waits for the call */
	cove_data_fn on_data;
	/* given to on_data */
	void *on_data_user;
};

/* Result of cove_file_read_stream(). */
struct cove_file_read_stream_result {
	int64_t bytes_read; /* given to on_data */
	bool eof;	    /* they reach the end of the file */
};

/* Request of cove_file_write_stream(). */
struct cove_file_write_stream_opts {
	/* set by COVE_OPTS */
	size_t size;
	/* required */
	const char *path;
	/* enum cove_write_mode; required */
	int mode;
	/* make missing directories: 0 default (yes), 1 yes, COVE_ZERO no */
	int parents;
	/* flush file and directory to the disk before returning */
	bool durable;
	/* write into the present file instead of replacing it: keeps hard links, not atomic */
	bool in_place;
	/* permission bits of a new file, 1..0777; default 0666 less the umask */
	int64_t file_mode;
	/* where the bytes come from; required, but NULL with cove_submit(): see cove_call_write() */
	cove_source_fn source;
	/* given to source */
	void *source_user;
};

/* The errors are those of files.h, besides what is listed with each. */

/**
 * Reads a file of any size, piece by piece, in bounded memory.
 *
 * Every piece but the last has 65,536 bytes. The file is opened once; what is written to it
 * meanwhile may be seen or not. A receiver that is slow holds up nobody else.
 *
 * @param env environment; prepared if need be.
 * @param opts see struct cove_file_read_stream_opts.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure; what was given to on_data before it stays given.
 * @return 0, or COVE_E_CALLBACK_FAILED (on_data ended it), COVE_E_IS_DIRECTORY, or the errors above.
 * Threads: any. @since 0.1
 */
COVE_API int cove_file_read_stream(struct cove_env *env,
				   const struct cove_file_read_stream_opts *opts,
				   struct cove_file_read_stream_result **ret_result,
				   struct cove_error *err);

/**
 * Writes a file of any size from a source, whole or not at all, in bounded memory.
 *
 * The bytes are staged beside the file and take its place after the source's end; before that, and
 * if the source or the connection fails, nothing changes and nothing is left. With `append` and
 * `in_place` they are written into the present file at the end. `source` is called in this thread.
 *
 * With cove_submit() there is no source: the caller gives the bytes to cove_call_write(), none of
 * them at the end, and nothing is written without that end.
 *
 * @param env environment; prepared if need be.
 * @param opts see struct cove_file_write_stream_opts.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_CALLBACK_FAILED (the source failed), COVE_E_CONFLICT (somebody else changed
 * what is at the path meanwhile), or the errors of cove_file_write_text().
 * Threads: any. @since 0.1
 */
COVE_API int cove_file_write_stream(struct cove_env *env,
				    const struct cove_file_write_stream_opts *opts,
				    struct cove_file_write_result **ret_result,
				    struct cove_error *err);

/**
 * A source that reads a descriptor to its end, for cove_file_write_stream().
 *
 * @param user points to the descriptor, an int; one that does not block is waited for.
 * @param buf gets the bytes.
 * @param size room in buf.
 * @return how many, 0 at the end, -1 where reading failed; errno says why.
 * Threads: any. @since 0.1
 */
COVE_API int64_t cove_source_fd(void *user, char *buf, size_t size);

/**
 * A receiver that writes to a descriptor, for cove_file_read_stream().
 *
 * @param user points to the descriptor, an int; one that does not block is waited for.
 * @param data the bytes.
 * @param len how many.
 * @return 0, or -1 where writing failed; errno says why.
 * Threads: any. @since 0.1
 */
COVE_API int cove_data_to_fd(void *user, const char *data, size_t len);

#ifdef __cplusplus
}
#endif
#endif
