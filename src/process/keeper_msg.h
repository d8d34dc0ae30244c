/* SPDX-License-Identifier: Apache-2.0 */
/* What guest and keeper say to each other, one datagram each, over a SOCK_SEQPACKET pair. */
#ifndef CV_PROCESS_KEEPER_MSG_H
#define CV_PROCESS_KEEPER_MSG_H

#include <stdint.h>

/* A command's payload up to this size comes with the message, a larger one in a memfd. */
#define CV_KEEPER_INLINE (48u << 10)

enum cv_keeper_kind {
	/* guest to keeper */
	CV_KEEPER_RUN =
		1, /* struct cv_keeper_run, strings; descriptors: stdin, stdout, stderr, cwd [, more] */
	CV_KEEPER_SIGNAL, /* struct cv_keeper_word: a signal for every process of the tree */
	CV_KEEPER_KILL,	  /* KILL the tree, again and again until none is left */
	CV_KEEPER_CLONE,  /* make a sibling */
	/* keeper to guest */
	CV_KEEPER_STARTED, /* exec has succeeded */
	CV_KEEPER_FAILED,  /* struct cv_keeper_failed: nothing runs */
	CV_KEEPER_LEADER,  /* struct cv_keeper_ended: the leader has ended */
	CV_KEEPER_CLEAN,   /* struct cv_keeper_ended: none is left */
	CV_KEEPER_READY, /* struct cv_keeper_word, after the tree is clean: 1 as it was born, 0 changed */
	CV_KEEPER_SIBLING, /* struct cv_keeper_word: its pid; descriptor: its socket */
};

/* What the leader was doing when it could not go on. */
enum cv_spawn_stage {
	CV_SPAWN_FORK = 1,
	CV_SPAWN_CWD,
	CV_SPAWN_SETUP,
	CV_SPAWN_EXEC
};

/* Strings follow: program path, argc arguments, envc variables, each with its NUL. */
struct cv_keeper_run {
	uint32_t kind;
	uint32_t argc;
	uint32_t envc;
	uint32_t len; /* bytes of the strings */
	uint32_t umask;
	uint32_t in_memfd; /* the strings are in the last descriptor instead */
	uint32_t script;   /* 1: descriptor 4 is the script, to be found as 9 */
	uint32_t tty;	   /* stdin is a terminal: it becomes the controlling one */
	uint32_t say_started;
	int64_t file_size_bytes; /* largest file it may write; 0: any */
};

struct cv_keeper_word {
	uint32_t kind;
	int32_t value;
};

struct cv_keeper_failed {
	uint32_t kind;
	int32_t stage;
	int32_t errnum;
};

struct cv_keeper_ended {
	uint32_t kind;
	int32_t status; /* as wait(2) gives it; of the leader */
	int32_t alive;	/* LEADER: descendants alive then */
	uint32_t clean; /* none is left: always in CLEAN; in LEADER, no CLEAN follows */
	int64_t user_us;
	int64_t system_us;
	int64_t max_rss_bytes;
};

#endif
