/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of an environment.
 *
 * Paths are those that a command in the environment would use: UTF-8, without NUL, at most 4,096
 * bytes. A relative path starts at the environment's working directory; `~` and `~/x` mean its
 * home; `file://` URLs are taken too. A path in a result is relative to the working directory where
 * it lies below it, else absolute, and can be given back as it is.
 *
 * An environment has allowed roots. A path, links in it included, that leads outside of them is
 * `permission_denied` whether it exists or not. Only regular files are opened for content: FIFOs,
 * sockets and devices are `invalid_argument` and never block.
 *
 * Writes are staged beside the target and renamed: a reader sees the old content or the new, and a
 * failure leaves the old.
 *
 * Example:
 *
 *	#include <cove/cove.h>
 *	#include <stdio.h>
 *
 *	int main(void)
 *	{
 *		struct cove_env *env = NULL;
 *		struct cove_file_read_text_result *page = NULL;
 *		if (cove_env_open(COVE_OPTS(cove_env_opts, .provider = "here"), &env, NULL) < 0)
 *			return 1;
 *		int rc = cove_file_read_text(env, COVE_OPTS(cove_file_read_text_opts,
 *							    .path = "/etc/hostname"), &page, NULL);
 *		if (rc >= 0)
 *			printf("%s", page->text.data);
 *		cove_file_read_text_result_free(page);
 *		cove_env_close(env, COVE_OUTCOME_SUCCESS, NULL);
 *		return rc < 0;
 *	}
 */
#ifndef COVE_FILES_H
#define COVE_FILES_H

#include <cove/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cove_env;

/* Kind of a directory entry. */
enum cove_kind {
	COVE_KIND_FILE = 1,
	COVE_KIND_DIRECTORY,
	COVE_KIND_SYMLINK,
	COVE_KIND_OTHER, /* FIFO, socket, device */
};

/* How a write treats what is there. */
enum cove_write_mode {
	COVE_WRITE_CREATE = 1, /* must not exist */
	COVE_WRITE_REPLACE,    /* must exist */
	COVE_WRITE_UPSERT,     /* either */
	COVE_WRITE_APPEND,     /* added at the end; a missing file is created */
};

/* What a text page does with bytes that are not UTF-8. */
enum cove_invalid {
	COVE_INVALID_REFUSE = 1, /* `not_supported` (default) */
	COVE_INVALID_REPLACE,	 /* U+FFFD stands for them */
};

/* Names one path; request of stat, exists, canonical and absolute. */
struct cove_file_path_opts {
	size_t size;	  /* set by COVE_OPTS */
	const char *path; /* required */
};

/* One entry; result of cove_file_stat(). */
struct cove_file_entry {
	const char *path;	 /* as results give paths */
	const char *name;	 /* last component */
	int kind;		 /* enum cove_kind; links are not followed */
	int64_t size;		 /* bytes */
	int64_t mtime_ns;	 /* last change of the content, ns since 1970 */
	int64_t mode;		 /* permission bits, 0..07777 */
	bool writable;		 /* this environment may write to it */
	const char *link_target; /* of a link, else NULL */
};

/* Result of cove_file_exists(). */
struct cove_file_exists_result {
	bool exists;
};

/* Request of cove_file_list(). */
struct cove_file_list_opts {
	size_t size;	     /* set by COVE_OPTS */
	const char *path;    /* a directory; default "." */
	int64_t max_results; /* 1..100,000; default 1,000 */
	int64_t offset;	     /* entries to skip, ≥ 0 */
	bool include_hidden; /* names that begin with a dot too */
};

/* Result of cove_file_list(). */
struct cove_file_list_result {
	const struct cove_file_entry *entries; /* children in byte order of their names */
	size_t entry_count;		       /* entries */
	bool has_more;			       /* more follow after these */
	int64_t skipped_names;		       /* names in the directory that are not UTF-8 */
};

