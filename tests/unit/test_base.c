/* SPDX-License-Identifier: Apache-2.0 */
/* Small parts of base: UTF-8, paths, buffers, arenas, base64, descriptors, cancellation. */
#include "unit.h"

#include "base/arena.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/utf8.h"

#include <fcntl.h>
#include <poll.h>

static struct cove_error err;

/* The sequence of a code point; 0 for what is none. */
static int encode(uint32_t c, unsigned char dst[4])
{
	if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
		return 0;
	if (c < 0x80) {
		dst[0] = (unsigned char)c;
		return 1;
	}
	if (c < 0x800) {
		dst[0] = (unsigned char)(0xC0 | c >> 6);
		dst[1] = (unsigned char)(0x80 | (c & 0x3F));
		return 2;
	}
	if (c < 0x10000) {
		dst[0] = (unsigned char)(0xE0 | c >> 12);
		dst[1] = (unsigned char)(0x80 | (c >> 6 & 0x3F));
		dst[2] = (unsigned char)(0x80 | (c & 0x3F));
		return 3;
	}
	dst[0] = (unsigned char)(0xF0 | c >> 18);
	dst[1] = (unsigned char)(0x80 | (c >> 12 & 0x3F));
	dst[2] = (unsigned char)(0x80 | (c >> 6 & 0x3F));
	dst[3] = (unsigned char)(0x80 | (c & 0x3F));
	return 4;
}

