/* SPDX-License-Identifier: Apache-2.0 */
/* The framing: messages in any pieces, its limits, and the banner before the magic. */
#include "unit.h"

#include "wire/frame.h"

static struct cv_decoder decoder;
static struct cv_frame frame;
static const char *why;
static struct cv_buf stream; /* what the other side sent */

static void begin(bool want_magic)
{
	cv_decoder_init(&decoder, want_magic);
	stream = CV_BUF(64u << 20);
	why = NULL;
}

static void end_all(void)
{
	cv_decoder_done(&decoder);
	cv_buf_done(&stream);
}

/* Feeds up to max bytes of the stream, as one read() would. Gives how many. */
static size_t feed(size_t *at, size_t max)
{
	size_t room;
	char *p = cv_decoder_space(&decoder, &room);
	size_t n = CV_MIN(CV_MIN(room, max), stream.len - *at);

	if (!p || room < 16384)
		ck_abort_msg("no room");
	memcpy(p, stream.data + *at, n);
	cv_decoder_filled(&decoder, n);
	*at += n;
	return n;
}

/* Feeds all in pieces up to max until something comes: 1, -EPROTO, or 0 for nothing. */
static int next(size_t *at, size_t max)
{
	int rc;

	while ((rc = cv_decoder_next(&decoder, &frame, &why)) == 0)
		if (feed(at, max > 1 ? 1 + rng(max) : 1) == 0)
			return 0;
	return rc;
}

static void add_frame(int kind, int flags, int stream_no, uint64_t call, const void *data,
		      size_t len)
{
	unsigned char header[CV_FRAME_HEADER];

	cv_frame_header(header, &(struct cv_frame){.kind = (uint8_t)kind,
						   .flags = (uint8_t)flags,
						   .stream = (uint16_t)stream_no,
						   .call = call,
						   .len = len});
	cv_buf_add(&stream, header, sizeof(header));
	cv_buf_add(&stream, data, len);
}

struct message {
	int kind;
	int stream;
	uint64_t call;
	size_t at; /* of its bytes in the pool */
	size_t len;
};

#define POOL (3u << 20)
static char *pool;

static struct message random_message(size_t max)
{
	struct message m = {.kind = 1 + (int)rng(CV_FRAME_KINDS - 1),
			    .stream = (int)rng(65536),
			    .call = rng(UINT64_MAX),
			    .len = rng(4) ? rng(max / 8 + 1) : rng(max + 1)};

	m.at = rng(POOL - m.len + 1);
	return m;
}

/* Sends it in as many frames as it needs, and in some more. */
static void send_message(const struct message *m, size_t frame_max)
{
	size_t at = 0;

	do {
		size_t n = 1 + rng(frame_max);

		n = CV_MIN(n, m->len - at);
		add_frame(m->kind, at + n < m->len ? CV_FRAME_MORE : 0, m->stream, m->call,
			  pool + m->at + at, n);
		at += n;
	} while (at < m->len);
}

static void assert_message(const struct message *m)
{
	ck_assert_int_eq(frame.kind, m->kind);
	ck_assert_int_eq(frame.stream, m->stream);
	ck_assert_uint_eq(frame.call, m->call);
	ck_assert_uint_eq(frame.len, m->len);
	ck_assert_int_eq(frame.flags & CV_FRAME_MORE, 0);
	ck_assert(memcmp(frame.payload, pool + m->at, m->len) == 0);
}

static void exchange(size_t messages, size_t max, size_t frame_max, size_t piece)
{
	struct message list[200];
	size_t at = 0;

	ck_assert_uint_le(messages, CV_LEN(list));
	begin(false);
	for (size_t i = 0; i < messages; i++) {
		list[i] = random_message(max);
		send_message(&list[i], frame_max);
	}
	for (size_t i = 0; i < messages; i++) {
		ck_assert_int_eq(next(&at, piece), 1);
		assert_message(&list[i]);
	}
	ck_assert_int_eq(next(&at, piece), 0);
	ck_assert_uint_eq(at, stream.len);
	end_all();
}

START_TEST(messages_of_all_sizes_in_random_pieces)
{
	pool = malloc(POOL);
	rng_fill(pool, POOL);
	for (int i = 0; i < 4; i++)
		exchange(8, POOL, CV_FRAME_MAX, 1u << (10 + 3 * i));
	exchange(100, 100000, 5000, 20000);
	free(pool);
}
END_TEST