/* Request of cove_file_read_text(). */
struct cove_file_read_text_opts {
	size_t size;	     /* set by COVE_OPTS */
	const char *path;    /* required */
	int64_t line_offset; /* lines to skip, ≥ 0 */
	int64_t line_limit;  /* 1..1,000,000, default 200; -1: all, up to 16 MiB, none clipped */
	int64_t max_line_length; /* 1..1 MiB; default 2,000 bytes; longer lines are clipped */
	int invalid;		 /* enum cove_invalid */
};

/* Result of cove_file_read_text(). */
struct cove_file_read_text_result {
	struct cove_bytes text;		/* whole lines with their LF, at most 1 MiB a page */
	int64_t lines_read;		/* lines in text */
	bool has_more;			/* the file goes on after them */
	const int64_t *truncated_lines; /* one-based numbers of the clipped lines */
	size_t truncated_line_count;	/* entries */
	int64_t size;			/* of the file, bytes */
};

/* Request of cove_file_read_bytes(). */
struct cove_file_read_bytes_opts {
	size_t size;	  /* set by COVE_OPTS */
	const char *path; /* required */
	int64_t offset;	  /* ≥ 0 */
	int64_t length;	  /* 1..64 MiB; default: to the end, at most 64 MiB away */
};

/* Result of cove_file_read_bytes(). */
struct cove_file_read_bytes_result {
	struct cove_bytes data; /* fewer than asked only at the end */
	int64_t offset;		/* of the first byte */
	int64_t size;		/* of the file, bytes */
	bool eof;		/* data reaches the end */
};

/* Request of cove_file_read_lines(). */
struct cove_file_read_lines_opts {
	size_t size;	   /* set by COVE_OPTS */
	const char *path;  /* required */
	int64_t max_lines; /* 1..1,000,000; default: all */
};

/* Result of cove_file_read_lines(). */
struct cove_file_read_lines_result {
	const char *const *lines; /* without their LF; NULL at the end */
};

/* Request of cove_file_write_text() and cove_file_write_bytes(). */
struct cove_file_write_opts {
	size_t size;		/* set by COVE_OPTS */
	const char *path;	/* required */
	struct cove_bytes data; /* at most 64 MiB; of write_text: UTF-8 without NUL */
	int mode;		/* enum cove_write_mode; required */
	int parents;		/* make missing directories: 0 default (yes), 1 yes, COVE_ZERO no */
	bool durable;		/* flush file and directory to the disk before returning */
	bool in_place;		/* write into the present file: keeps hard links, not atomic */
	int64_t file_mode; /* permission bits of a new file, 1..0777; default 0666 less umask */
};

/* Result of a write. */
struct cove_file_write_result {
	int64_t bytes_written;	  /* of data */
	bool created;		  /* it did not exist before */
	const char *operation_id; /* receipt */
};

/* One replacement of cove_file_edit_text(). */
struct cove_edit {
	struct cove_bytes old_text; /* required, not empty; "old" in JSON */
	struct cove_bytes new_text; /* required, may be of length 0; "new" in JSON */
	int64_t count;		    /* how often old_text must occur; default 1 */
};

/* Request of cove_file_edit_text(). */
struct cove_file_edit_text_opts {
	size_t size;		       /* set by COVE_OPTS */
	const char *path;	       /* required */
	const struct cove_edit *edits; /* 1..10,000 of them */
	size_t edit_count;	       /* entries */
};

/* Result of cove_file_edit_text(). */
struct cove_file_edit_text_result {
	int64_t edits_applied;	  /* all of them */
	int64_t bytes_written;	  /* size of the file now */
	const char *operation_id; /* receipt */
};

/* Request of cove_file_patch_text(). */
struct cove_file_patch_text_opts {
	size_t size;	  /* set by COVE_OPTS */
	const char *path; /* required; a file, or the directory that the diff is relative to */
	struct cove_bytes patch; /* required; a unified diff of at most 16 MiB */
};

