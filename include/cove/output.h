/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output of processes by offset, and the one way in which cove shortens text.
 *
 * The output of a process stays readable after its end. Offsets count the bytes of one stream from
 * its start and never change; reading consumes nothing, and any number of readers may look at the
 * same bytes.
 *
 * Example:
 *
 *	#include <cove/output.h>
 *	#include <stdio.h>
 *
 *	int main(void)
 *	{
 *		char text[64];
 *		struct cove_bound_info info;
 *		size_t n = cove_bound(text, 40, "0123456789012345678901234567890123456789 and more", 49, &info);
 *		printf("%.*s (%d of 49 bytes)\n", (int)n, text, (int)info.shown);
 *		return info.truncated ? 0 : 1;
 *	}
 */
#ifndef COVE_OUTPUT_H
#define COVE_OUTPUT_H

#include <cove/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cove_env;

/* Whether what a read covers is all there was. */
enum cove_coverage {
	COVE_COVERAGE_COMPLETE = 1, /* every byte from 0 on is still kept */
	COVE_COVERAGE_PARTIAL,	    /* some bytes were dropped; the reason says why */
	COVE_COVERAGE_UNKNOWN,	    /* the record was lost */
};

/* Request of cove_output_read(). */
struct cove_output_read_opts {
	/* set by COVE_OPTS */
	size_t size;
	/* handle; required */
	const char *process;
	/* 0, or the one it was given with */
	int64_t generation;
	/* enum cove_stream; default stdout, or the merged output of a merged process */
	int stream;
	/* first byte wanted, ≥ 0; below available_start it is moved up to that */
	int64_t offset;
	/* 1..4 MiB; default 64 KiB */
	int64_t max_bytes;
	/* wait so long for a first byte, 0..2^31-1 ms; default 0 */
	int64_t wait_ms;
	/* cut pages on code points; bytes that are not UTF-8 become U+FFFD */
	bool text;
};

/* Result of cove_output_read(). */
struct cove_output_read_result {
	struct cove_bytes data;	     /* the bytes, or the text */
	int64_t offset;		     /* of the first byte given */
	int64_t next_offset;	     /* where to go on */
	int64_t available_start;     /* the oldest byte that is kept */
	int64_t produced;	     /* bytes written by the command so far */
	int64_t dropped;	     /* bytes of them that are no longer kept */
	bool producer_complete;	     /* nothing more will be written */
	bool content_complete;	     /* … and this page reaches the end */
	int coverage;		     /* enum cove_coverage */
	bool is_text;		     /* data is the text that was asked for */
	const char *coverage_reason; /* why not complete, else NULL */
};

/**
 * Reads retained output from an offset on; consumes nothing.
 *
 * @param env environment.
 * @param opts which process, stream and offset.
 * @param ret_result set on success; free with cove_output_read_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_CURSOR_INVALID (offset beyond the end), COVE_E_NOT_FOUND (handle or stream),
 * COVE_E_STALE, and the errors of every operation (see process.h).
 * Threads: any. Limits: 4 MiB a call. @since 0.1
 */
COVE_API int cove_output_read(struct cove_env *env, const struct cove_output_read_opts *opts,
			      struct cove_output_read_result **ret_result, struct cove_error *err);

/**
 * Frees a result of cove_output_read().
 *
 * @param result NULL does nothing.
 */
COVE_API void cove_output_read_result_free(struct cove_output_read_result *result);

/* What cove_bound() did. */
struct cove_bound_info {
	int64_t bytes;	/* raw bytes given */
	int64_t shown;	/* raw bytes shown */
	bool truncated; /* shown < bytes */
	bool lossy;	/* U+FFFD stands for bytes that are not UTF-8 */
};

