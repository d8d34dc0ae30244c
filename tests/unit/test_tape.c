/* SPDX-License-Identifier: Apache-2.0 */
/* Tapes filled through real pipes, against a model that keeps everything (OUT-2, OUT-3, OUT-7). */
#include "unit.h"

#include "base/fd.h"
#include "output/tape.h"

#include <cove/process.h>

#include <fcntl.h>

static struct cv_tape tape;
static int pipes[2];
static char *model; /* every byte that was written */
static size_t model_len;
static char *seen; /* every byte that the sink was given */
static size_t seen_len;

#define STREAM_MAX (3u << 20)

static void sink(void *user, const char *data, size_t len)
{
	ck_assert_ptr_eq(user, &tape);
	ck_assert_uint_le(seen_len + len, STREAM_MAX);
	memcpy(seen + seen_len, data, len);
	seen_len += len;
}

static void begin(int policy, int64_t retain, size_t head_keep)
{
	model = malloc(STREAM_MAX);
	seen = malloc(STREAM_MAX);
	model_len = seen_len = 0;
	ck_assert_int_eq(pipe2(pipes, O_CLOEXEC | O_NONBLOCK), 0);
	cv_tape_init(&tape, policy, retain, head_keep);
	tape.sink = sink;
	tape.sink_user = &tape;
}

static void end_all(void)
{
	cv_tape_done(&tape);
	close(pipes[0]);
	cv_close(&pipes[1]);
	free(model);
	free(seen);
}

/* Writes random bytes, at most what the pipe takes. */
static void produce(size_t len)
{
	ssize_t n;

	len = CV_MIN(len, STREAM_MAX - model_len);
	for (size_t i = 0; i < len; i += 8) {
		uint64_t word = rng(UINT64_MAX);

		memcpy(model + model_len + i, &word, CV_MIN(len - i, sizeof(word)));
	}
	n = write(pipes[1], model + model_len, len);
	model_len += n > 0 ? (size_t)n : 0;
}

/* The bytes from..to of the tape are those of the model. */
static void assert_kept(size_t from, size_t len)
{
	CV_FREE char *got = malloc(len + 1);

	got[len] = 'z';
	ck_assert_uint_eq(cv_tape_copy(&tape, (int64_t)from, got, len), len);
	ck_assert(memcmp(got, model + from, len) == 0);
	ck_assert_int_eq(got[len], 'z');
}

static void assert_head(size_t head_keep)
{
	char got[64];
	size_t n = cv_tape_head(&tape, got, sizeof(got));
	/* What was dropped before it could be saved is gone: as little as the ring keeps. */
	size_t least =
		CV_MIN(CV_MIN(model_len, sizeof(got)), CV_MIN(head_keep, (size_t)tape.retain));

	ck_assert(memcmp(got, model, n) == 0);
	if (tape.start == 0)
		ck_assert_uint_eq(n, CV_MIN(sizeof(got), (size_t)tape.end));
	else
		ck_assert_uint_ge(n, least);
	ck_assert_uint_le(cv_tape_head(&tape, got, 3), 3);
}

/* OUT-3: what was produced is kept, or was dropped at one end. */
static void assert_account(void)
{
	size_t kept = CV_MIN(model_len, (size_t)tape.retain);
	size_t from;

	ck_assert_int_eq(tape.produced, (int64_t)model_len);
	ck_assert_int_eq(cv_tape_kept(&tape), (int64_t)kept);
	if (tape.policy == COVE_POLICY_RING) {
		ck_assert_int_eq(tape.end, tape.produced);
		ck_assert_int_eq(tape.start, (int64_t)(model_len - kept));
	} else {
		ck_assert_int_eq(tape.start, 0);
		ck_assert_int_eq(tape.end, (int64_t)kept);
	}
	ck_assert_int_eq(tape.over, tape.policy == COVE_POLICY_FAIL && model_len > kept);
	from = (size_t)tape.start + rng(kept + 1);
	assert_kept(from, rng((size_t)tape.end - from + 1));
	ck_assert_uint_eq(cv_tape_copy(&tape, tape.end, seen, 100), 0);
}

static void run(int policy, int64_t retain, size_t head_keep, size_t total)
{
	begin(policy, retain, head_keep);
	while (model_len < total) {
		size_t before = model_len;
		ssize_t n;

		produce(1 + rng(rng(2) ? 100 : 70000));
		n = cv_tape_fill(&tape, pipes[0], STREAM_MAX);
		ck_assert_int_eq(n, (ssize_t)(model_len - before));
		assert_account();
		assert_head(head_keep);
	}
	assert_kept((size_t)tape.start, (size_t)cv_tape_kept(&tape));
	ck_assert_uint_eq(seen_len, model_len);
	ck_assert(memcmp(seen, model, model_len) == 0);
	ck_assert_int_eq(cv_tape_fill(&tape, pipes[0], 1), -EAGAIN);
	cv_close(&pipes[1]);
	ck_assert_int_eq(cv_tape_fill(&tape, pipes[0], 1), 0);
	end_all();
}