/* What a patch did to a file. */
enum cove_patch_status {
	COVE_PATCHED_ADDED = 1,
	COVE_PATCHED_MODIFIED,
	COVE_PATCHED_DELETED,
	COVE_PATCHED_RENAMED, /* and perhaps modified */
	COVE_PATCHED_COPIED,  /* the same */
};

/* One file of a patch. */
struct cove_patched {
	const char *path; /* where it is now, or was */
	int status;	  /* enum cove_patch_status */
};

/* Result of cove_file_patch_text(). */
struct cove_file_patch_text_result {
	int64_t hunks_applied;		  /* all of them */
	const struct cove_patched *files; /* in the order of the diff */
	size_t file_count;		  /* entries */
	const char *operation_id;	  /* receipt */
};

/* Which ignore files a walk obeys. */
enum cove_ignore {
	COVE_IGNORE_NONE = 1, /* (default) */
	COVE_IGNORE_GIT, /* .gitignore, up to the repository's root, and its .git/info/exclude */
};

/* Request of cove_file_query(). */
struct cove_file_query_opts {
	size_t size;	     /* set by COVE_OPTS */
	const char *root;    /* a directory; default "." */
	const char *pattern; /* required; the language is described at cove_file_query() */
	int64_t max_results; /* 1..100,000; default 1,000 */
	bool no_recurse;     /* children of root only */
	bool include_hidden; /* names that begin with a dot too */
	int ignore;	     /* enum cove_ignore */
	const char *const
		*kinds;	   /* of file, directory, symlink, other; NULL at the end; default all */
	int64_t offset;	   /* entries to skip, ≥ 0 */
	const char *after; /* the path of an entry: only what comes behind it */
	bool names_only;   /* leave size and mtime_ns 0, which is faster */
};

/* One entry of cove_file_query(). */
struct cove_file_found {
	const char *path; /* as results give paths */
	int kind;	  /* enum cove_kind; links are not followed */
	int64_t size;	  /* bytes */
	int64_t mtime_ns; /* last change of the content, ns since 1970 */
};

/* Result of cove_file_query(). */
struct cove_file_query_result {
	const struct cove_file_found *entries; /* depth first, names in byte order */
	size_t entry_count;		       /* entries */
	bool has_more;			       /* more follow after these */
	int64_t hidden_count;  /* entries left out because they are hidden or ignored */
	int64_t skipped_count; /* directories that can't be read, and names that are not UTF-8 */
};

/* Request of cove_file_search_text(). */
struct cove_file_search_text_opts {
	/* set by COVE_OPTS */
	size_t size;
	/* a directory, or a file, which is searched whatever its name; default "." */
	const char *root;
	/* required; not empty, at most 16 KiB, without LF */
	const char *pattern;
	/* a regular expression (PCRE2's) instead of a text */
	bool regex;
	/* upper and lower case are the same, in all of Unicode */
	bool ignore_case;
	/* which files, in the language of cove_file_query(); default all */
	const char *include;
	/* enum cove_ignore */
	int ignore;
	/* names that begin with a dot too */
	bool include_hidden;
	/* 0..20 lines before and after each match; default 0 */
	int64_t context;
	/* 1..100,000; default 1,000 */
	int64_t max_matches;
	/* matches to skip, ≥ 0 */
	int64_t offset;
	/* ≥ 1; default no limit */
	int64_t max_matches_per_file;
	/* ≥ 1; a search that comes to more files fails; default no limit */
	int64_t max_files;
	/* larger files are skipped; default 64 MiB */
	int64_t max_file_bytes;
	/* 1..1 MiB; default 2,000 bytes; longer lines are clipped */
	int64_t max_line_length;
	/* the path of a match: only what comes behind it; cheaper than offset */
	const char *after_path;
	/* and its line: the rest of that file too; 0: only what comes behind the file */
	int64_t after_line;
};