START_TEST(small_messages_byte_by_byte)
{
	pool = malloc(POOL);
	rng_fill(pool, POOL);
	exchange(200, 100, 200, 1);
	exchange(200, 60, 7, 1);
	exchange(200, 60, 7, 40);
	free(pool);
}
END_TEST

START_TEST(flags_of_the_first_and_the_last_frame_count)
{
	size_t at = 0;

	begin(false);
	add_frame(CV_FRAME_REQUEST, CV_FRAME_MORE | CV_FRAME_BODY, 0, 1, "a", 1);
	add_frame(CV_FRAME_REQUEST, CV_FRAME_MORE, 0, 1, "", 0);
	add_frame(CV_FRAME_REQUEST, CV_FRAME_STDIN, 0, 1, "b", 1);
	ck_assert_int_eq(next(&at, 1), 1);
	ck_assert_int_eq(frame.flags, CV_FRAME_BODY | CV_FRAME_STDIN);
	ck_assert_uint_eq(frame.len, 2);
	ck_assert_mem_eq(frame.payload, "ab", 2);
	end_all();
}
END_TEST

static void broken(const char *reason)
{
	size_t at = 0;
	int rc;

	while ((rc = next(&at, 100000)) == 1)
		;
	ck_assert_int_eq(rc, -EPROTO);
	ck_assert_str_eq(why, reason);
	end_all();
}

START_TEST(limits_of_a_frame)
{
	char *large = calloc(1, CV_FRAME_MAX + 1);
	size_t at = 0;

	begin(false);
	add_frame(CV_FRAME_DATA, 0, 0, 1, large, CV_FRAME_MAX);
	ck_assert_int_eq(next(&at, 1u << 20), 1);
	ck_assert_uint_eq(frame.len, CV_FRAME_MAX);
	end_all();
	begin(false);
	add_frame(CV_FRAME_DATA, 0, 0, 1, large, CV_FRAME_MAX + 1);
	broken("a frame is larger than 1 MiB");
	free(large);
	/* Its header is enough: what follows is not waited for. */
	begin(false);
	cv_buf_add(&stream, "\xFF\xFF\xFF\xFF\x05\0\0\0\1\0\0\0\0\0\0\0", CV_FRAME_HEADER);
	broken("a frame is larger than 1 MiB");
}
END_TEST

START_TEST(limits_of_a_message)
{
	char *large = calloc(1, CV_FRAME_MAX);
	size_t at = 0;

	for (int extra = 0; extra < 2; extra++) {
		begin(false);
		for (int i = 0; i < 16; i++)
			add_frame(CV_FRAME_RESULT, i < 15 || extra ? CV_FRAME_MORE : 0, 0, 1, large,
				  CV_FRAME_MAX);
		if (extra) {
			add_frame(CV_FRAME_RESULT, 0, 0, 1, "x", 1);
			broken("a message is larger than 16 MiB");
			continue;
		}
		ck_assert_int_eq(next(&at, 1u << 20), 1);
		ck_assert_uint_eq(frame.len, CV_MESSAGE_MAX);
		end_all();
	}
	free(large);
}
END_TEST

START_TEST(unknown_kinds)
{
	for (int kind = 0; kind < 256; kind++) {
		size_t at = 0;

		begin(false);
		add_frame(kind, 0, 0, 1, "x", 1);
		if (kind == 0 || kind >= CV_FRAME_KINDS) {
			broken("a frame has an unknown kind");
			continue;
		}
		ck_assert_int_eq(next(&at, 100), 1);
		end_all();
	}
}
END_TEST

START_TEST(nothing_comes_between_the_frames_of_a_message)
{
	static const struct cv_frame others[] = {
		{.kind = CV_FRAME_END, .stream = 2, .call = 3},
		{.kind = CV_FRAME_DATA, .stream = 1, .call = 3},
		{.kind = CV_FRAME_DATA, .stream = 2, .call = 5},
		{.kind = CV_FRAME_PING},
	};

	for (size_t i = 0; i < CV_LEN(others); i++) {
		begin(false);
		add_frame(CV_FRAME_DATA, CV_FRAME_MORE, 2, 3, "x", 1);
		add_frame(others[i].kind, 0, others[i].stream, others[i].call, "y", 1);
		broken("a frame came in the middle of another message");
	}
}
END_TEST