/**
 * Shortens bytes to UTF-8 text within a budget: the head and the tail, with a marker between them.
 *
 * What fits is given whole. Otherwise the budget less the marker is split in two, the odd byte
 * going to the head; no character is cut, the marker is left out where it doesn't fit, and the
 * result never exceeds the budget, also where U+FFFD (three bytes) stands for a single bad byte.
 *
 * @param dst at least budget + 1 bytes; NUL-terminated on return.
 * @param budget bytes that the text may take, ≥ 0.
 * @param data the bytes; NULL only with len 0.
 * @param len how many.
 * @param ret_info NULL, or set.
 * @return length of the text in bytes, at most budget.
 * Threads: any. @since 0.1
 */
COVE_API size_t cove_bound(char *dst, size_t budget, const char *data, size_t len,
			   struct cove_bound_info *ret_info);

/**
 * The same with a budget in characters (code points).
 *
 * @param dst at least 4 × budget + 1 bytes; NUL-terminated on return.
 * @param budget characters that the text may have, ≥ 0.
 * @param data the bytes; NULL only with len 0.
 * @param len how many.
 * @param ret_info NULL, or set.
 * @return length of the text in bytes.
 * Threads: any. @since 0.1
 */
COVE_API size_t cove_bound_chars(char *dst, size_t budget, const char *data, size_t len,
				 struct cove_bound_info *ret_info);

/* The same for bytes that come in pieces; see cove_bounder_new(). */
struct cove_bounder;

/**
 * Begins to shorten a stream to a budget in bytes, keeping no more than about three budgets of it.
 *
 * However the stream is split, the text is that of cove_bound() over the whole.
 *
 * @param budget bytes that the text may take, 0..64 MiB.
 * @return the bounder, to be freed by cove_bounder_free(), or NULL (no memory, or too large a
 * budget).
 * Threads: one at a time. @since 0.1
 */
COVE_API struct cove_bounder *cove_bounder_new(size_t budget);

/**
 * Adds the next bytes of the stream.
 *
 * @param bounder of cove_bounder_new().
 * @param data the bytes; NULL only with len 0.
 * @param len how many.
 * Threads: one at a time. @since 0.1
 */
COVE_API void cove_bounder_add(struct cove_bounder *bounder, const char *data, size_t len);

/**
 * Gives the text of all that was added so far; more may be added afterwards.
 *
 * @param bounder of cove_bounder_new().
 * @param dst at least budget + 1 bytes; NUL-terminated on return.
 * @param ret_info NULL, or set.
 * @return length of the text in bytes.
 * Threads: one at a time. @since 0.1
 */
COVE_API size_t cove_bounder_text(const struct cove_bounder *bounder, char *dst,
				  struct cove_bound_info *ret_info);

/**
 * Frees a bounder.
 *
 * @param bounder NULL does nothing.
 */
COVE_API void cove_bounder_free(struct cove_bounder *bounder);

/* Turns terminal output into plain text; see cove_renderer_new(). */
struct cove_renderer;

/**
 * Begins to render terminal output: escape sequences vanish, `\r` and backspace overwrite.
 *
 * A line is given once it is whole. Lines longer than 64 KiB are given in pieces.
 *
 * @param emit called with rendered bytes, which are borrowed for the call.
 * @param user given to emit.
 * @return the renderer, to be freed by cove_renderer_free(), or NULL: no memory.
 * Threads: one at a time. @since 0.1
 */
COVE_API struct cove_renderer *
cove_renderer_new(void (*emit)(void *user, const char *data, size_t len), void *user);

/**
 * Adds the next bytes of the stream; however it is split, the rendered text is the same.
 *
 * @param renderer of cove_renderer_new().
 * @param data the bytes; NULL only with len 0.
 * @param len how many.
 * Threads: one at a time. @since 0.1
 */
COVE_API void cove_renderer_add(struct cove_renderer *renderer, const char *data, size_t len);

/**
 * Gives what is left of a last line without its newline.
 *
 * @param renderer of cove_renderer_new().
 * Threads: one at a time. @since 0.1
 */
COVE_API void cove_renderer_finish(struct cove_renderer *renderer);

/**
 * Frees a renderer.
 *
 * @param renderer NULL does nothing.
 */
COVE_API void cove_renderer_free(struct cove_renderer *renderer);

#ifdef __cplusplus
}
#endif
#endif