/* One line that matches. */
struct cove_match {
	const char *path;	   /* as results give paths */
	int64_t line;		   /* one-based */
	struct cove_bytes text;	   /* without its LF; U+FFFD where it is not UTF-8 */
	bool truncated;		   /* text was clipped */
	int64_t match_at;	   /* where in text the first match begins, bytes; not in JSON */
	int64_t match_len;	   /* 0: it is not in text; not in JSON */
	int64_t context_start;	   /* line number of the first line of context */
	struct cove_bytes context; /* the line with those around it; data NULL: not asked for */
};

/* Result of cove_file_search_text(). */
struct cove_file_search_text_result {
	const struct cove_match *matches; /* in the order of a query, then of lines */
	size_t match_count;		  /* entries; a page ends early at 2 MiB */
	bool has_more;			  /* more follow after these */
	int64_t files_searched;		  /* as far as the search went */
	int64_t files_skipped; /* binary, too large, with an endless line, or not readable */
	int64_t hidden_count;  /* entries left out because they are hidden or ignored */
};

/* Request of cove_file_mkdir(). */
struct cove_file_mkdir_opts {
	size_t size;	  /* set by COVE_OPTS */
	const char *path; /* required */
	bool parents;	  /* make missing parents too */
	bool exist_ok;	  /* an existing directory is fine */
};

/* Result of cove_file_mkdir(). */
struct cove_file_mkdir_result {
	bool created;		  /* false: it was there (exist_ok) */
	const char *operation_id; /* receipt */
};

/* Request of cove_file_remove(). */
struct cove_file_remove_opts {
	size_t size;	  /* set by COVE_OPTS */
	const char *path; /* required; a link is removed itself, never its target */
	bool recursive;	  /* a directory with all that is in it */
	bool missing_ok;  /* nothing there is fine */
};

/* Result of cove_file_remove(). */
struct cove_file_remove_result {
	int64_t removed_entries;  /* entries, the named one included */
	const char *operation_id; /* receipt */
};

/* Request of cove_file_copy() and cove_file_move(). */
struct cove_file_transfer_opts {
	size_t size;		 /* set by COVE_OPTS */
	const char *source;	 /* required; a link is copied or moved itself */
	const char *destination; /* required; the new path, not a directory to put it in */
	bool replace;		 /* in place of a file, a link or an empty directory */
};

/* Result of cove_file_copy(). */
struct cove_file_copy_result {
	int64_t bytes_copied;	  /* sizes of the files */
	int64_t entries_copied;	  /* entries, the named one included */
	const char *operation_id; /* receipt */
};

/* Result of cove_file_move(). */
struct cove_file_move_result {
	const char *operation_id; /* receipt */
};

/* Request of cove_file_truncate(). */
struct cove_file_truncate_opts {
	size_t size;	    /* set by COVE_OPTS */
	const char *path;   /* required */
	int64_t size_bytes; /* required, "size" in JSON; COVE_ZERO: none */
};

/* Result of cove_file_truncate(). */
struct cove_file_truncate_result {
	const char *operation_id; /* receipt */
};

/* What cove_file_make_temp() makes. */
enum cove_temp {
	COVE_TEMP_FILE = 1,
	COVE_TEMP_DIRECTORY,
};

/* Request of cove_file_make_temp(). */
struct cove_file_make_temp_opts {
	size_t size;	    /* set by COVE_OPTS */
	int kind;	    /* enum cove_temp; default a file */
	const char *prefix; /* begins its name, no slash; default "tmp-" */
	const char *suffix; /* ends its name, no slash */
};

/* Result of cove_file_canonical(), cove_file_absolute() and cove_file_make_temp(). */
struct cove_file_path_result {
	const char *path;
};

