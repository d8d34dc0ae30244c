/* SPDX-License-Identifier: Apache-2.0 */
/* The operation table: every operation, once. */
#ifndef CV_OPS_TABLE_H
#define CV_OPS_TABLE_H

#include "ops/field.h"

enum cv_facet {
	CV_FACET_FILES,
	CV_FACET_SHELL,
	CV_FACET_PROCESSES,
	CV_FACET_OUTPUTS,
	CV_FACET_PORTS,
	CV_FACET_STATE
};
enum cv_access {
	CV_ACCESS_READ,
	CV_ACCESS_WRITE,
	CV_ACCESS_EXECUTE
};

enum cv_op_flags {
	CV_OP_LONG = 1,		  /* carried out by a worker thread of the guest */
	CV_OP_MUTATES = 2,	  /* a lost answer is outcome_unknown */
	CV_OP_INTERNAL = 4,	  /* between host and guest only */
	CV_OP_ENDS_CANCELLED = 8, /* a cancelled call ends with a result that says so */
	CV_OP_STREAM_OUT = 16,	  /* gives bytes to a callback; not for JSON */
	CV_OP_STREAM_IN = 32,	  /* takes bytes of cove_call_write(); not for JSON */
};

enum cv_op_id {
#define CV_OPERATION(ID, name, facet, access, req, res, flags, doc) CV_OP_ID_##ID,
#include "ops/operations.def"
#undef CV_OPERATION
	CV_OP_COUNT,
};

struct cv_op {
	const char *name;
	const char *doc;
	const struct cv_struct *req;
	const struct cv_struct *res;
	enum cv_op_id id;
	enum cv_facet facet;
	enum cv_access access;
	unsigned flags;
};

extern const struct cv_op cv_operations[CV_OP_COUNT];

/* NULL for a name that is none. */
const struct cv_op *cv_op_find(const char *name);

/* The names of enum cv_facet, in its order. */
extern const char *const cv_facet_names[6];

/* What the guest of a sandbox builds before it serves; the host has checked it. */
struct cv_sandbox_plan {
	size_t size;
	const char *rootfs; /* NULL: the host's system directories */
	const char *lower;  /* the seed; NULL none */
	const char *upper;  /* where its overlay writes, or /workspace itself; NULL: the scratch */
	const char *work;   /* the overlay's own, on the same file system */
	const char *workspace; /* bound at /workspace; NULL none */
	const char *hostname;
	const struct cove_sandbox_mount *mounts;
	size_t mount_count;
	const char *const *masked;
	bool copy_seed; /* no overlay, a true copy */
	bool read_only; /* /workspace */
	bool keeping;	/* no command will run: it may read what even its owner may not */
	bool host_network;
	bool host_root; /* the user inside is the host's root outside */
	int64_t uid;
	int64_t scratch_bytes;
	int64_t processes; /* 0: no limit */
	const char *oom;   /* counts kills for want of memory; NULL: no limit of it */
};

/* Request of guest.setup. */
struct cv_guest_setup {
	size_t size;
	const char *provider;
	const char *namespace_id;
	const char *cwd;
	const char *home;
	const char *tmp_dir;		       /* made when first needed; NULL none */
	const char *shell;		       /* NULL: bash, else sh */
	const char *seed;		       /* copied into cwd before anything else; NULL none */
	const char *const *roots;	       /* empty: everything */
	const char *const *env;		       /* the environment's own variables */
	const char *const *isolation;	       /* as describe gives it */
	const char *text;		       /* the same */
	int64_t timeout_ms;		       /* of a command that gives none */
	const struct cv_sandbox_plan *sandbox; /* NULL: none */
	bool fresh;			       /* cwd was made for it, and holds the seed alone */
};

/* Checks a request against its row, beyond the ranges of single fields. */
int cv_op_check(const struct cv_op *op, const void *req, struct cove_error *err);

#endif