static const int64_t retains[] = {1,	 2,	 100,	 16320,	 16384,	 16385,	 65536,
				  81920, 262143, 262144, 262145, 600000, 1048576};

START_TEST(out_3_ring)
{
	for (size_t i = 0; i < CV_LEN(retains); i++)
		run(COVE_POLICY_RING, retains[i], i % 3 ? 40 : 0, 1500000);
	for (int i = 0; i < 10; i++)
		run(COVE_POLICY_RING, 1 + (int64_t)rng(1u << 20), rng(100), 1000000);
}
END_TEST

START_TEST(out_3_head)
{
	for (size_t i = 0; i < CV_LEN(retains); i++)
		run(COVE_POLICY_HEAD, retains[i], 0, 1200000);
}
END_TEST

START_TEST(out_3_fail)
{
	for (size_t i = 0; i < CV_LEN(retains); i++)
		run(COVE_POLICY_FAIL, retains[i], 0, 1200000);
}
END_TEST

START_TEST(out_3_fail_is_strict)
{
	begin(COVE_POLICY_FAIL, 100, 0);
	produce(100);
	ck_assert_int_eq(cv_tape_fill(&tape, pipes[0], 1000), 100);
	ck_assert(!tape.over);
	produce(1);
	ck_assert_int_eq(cv_tape_fill(&tape, pipes[0], 1000), 1);
	ck_assert(tape.over);
	end_all();
}
END_TEST

START_TEST(fill_reads_no_more_than_asked)
{
	begin(COVE_POLICY_RING, 1000, 0);
	produce(500);
	ck_assert_int_eq(cv_tape_fill(&tape, pipes[0], 0), 0);
	ck_assert_int_eq(cv_tape_fill(&tape, pipes[0], 3), 3);
	ck_assert_int_eq(tape.produced, 3);
	ck_assert_int_eq(cv_tape_fill(&tape, pipes[0], 496), 496);
	cv_close(&pipes[1]);
	/* What is left comes before the end. */
	ck_assert_int_eq(cv_tape_fill(&tape, pipes[0], 1000), 1);
	ck_assert_int_eq(cv_tape_fill(&tape, pipes[0], 1000), 0);
	ck_assert_int_eq(cv_tape_fill(&tape, -1, 1), -EBADF);
	end_all();
}
END_TEST

START_TEST(out_7_an_idle_tape_has_no_buffer)
{
	char byte;

	begin(COVE_POLICY_RING, 1 << 20, 100);
	ck_assert_ptr_null(tape.first);
	ck_assert_uint_eq(cv_tape_copy(&tape, 0, &byte, 1), 0);
	ck_assert_uint_eq(cv_tape_head(&tape, &byte, 1), 0);
	ck_assert_int_eq(cv_tape_kept(&tape), 0);
	end_all();
	cv_tape_done(&tape);
}
END_TEST

static size_t resident_bytes(void)
{
	char text[128] = "";
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

	ck_assert_int_gt(cv_read_full(fd, text, sizeof(text) - 1), 0);
	close(fd);
	return strtoul(strchr(text, ' '), NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

/*
 * 64 MiB through a ring of 1 MiB. Sanitizers keep freed memory, so that only plain builds count
 * it.
 */
START_TEST(out_7_memory_follows_what_is_retained)
{
	static char block[65536];
	size_t before;
	size_t most = 0;

	begin(COVE_POLICY_RING, 1 << 20, 30000);
	tape.sink = NULL;
	before = resident_bytes();
	for (int i = 0; i < 1024; i++) {
		ck_assert_int_eq(write(pipes[1], block, sizeof(block)), sizeof(block));
		ck_assert_int_eq(cv_tape_fill(&tape, pipes[0], SIZE_MAX), sizeof(block));
		most = CV_MAX(most, resident_bytes());
	}
	ck_assert_int_eq(tape.produced, 64 << 20);
	ck_assert_int_eq(cv_tape_kept(&tape), 1 << 20);
#ifndef COVE_SANITIZED
	ck_assert_uint_le(most - before, 2u << 20);
#else
	ck_assert_uint_le(before, most);
#endif
	end_all();
}
END_TEST

UNIT_MAIN("tape", out_3_ring, out_3_head, out_3_fail, out_3_fail_is_strict,
	  fill_reads_no_more_than_asked, out_7_an_idle_tape_has_no_buffer,
	  out_7_memory_follows_what_is_retained)