/*
 * Errors of every operation in this header, besides those listed with it: `invalid_argument` (which
 * field, why), `permission_denied` (outside the allowed roots, or refused by the kernel),
 * `not_found`, `not_directory` (a component is no directory), and the errors of every operation
 * (see process.h).
 */

/**
 * Tells what is at a path, without following a final link.
 *
 * @param env environment; prepared if need be.
 * @param opts see struct cove_file_path_opts.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or the errors above.
 * Threads: any. @since 0.1
 */
COVE_API int cove_file_stat(struct cove_env *env, const struct cove_file_path_opts *opts,
			    struct cove_file_entry **ret_result, struct cove_error *err);

/**
 * Tells whether something is at a path; a dangling link counts as something.
 *
 * Only `not_found` gives false: every other error is an error.
 *
 * @param env environment; prepared if need be.
 * @param opts see struct cove_file_path_opts.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or the errors above but COVE_E_NOT_FOUND.
 * Threads: any. @since 0.1
 */
COVE_API int cove_file_exists(struct cove_env *env, const struct cove_file_path_opts *opts,
			      struct cove_file_exists_result **ret_result, struct cove_error *err);

/**
 * Lists the children of a directory in byte order of their names.
 *
 * An entry that vanishes meanwhile is left out.
 *
 * @param env environment; prepared if need be.
 * @param opts see struct cove_file_list_opts.
 * @param ret_result set on success; free with cove_file_list_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_NOT_DIRECTORY (it is a file), or the errors above.
 * Threads: any. @since 0.1
 */
COVE_API int cove_file_list(struct cove_env *env, const struct cove_file_list_opts *opts,
			    struct cove_file_list_result **ret_result, struct cove_error *err);

/**
 * Finds entries below a directory by a pattern, depth first, names in byte order.
 *
 * In a pattern `*`, `?` and `[abc]`, `[a-z]`, `[!abc]` don't match a slash; `**`, only as a whole
 * segment, matches any number of directories, at the end at least one name; `{a,b}` stands for
 * alternatives. A pattern without a slash matches the last component at any depth, any other the
 * whole path below the root; a leading slash says so for a pattern that has no other. A hidden or
 * ignored entry whose name the pattern spells literally is found, and so is a hidden one if the
 * pattern spells the dot. Links are not followed.
 *
 * @param env environment; prepared if need be.
 * @param opts see struct cove_file_query_opts.
 * @param ret_result set on success; free with cove_file_query_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_INVALID_ARGUMENT (the pattern: where and why), COVE_E_NOT_DIRECTORY (root
 *	is none), COVE_E_TOO_LARGE (an ignore file above 1 MiB), or the errors above.
 * Threads: any. @since 0.1
 */
COVE_API int cove_file_query(struct cove_env *env, const struct cove_file_query_opts *opts,
			     struct cove_file_query_result **ret_result, struct cove_error *err);

/**
 * Finds lines of text files.
 *
 * A file with a NUL in it is binary and skipped. LF ends a line; a CR before it belongs to it. `$`
 * matches before an LF only. A byte order mark is no part of the first line. A line that matches is
 * one result, however often it does. Work is spread over the processors; the order of results is
 * that of the paths all the same.
 *
 * @param env environment; prepared if need be.
 * @param opts see struct cove_file_search_text_opts.
 * @param ret_result set on success; free with cove_file_search_text_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_INVALID_ARGUMENT (the pattern: where and why; a root that is neither file
 *	nor directory), COVE_E_TOO_LARGE (more than max_files; an expression that is too large or
 *	takes too long), or the errors above.
 * Threads: any. @since 0.1
 */
COVE_API int cove_file_search_text(struct cove_env *env,
				   const struct cove_file_search_text_opts *opts,
				   struct cove_file_search_text_result **ret_result,
				   struct cove_error *err);