/* A banner of random bytes that hold no magic, parts of it included. */
static void add_banner(size_t len)
{
	size_t end = stream.len + len;

	while (stream.len < end) {
		size_t n = rng(3) ? 1 : CV_MIN(1 + rng(CV_MAGIC_LEN - 1), end - stream.len);
		char byte = (char)rng(256);

		n = CV_MIN(n, end - stream.len);
		cv_buf_add(&stream, n > 1 ? CV_MAGIC : &byte, n);
		if (stream.len >= CV_MAGIC_LEN &&
		    memcmp(stream.data + stream.len - CV_MAGIC_LEN, CV_MAGIC, CV_MAGIC_LEN) == 0)
			stream.data[stream.len - 1] = 'x';
	}
}

START_TEST(banners_are_skipped)
{
	for (int i = 0; i < 300; i++) {
		size_t len = i < 3 ? CV_BANNER_MAX - (size_t)i : rng(i % 10 ? 200 : CV_BANNER_MAX);
		size_t at = 0;

		begin(true);
		add_banner(len);
		if (len > 0 && stream.data[len - 1] == CV_MAGIC[0])
			stream.data[len - 1] = 'x';
		cv_buf_add(&stream, CV_MAGIC, CV_MAGIC_LEN);
		add_frame(CV_FRAME_HELLO, 0, 0, 0, "hello", 5);
		ck_assert_int_eq(next(&at, len < 200 && i % 2 ? 1 : 30000), 1);
		ck_assert_int_eq(frame.kind, CV_FRAME_HELLO);
		ck_assert_uint_eq(frame.len, 5);
		ck_assert_uint_eq(decoder.banner, len);
		end_all();
	}
}
END_TEST

START_TEST(banners_with_a_part_of_the_magic_before_it)
{
	for (size_t part = 1; part < CV_MAGIC_LEN; part++) {
		size_t at = 0;

		begin(true);
		cv_buf_add(&stream, CV_MAGIC, part);
		cv_buf_add(&stream, CV_MAGIC, CV_MAGIC_LEN);
		add_frame(CV_FRAME_HELLO, 0, 0, 0, "", 0);
		ck_assert_int_eq(next(&at, 1), 1);
		end_all();
	}
}
END_TEST

START_TEST(banners_without_end)
{
	size_t at = 0;

	begin(true);
	add_banner(CV_BANNER_MAX + 1);
	cv_buf_add(&stream, CV_MAGIC, CV_MAGIC_LEN);
	broken("no guest answers: more than 64 KiB came before its magic");
	begin(true);
	add_banner(CV_BANNER_MAX + CV_MAGIC_LEN);
	broken("no guest answers: more than 64 KiB came before its magic");
	/* A truncated magic is still awaited. */
	begin(true);
	cv_buf_add(&stream, CV_MAGIC, CV_MAGIC_LEN - 1);
	ck_assert_int_eq(next(&at, 1), 0);
	end_all();
}
END_TEST

START_TEST(memory_goes_when_large_messages_have_gone)
{
	char *large = calloc(1, CV_FRAME_MAX);
	size_t at = 0;

	begin(false);
	for (int i = 0; i < 8; i++)
		add_frame(CV_FRAME_DATA, i < 7 ? CV_FRAME_MORE : 0, 0, 1, large, CV_FRAME_MAX);
	ck_assert_int_eq(next(&at, 1u << 20), 1);
	ck_assert_int_eq(next(&at, 1u << 20), 0);
	ck_assert_uint_le(decoder.message.cap, CV_FRAME_MAX);
	free(large);
	end_all();
}
END_TEST

UNIT_MAIN("frame", messages_of_all_sizes_in_random_pieces, small_messages_byte_by_byte,
	  flags_of_the_first_and_the_last_frame_count, limits_of_a_frame, limits_of_a_message,
	  unknown_kinds, nothing_comes_between_the_frames_of_a_message, banners_are_skipped,
	  banners_with_a_part_of_the_magic_before_it, banners_without_end,
	  memory_goes_when_large_messages_have_gone)