/* Whether these are exactly the bytes that encoding gives for some code point. */
static bool is_sequence(const unsigned char *s, int n)
{
	static const unsigned char lead[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
	unsigned char again[4];
	uint32_t c = s[0] & lead[n];

	for (int i = 1; i < n; i++)
		c = c << 6 | (s[i] & 0x3F);
	return encode(c, again) == n && memcmp(s, again, (size_t)n) == 0;
}

/* Whether some sequence begins with these bytes. */
static bool begins(const unsigned char *s, int n)
{
	static const unsigned char further[] = {0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF};
	unsigned char longer[4];

	if (is_sequence(s, n))
		return true;
	if (n == 4 || (n > 1 && (s[n - 1] & 0xC0) != 0x80))
		return false;
	memcpy(longer, s, (size_t)n);
	for (size_t i = 0; i < CV_LEN(further); i++) {
		longer[n] = further[i];
		if (begins(longer, n + 1))
			return true;
	}
	return false;
}

static int model_step(const unsigned char *s, int len, bool *ret_short)
{
	int n = 1;

	*ret_short = false;
	for (int i = 1; i <= len; i++)
		if (is_sequence(s, i))
			return i;
	while (n < len && begins(s, n + 1))
		n++;
	*ret_short = n == len && begins(s, n);
	return -n;
}

static void check_step(const unsigned char *s, int len)
{
	bool want_short;
	bool is_short;
	int want = model_step(s, len, &want_short);
	int got = cv_utf8_step((const char *)s, (size_t)len, &is_short);
	bool rest = want == len || (want > 0 && want < len &&
				    cv_utf8_valid((const char *)s + want, (size_t)(len - want)));

	if (got != want || is_short != want_short ||
	    cv_utf8_valid((const char *)s, (size_t)len) != rest)
		ck_abort_msg("%d bytes %02X %02X %02X %02X: %d, not %d", len, s[0], s[1], s[2],
			     s[3], got, want);
}

START_TEST(utf8_every_code_point)
{
	unsigned char s[4];

	for (uint32_t c = 0; c <= 0x10FFFF; c++) {
		int n = encode(c, s);

		if (n > 0 && cv_utf8_step((char *)s, (size_t)n, NULL) != n)
			ck_abort_msg("U+%04X", c);
	}
}
END_TEST

START_TEST(utf8_every_one_and_two_bytes)
{
	for (int a = 0; a < 256; a++) {
		check_step((unsigned char[4]){(unsigned char)a}, 1);
		for (int b = 0; b < 256; b++)
			check_step((unsigned char[4]){(unsigned char)a, (unsigned char)b}, 2);
	}
}
END_TEST

/* Both sides of every boundary of table 3-7. */
START_TEST(utf8_boundaries_of_table_3_7)
{
	static const unsigned char edge[] = {0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF,
					     0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED,
					     0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF};

	for (size_t a = 0; a < CV_LEN(edge); a++)
		for (size_t b = 0; b < CV_LEN(edge); b++)
			for (size_t c = 0; c < 12; c++) {
				unsigned char s[4] = {edge[a], edge[b], edge[c]};

				check_step(s, 3);
				for (size_t d = 1; d < 9; d++) {
					s[3] = edge[d];
					check_step(s, 4);
				}
			}
}
END_TEST

START_TEST(utf8_cut_never_ends_inside_a_code_point)
{
	for (int i = 0; i < 5000; i++) {
		unsigned char s[12];
		size_t n = 0;
		size_t at;
		size_t cut;
		bool is_short;
		int step = 0;

		while (n + 4 <= sizeof(s))
			n += (size_t)encode(
				(uint32_t)rng(rng(2) ? 0x300 : 0xD800) * (rng(4) ? 1 : 20), s + n);
		if (rng(4) == 0)
			s[rng(n)] = (unsigned char)rng(256);
		at = rng(n + 1);
		cut = cv_utf8_cut((char *)s, at);
		ck_assert_uint_le(cut, at);
		ck_assert_uint_le(at - cut, 3);
		is_short = false;
		for (size_t k = 0; k < at; k += (size_t)abs(step)) {
			step = model_step(s + k, (int)CV_MIN(at - k, 4u), &is_short);
			if (is_short && k + (size_t)-step == at)
				at = k; /* what the cut must take away */
		}
		ck_assert_uint_eq(cut, at);
	}
}
END_TEST

START_TEST(utf8_clean_replaces_and_keeps_the_rest)
{
	char dst[400];
	char src[100];
	size_t n;

	n = cv_utf8_clean(dst, "a\xF0\x80\x80\xE2\x82z\xED\xA0\x80", 10);
	ck_assert_uint_eq(n, 2 + 3 * 7);
	for (int i = 0; i < 2000; i++) {
		size_t len = rng(sizeof(src));

		rng_fill(src, len);
		for (size_t k = 0; k < len; k++)
			src[k] = (char)(rng(3) ? src[k] & 0x7F : src[k]);
		n = cv_utf8_clean(dst, src, len);
		ck_assert_uint_eq(n, cv_utf8_clean_len(src, len));
		ck_assert(cv_utf8_valid(dst, n));
		if (cv_utf8_valid(src, len))
			ck_assert(n == len && memcmp(src, dst, n) == 0);
	}
}
END_TEST

static void normal(const char *path, const char *want)
{
	char copy[100];

	snprintf(copy, sizeof(copy), "%s", path);
	cv_path_normalise(copy);
	ck_assert_str_eq(copy, want);
}

START_TEST(path_normalise)
{
	normal("/", "/");
	normal("//", "/");
	normal("/.", "/");
	normal("/..", "/");
	normal("/../../a", "/a");
	normal("/a/", "/a");
	normal("//a///b//", "/a/b");
	normal("/a/./b/.", "/a/b");
	normal("/a/../b", "/b");
	normal("/a/b/../../c", "/c");
	normal("/a/b/..", "/a");
	normal("/ws/../ws-evil/x", "/ws-evil/x");
	normal("/...", "/...");
	normal("/..a/.b", "/..a/.b");
	normal("/a/b/c/../..//./d/", "/a/d");
}
END_TEST

static int expand(const char *path, const char *want)
{
	cv_path dst = "";
	int rc = cv_path_expand(path, "/work", "/home/u", "path", dst, &err);

	if (want)
		ck_assert_str_eq(dst, want);
	else
		ck_assert_str_eq(err.field, "path");
	return rc;
}

START_TEST(path_expand)
{
	ck_assert_int_eq(expand("a", "/work/a"), 0);
	ck_assert_int_eq(expand("/a", "/a"), 0);
	ck_assert_int_eq(expand("~", "/home/u"), 0);
	ck_assert_int_eq(expand("~/a", "/home/u/a"), 0);
	ck_assert_int_eq(expand("~a", "/work/~a"), 0);
	ck_assert_int_eq(expand("a/~", "/work/a/~"), 0);
	ck_assert_int_eq(expand("../x", "/work/../x"), 0);
	ck_assert_int_eq(expand("file:///a%20b", "/a b"), 0);
	ck_assert_int_eq(expand("FILE://localhost/a", "/a"), 0);
	ck_assert_int_eq(expand("file:///%2e%2e/%2E%2e/x", "/../../x"), 0);
	ck_assert_int_eq(expand("file:a", "/work/file:a"), 0);
	/* Only a URL is decoded. */
	ck_assert_int_eq(expand("%2e%2e/x", "/work/%2e%2e/x"), 0);
	ck_assert_int_eq(cv_path_expand("a", "/", "/", "p", (cv_path){0}, NULL), 0);
}
END_TEST

START_TEST(path_expand_refuses)
{
	char longest[CV_PATH_MAX + 2];

	ck_assert_int_eq(expand("", NULL), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(expand(NULL, NULL), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(expand("file://host/a", NULL), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(expand("file://localhost", NULL), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(expand("file:///a%", NULL), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(expand("file:///a%2", NULL), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(expand("file:///a%gg", NULL), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(expand("file:///a%00", NULL), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(expand("file:///a%FF", NULL), COVE_E_INVALID_ARGUMENT);
	ck_assert_int_eq(expand("a\xC0\xAF", NULL), COVE_E_INVALID_ARGUMENT);
	memset(longest, '/', sizeof(longest));
	longest[CV_PATH_MAX + 1] = '\0';
	ck_assert_int_eq(expand(longest, NULL), COVE_E_INVALID_ARGUMENT);
	longest[CV_PATH_MAX] = '\0';
	ck_assert_int_eq(expand(longest, longest), 0);
	longest[0] = 'a';
	ck_assert_int_eq(expand(longest, NULL), COVE_E_INVALID_ARGUMENT);
	longest[0] = '~';
	ck_assert_int_eq(expand(longest, NULL), COVE_E_INVALID_ARGUMENT);
}
END_TEST

START_TEST(case_46_below_is_not_a_prefix_of_letters)
{
	ck_assert(cv_path_below("/ws", "/ws"));
	ck_assert(cv_path_below("/ws/a", "/ws"));
	ck_assert(!cv_path_below("/ws-evil", "/ws"));
	ck_assert(!cv_path_below("/ws-evil/a", "/ws"));
	ck_assert(!cv_path_below("/w", "/ws"));
	ck_assert(!cv_path_below("/", "/ws"));
	ck_assert(cv_path_below("/anything", "/"));
	ck_assert(cv_path_below("/", "/"));
}
END_TEST

START_TEST(path_join_and_show)
{
	cv_path dst;
	char longest[CV_PATH_MAX + 1];

	ck_assert_int_eq(cv_path_join(dst, "/", "a"), 0);
	ck_assert_str_eq(dst, "/a");
	ck_assert_int_eq(cv_path_join(dst, "/a", "b"), 0);
	ck_assert_str_eq(dst, "/a/b");
	memset(longest, 'a', sizeof(longest));
	longest[CV_PATH_MAX] = '\0';
	ck_assert_int_eq(cv_path_join(dst, "/", longest), -ENAMETOOLONG);
	ck_assert_int_eq(cv_path_join(dst, "/", longest + 1), 0);
	ck_assert_str_eq(cv_path_show("/ws/a/b", "/ws"), "a/b");
	ck_assert_str_eq(cv_path_show("/ws", "/ws"), ".");
	ck_assert_str_eq(cv_path_show("/ws-evil/a", "/ws"), "/ws-evil/a");
	ck_assert_str_eq(cv_path_show("/a", "/"), "/a");
}
END_TEST

START_TEST(ids)
{
	char id[130];

	memset(id, 'a', sizeof(id));
	id[129] = '\0';
	ck_assert(!cv_id_valid(id));
	id[128] = '\0';
	ck_assert(cv_id_valid(id));
	ck_assert(cv_id_valid("0"));
	ck_assert(cv_id_valid("A-b_9"));
	ck_assert(!cv_id_valid(""));
	ck_assert(!cv_id_valid("-a"));
	ck_assert(!cv_id_valid("_a"));
	ck_assert(!cv_id_valid("a.b"));
	ck_assert(!cv_id_valid("a/b"));
	ck_assert(!cv_id_valid("a b"));
	ck_assert(!cv_id_valid("\xC3\xA9"));
	ck_assert(!cv_id_valid("a\n"));
}
END_TEST

START_TEST(buf_never_exceeds_its_maximum)
{
	struct cv_buf b = CV_BUF(100);
	char bytes[101] = "";

	ck_assert_int_eq(cv_buf_add(&b, bytes, 101), -EMSGSIZE);
	ck_assert_ptr_null(b.data);
	ck_assert_int_eq(cv_buf_add(&b, bytes, 60), 0);
	ck_assert_int_eq(cv_buf_add(&b, bytes, 41), -EMSGSIZE);
	ck_assert_int_eq(cv_buf_addf(&b, "%41d", 1), -EMSGSIZE);
	ck_assert_int_eq(cv_buf_reserve(&b, SIZE_MAX), -EMSGSIZE);
	ck_assert_int_eq(cv_buf_reserve(&b, SIZE_MAX - 59), -EMSGSIZE);
	ck_assert_uint_eq(b.len, 60);
	ck_assert_int_eq(cv_buf_add(&b, bytes, 40), 0);
	ck_assert_int_eq(cv_buf_add(&b, bytes, 1), -EMSGSIZE);
	ck_assert_int_eq(cv_buf_add(&b, NULL, 0), 0);
	cv_buf_done(&b);
	ck_assert_uint_eq(b.max, 100);
	ck_assert_uint_eq(b.len, 0);
	ck_assert_int_eq(cv_buf_adds(&b, "again"), 0);
	cv_buf_done(&b);
}
END_TEST

START_TEST(buf_as_a_string)
{
	struct cv_buf b = CV_BUF(1u << 20);
	size_t len = 0;

	ck_assert_int_eq(cv_buf_adds(&b, ""), 0);
	ck_assert_str_eq(b.data, "");
	for (int i = 0; i < 2000; i++) {
		char text[16];
		int n = snprintf(text, sizeof(text), "%d,", i);

		ck_assert_int_eq(i % 2 ? cv_buf_adds(&b, text) : cv_buf_addf(&b, "%d,", i), 0);
		len += (size_t)n;
		ck_assert_uint_eq(b.len, len);
		ck_assert_int_eq(b.data[len], '\0');
		ck_assert_str_eq(b.data + len - (size_t)n, text);
	}
	cv_buf_consume(&b, 4);
	ck_assert_int_eq(strncmp(b.data, "2,3,", 4), 0);
	cv_buf_consume(&b, 0);
	cv_buf_consume(&b, b.len);
	ck_assert_str_eq(b.data, "");
	cv_buf_done(&b);
}
END_TEST

static char trail[8];

static void leave_trail(void *p)
{
	size_t n = strlen(trail);

	trail[n] = *(const char *)p;
	trail[n + 1] = '\0';
}

START_TEST(arena)
{
	static char names[] = "abc";
	char *first = NULL;
	void *any = NULL;
	struct cv_arena *a = cv_arena_new(100, &any);

	first = any;
	ck_assert_ptr_eq(cv_arena_of(first), a);
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(first[i], 0);
	for (size_t size = 0; size < 5000; size += 1 + rng(97)) {
		unsigned char *p = cv_arena_alloc(a, size);

		ck_assert_uint_eq((uintptr_t)p % 16, 0);
		ck_assert(size == 0 || (p[0] == 0 && memcmp(p, p + 1, size - 1) == 0));
		memset(p, 0xAA, size);
	}
	ck_assert_ptr_null(cv_arena_alloc(a, SIZE_MAX));
	ck_assert_ptr_null(cv_arena_array(a, SIZE_MAX / 4, 16));
	ck_assert_str_eq(cv_arena_dup(a, "xyz", 2), "xy");
	ck_assert_str_eq(cv_arena_dup(a, NULL, 0), "");
	ck_assert_str_eq(cv_arena_printf(a, "%d-%s", 7, "x"), "7-x");
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(cv_arena_own(a, leave_trail, &names[i]), 0);
	cove_result_free(first);
	ck_assert_str_eq(trail, "cba");
	cove_result_free(NULL);
	cv_arena_free(NULL);
}
END_TEST

START_TEST(base64_both_ways)
{
	char text[CV_BASE64_LEN(200)];
	unsigned char bytes[200] = {0};
	unsigned char again[200 + 3];

	for (size_t len = 0; len <= sizeof(bytes); len++) {
		rng_fill(bytes, len);
		cv_base64_encode(text, bytes, len);
		ck_assert_int_eq(cv_base64_decode(again, text, CV_BASE64_LEN(len)), (ssize_t)len);
		ck_assert_mem_eq(again, bytes, len);
	}
	cv_base64_encode(text, "foobar", 4);
	ck_assert_mem_eq(text, "Zm9vYg==", 8);
}
END_TEST

START_TEST(base64_accepts_only_what_encoding_gives)
{
	static const char *const bad[] = {"A",
					  "AA",
					  "AAA",
					  "====",
					  "A===",
					  "AA=A",
					  "AB==",
					  "AAB=",
					  "A A=",
					  "AAAA====",
					  "AA==AAAA",
					  "Zg==\n",
					  "Zg-_",
					  "AA=",
					  "=AAA",
					  "\x80"
					  "AAA"};
	unsigned char out[16];

	for (size_t i = 0; i < CV_LEN(bad); i++)
		ck_assert_msg(cv_base64_decode(out, bad[i], strlen(bad[i])) == -1, "'%s'", bad[i]);
	for (int i = 0; i < 100000; i++) {
		static const char letters[] = "AQgwBZaz09+/==\n-";
		char text[8];
		char again[8];
		size_t len = 4 * (1 + rng(2));
		ssize_t n;

		for (size_t k = 0; k < len; k++)
			text[k] = letters[rng(sizeof(letters) - 1)];
		n = cv_base64_decode(out, text, len);
		if (n < 0)
			continue;
		if (CV_BASE64_LEN((size_t)n) == len)
			cv_base64_encode(again, out, (size_t)n);
		if (CV_BASE64_LEN((size_t)n) != len || memcmp(again, text, len) != 0)
			ck_abort_msg("'%.*s' was accepted", (int)len, text);
	}
}
END_TEST

START_TEST(cancel_stays_fired)
{
	struct cove_cancel *c = cove_cancel_new();
	struct pollfd p = {.fd = cv_cancel_fd(c), .events = POLLIN};

	ck_assert(!cove_cancel_fired(c));
	ck_assert_int_eq(poll(&p, 1, 0), 0);
	ck_assert_int_eq(fcntl(p.fd, F_GETFD), FD_CLOEXEC);
	errno = 123;
	cove_cancel_fire(c);
	cove_cancel_fire(c);
	ck_assert_int_eq(errno, 123);
	ck_assert(cove_cancel_fired(c));
	ck_assert_int_eq(poll(&p, 1, 0), 1);
	ck_assert_int_eq(poll(&p, 1, 0), 1);
	cove_cancel_free(c);
	ck_assert(!cove_cancel_fired(NULL));
	ck_assert_int_eq(cv_cancel_fd(NULL), -1);
	cove_cancel_fire(NULL);
	cove_cancel_free(NULL);
}
END_TEST

START_TEST(fd_whole_reads_and_writes)
{
	char text[] = "0123456789";
	char got[20] = "";
	int p[2];

	ck_assert_int_eq(pipe2(p, O_CLOEXEC), 0);
	ck_assert_int_eq(cv_write_full(p[1], text, 10), 0);
	ck_assert_int_eq(cv_set_nonblock(p[0], true), 0);
	ck_assert_int_eq(cv_read_full(p[0], got, 4), 4);
	ck_assert_int_eq(cv_read_full(p[0], got, 6), 6);
	ck_assert_int_eq(cv_read_full(p[0], got, 1), -EAGAIN);
	ck_assert_int_eq(cv_set_nonblock(p[0], false), 0);
	ck_assert_int_eq(fcntl(p[0], F_GETFL) & O_NONBLOCK, 0);
	ck_assert_int_eq(cv_write_full(p[1], text, 3), 0);
	cv_close(&p[1]);
	ck_assert_int_eq(p[1], -1);
	cv_close(&p[1]);
	ck_assert_int_eq(cv_read_full(p[0], got, 20), 3);
	ck_assert_int_eq(cv_read_full(-1, got, 1), -EBADF);
	ck_assert_int_eq(cv_write_full(-1, got, 1), -EBADF);
	ck_assert_int_eq(cv_set_nonblock(-1, true), -EBADF);
	cv_close(&p[0]);
}
END_TEST

START_TEST(fd_read_file_within_its_maximum)
{
	static const size_t sizes[] = {0, 1, 4095, 4096, 4097, 8192, 20000};
	int dir = open(getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC,
		       0600);
	char path[40];
	char *data = NULL;
	size_t len;

	ck_assert_int_ge(dir, 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", dir);
	for (size_t i = 0; i < CV_LEN(sizes); i++) {
		ck_assert_int_eq(ftruncate(dir, (off_t)sizes[i]), 0);
		ck_assert_int_eq(cv_read_file(AT_FDCWD, path, sizes[i], &data, &len), 0);
		ck_assert_uint_eq(len, sizes[i]);
		ck_assert_int_eq(data[len], '\0');
		free(TAKE(data));
		if (sizes[i] > 0)
			ck_assert_int_eq(cv_read_file(AT_FDCWD, path, sizes[i] - 1, &data, NULL),
					 -EFBIG);
	}
	close(dir);
	ck_assert_int_eq(cv_read_file(AT_FDCWD, "/nowhere/at/all", 10, &data, NULL), -ENOENT);
	ck_assert_int_eq(cv_read_file(AT_FDCWD, "/", 10, &data, NULL), -EISDIR);
	ck_assert_ptr_null(data);
}
END_TEST

START_TEST(fd_names_and_paths)
{
	char name[101];
	char other[101];
	char path[64];
	int fd = open("/", O_PATH | O_CLOEXEC);

	cv_random_name(name, 100);
	cv_random_name(other, 100);
	ck_assert_uint_eq(strlen(name), 100);
	ck_assert_uint_eq(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789"), 100);
	ck_assert_str_ne(name, other);
	ck_assert_int_eq(cv_fd_path(fd, path, sizeof(path)), 0);
	ck_assert_str_eq(path, "/");
	ck_assert_int_eq(cv_fd_path(fd, path, 1), -ENAMETOOLONG);
	ck_assert_int_eq(cv_fd_path(-1, path, sizeof(path)), -ENOENT);
	close(fd);
}
END_TEST

START_TEST(clock_timestamp)
{
	char text[40];
	int64_t before = cv_now_ns();

	cv_timestamp(text, sizeof(text));
	ck_assert_uint_eq(strlen(text), 24);
	ck_assert_int_eq(text[10], 'T');
	ck_assert_int_eq(text[23], 'Z');
	ck_assert(cv_now_ns() >= before);
}
END_TEST

UNIT_MAIN("base", utf8_every_code_point, utf8_every_one_and_two_bytes, utf8_boundaries_of_table_3_7,
	  utf8_cut_never_ends_inside_a_code_point, utf8_clean_replaces_and_keeps_the_rest,
	  path_normalise, path_expand, path_expand_refuses,
	  case_46_below_is_not_a_prefix_of_letters, path_join_and_show, ids,
	  buf_never_exceeds_its_maximum, buf_as_a_string, arena, base64_both_ways,
	  base64_accepts_only_what_encoding_gives, cancel_stays_fired, fd_whole_reads_and_writes,
	  fd_read_file_within_its_maximum, fd_names_and_paths, clock_timestamp)