/**
 * Reads a page of lines of a UTF-8 text file.
 *
 * LF ends a line and CR is kept. A page is at most 1 MiB and makes progress by at least one line;
 * past the end it is empty.
 *
 * @param env environment; prepared if need be.
 * @param opts see struct cove_file_read_text_opts.
 * @param ret_result set on success; free with cove_file_read_text_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_NOT_SUPPORTED (NUL or bytes that are not UTF-8 in the page: read bytes
 * instead), COVE_E_TOO_LARGE (line_limit -1 and more than 16 MiB), COVE_E_IS_DIRECTORY, or the
 * errors above.
 * Threads: any. @since 0.1
 */
COVE_API int cove_file_read_text(struct cove_env *env, const struct cove_file_read_text_opts *opts,
				 struct cove_file_read_text_result **ret_result,
				 struct cove_error *err);

/**
 * Reads bytes of a file from an offset on.
 *
 * Files whose size is said to be 0, as below /proc, are read to their end.
 *
 * @param env environment; prepared if need be.
 * @param opts see struct cove_file_read_bytes_opts.
 * @param ret_result set on success; free with cove_file_read_bytes_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_TOO_LARGE (more than 64 MiB to the end and no length), COVE_E_IS_DIRECTORY,
 * or the errors above.
 * Threads: any. @since 0.1
 */
COVE_API int cove_file_read_bytes(struct cove_env *env,
				  const struct cove_file_read_bytes_opts *opts,
				  struct cove_file_read_bytes_result **ret_result,
				  struct cove_error *err);

/**
 * Reads the lines of a UTF-8 text file, without LF but with CR; stops reading at the limit.
 *
 * @param env environment; prepared if need be.
 * @param opts see struct cove_file_read_lines_opts.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_NOT_SUPPORTED (NUL or bytes that are not UTF-8 in these lines),
 * COVE_E_TOO_LARGE (more than a result of 16 MiB holds), COVE_E_IS_DIRECTORY, or the errors above.
 * Threads: any. @since 0.1
 */
COVE_API int cove_file_read_lines(struct cove_env *env,
				  const struct cove_file_read_lines_opts *opts,
				  struct cove_file_read_lines_result **ret_result,
				  struct cove_error *err);

/**
 * Writes UTF-8 text to a file, whole or not at all.
 *
 * Mode bits and, where possible, the owner of a replaced file are kept. A link is written through
 * to its target where that lies inside the allowed roots.
 *
 * @param env environment; prepared if need be.
 * @param opts see struct cove_file_write_opts.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_ALREADY_EXISTS (create), COVE_E_NOT_FOUND (replace), COVE_E_IS_DIRECTORY,
 * COVE_E_READ_ONLY, COVE_E_QUOTA_EXCEEDED (no room: the old content is intact), or the errors
 * above.
 * Threads: any. @since 0.1
 */
COVE_API int cove_file_write_text(struct cove_env *env, const struct cove_file_write_opts *opts,
				  struct cove_file_write_result **ret_result,
				  struct cove_error *err);

/**
 * Writes bytes to a file, whole or not at all; otherwise as cove_file_write_text().
 *
 * @param env environment; prepared if need be.
 * @param opts see struct cove_file_write_opts.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or the errors of cove_file_write_text().
 * Threads: any. @since 0.1
 */
COVE_API int cove_file_write_bytes(struct cove_env *env, const struct cove_file_write_opts *opts,
				   struct cove_file_write_result **ret_result,
				   struct cove_error *err);

/**
 * Replaces exact pieces of a text file of at most 64 MiB: all of them, or none.
 *
 * Edits are carried out in order, each on what the one before left. A piece must occur exactly
 * `count` times, overlaps counted, and is replaced at each place. One that is written with LF
 * matches CRLF too, and new lines get the ending of their neighbours; all other bytes stay as they
 * are, a byte order mark included. Mode bits and, where possible, the owner are kept.
 *
 * @param env environment; prepared if need be.
 * @param opts see struct cove_file_edit_text_opts.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure: edit_index and occurrences say which edit failed and how
 * often its text was found, the reason on which lines.
 * @return 0, or COVE_E_EDIT_NOT_FOUND (it occurs less often), COVE_E_EDIT_AMBIGUOUS (more often),
 * COVE_E_CONFLICT (somebody else changed the file meanwhile), COVE_E_TOO_LARGE,
 * COVE_E_IS_DIRECTORY, or the errors of cove_file_write_text().
 * Threads: any. @since 0.1
 */
COVE_API int cove_file_edit_text(struct cove_env *env, const struct cove_file_edit_text_opts *opts,
				 struct cove_file_edit_text_result **ret_result,
				 struct cove_error *err);

/**
 * Carries a unified diff out: all of it, or nothing.
 *
 * With a file as path the diff is of that file, whatever name it gives; with a directory its names,
 * without a/ and b/, are below that. Context must be exact. A hunk goes to the matching place that
 * is nearest to the line it states, and nowhere if two are equally near. A diff without CR matches
 * lines that end in CRLF, and added lines take their neighbours' ending. Diffs of `diff -u` and of
 * `git diff` are taken, with files added, deleted, renamed, copied, and their x bits; at most 128
 * files of at most 64 MiB each.
 *
 * @param env environment; prepared if need be.
 * @param opts see struct cove_file_patch_text_opts.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure: path and edit_index say which file and which hunk of it.
 * @return 0, or COVE_E_CONFLICT (a hunk does not match, or somebody else changed a file meanwhile),
 * COVE_E_ALREADY_EXISTS (a file that is to be added), COVE_E_NOT_SUPPORTED (binary files, links),
 * COVE_E_TOO_LARGE, or the errors of cove_file_write_text().
 * Threads: any. @since 0.1
 */
COVE_API int cove_file_patch_text(struct cove_env *env,
				  const struct cove_file_patch_text_opts *opts,
				  struct cove_file_patch_text_result **ret_result,
				  struct cove_error *err);

/**
 * Makes a directory.
 *
 * @param env environment; prepared if need be.
 * @param opts see struct cove_file_mkdir_opts.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_ALREADY_EXISTS, or the errors above.
 * Threads: any. @since 0.1
 */
COVE_API int cove_file_mkdir(struct cove_env *env, const struct cove_file_mkdir_opts *opts,
			     struct cove_file_mkdir_result **ret_result, struct cove_error *err);

/**
 * Removes a file, a link, or a directory.
 *
 * @param env environment; prepared if need be.
 * @param opts see struct cove_file_remove_opts.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_NOT_EMPTY (without recursive), or the errors above.
 * Threads: any. @since 0.1
 */
COVE_API int cove_file_remove(struct cove_env *env, const struct cove_file_remove_opts *opts,
			      struct cove_file_remove_result **ret_result, struct cove_error *err);

/**
 * Copies a file, a link itself, or a directory with all that is in it.
 *
 * Modes, times and holes are kept; the copy is ours. Sockets and devices below a directory are left
 * out. The copy appears as a whole, or, after a failure or cancellation, not at all.
 *
 * @param env environment; prepared if need be.
 * @param opts see struct cove_file_transfer_opts.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_ALREADY_EXISTS (the destination, without replace), COVE_E_CONFLICT (somebody made
 * it meanwhile), COVE_E_NOT_EMPTY, COVE_E_IS_DIRECTORY or COVE_E_NOT_DIRECTORY (with replace: what
 * can't take the other's place), COVE_E_QUOTA_EXCEEDED, COVE_E_READ_ONLY, or the errors above.
 * Threads: any. @since 0.1
 */
COVE_API int cove_file_copy(struct cove_env *env, const struct cove_file_transfer_opts *opts,
			    struct cove_file_copy_result **ret_result, struct cove_error *err);

/**
 * Gives a file, a link itself, or a directory another path, in one step.
 *
 * @param env environment; prepared if need be.
 * @param opts see struct cove_file_transfer_opts.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_NOT_SUPPORTED (between file systems), COVE_E_CONFLICT (somebody made the
 * destination meanwhile; both are intact), or the errors of cove_file_copy().
 * Threads: any. @since 0.1
 */
COVE_API int cove_file_move(struct cove_env *env, const struct cove_file_transfer_opts *opts,
			    struct cove_file_move_result **ret_result, struct cove_error *err);

/**
 * Cuts a file to a size, or fills it up with zeros.
 *
 * @param env environment; prepared if need be.
 * @param opts see struct cove_file_truncate_opts.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_IS_DIRECTORY, COVE_E_READ_ONLY, COVE_E_QUOTA_EXCEEDED, or the errors above.
 * Threads: any. @since 0.1
 */
COVE_API int cove_file_truncate(struct cove_env *env, const struct cove_file_truncate_opts *opts,
				struct cove_file_truncate_result **ret_result,
				struct cove_error *err);

/**
 * Flushes a file, or a directory's names, to the disk.
 *
 * @param env environment; prepared if need be.
 * @param opts see struct cove_file_path_opts.
 * @param err NULL, or filled on failure.
 * @return 0, or the errors above.
 * Threads: any. @since 0.1
 */
COVE_API int cove_file_sync(struct cove_env *env, const struct cove_file_path_opts *opts,
			    struct cove_error *err);

/**
 * Makes a fresh, private, empty file or directory in the environment's scratch directory.
 *
 * It goes away with the environment.
 *
 * @param env environment; prepared if need be.
 * @param opts see struct cove_file_make_temp_opts.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_NOT_SUPPORTED (there is no scratch directory), or the errors above.
 * Threads: any. @since 0.1
 */
COVE_API int cove_file_make_temp(struct cove_env *env, const struct cove_file_make_temp_opts *opts,
				 struct cove_file_path_result **ret_result, struct cove_error *err);

/**
 * Gives the absolute path behind all links.
 *
 * @param env environment; prepared if need be.
 * @param opts see struct cove_file_path_opts.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or the errors above.
 * Threads: any. @since 0.1
 */
COVE_API int cove_file_canonical(struct cove_env *env, const struct cove_file_path_opts *opts,
				 struct cove_file_path_result **ret_result, struct cove_error *err);

/**
 * Gives the absolute form of a path by its letters alone; looks at no file.
 *
 * @param env environment; prepared if need be.
 * @param opts see struct cove_file_path_opts.
 * @param ret_result set on success; free with cove_result_free().
 * @param err NULL, or filled on failure.
 * @return 0, or COVE_E_INVALID_ARGUMENT.
 * Threads: any. @since 0.1
 */
COVE_API int cove_file_absolute(struct cove_env *env, const struct cove_file_path_opts *opts,
				struct cove_file_path_result **ret_result, struct cove_error *err);

/**
 * Frees a result of cove_file_query().
 *
 * @param result NULL does nothing.
 */
COVE_API void cove_file_query_result_free(struct cove_file_query_result *result);

/**
 * Frees a result of cove_file_search_text().
 *
 * @param result NULL does nothing.
 */
COVE_API void cove_file_search_text_result_free(struct cove_file_search_text_result *result);

/**
 * Frees a result of cove_file_list().
 *
 * @param result NULL does nothing.
 */
COVE_API void cove_file_list_result_free(struct cove_file_list_result *result);

/**
 * Frees a result of cove_file_read_text().
 *
 * @param result NULL does nothing.
 */
COVE_API void cove_file_read_text_result_free(struct cove_file_read_text_result *result);

/**
 * Frees a result of cove_file_read_bytes().
 *
 * @param result NULL does nothing.
 */
COVE_API void cove_file_read_bytes_result_free(struct cove_file_read_bytes_result *result);

#ifdef __cplusplus
}
#endif
#endif
