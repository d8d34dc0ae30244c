/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts of a result where windows, retention and what was written nearly meet: OUT-3, OUT-6,
 * OUT-8.
 */
#include "fixture.h"

/* The command writes this many bytes: 1, 2, 3, … one number a line. */
static const int lengths[] = {0,   1,	50,  99,  100, 101, 105, 108, 109, 110,
			      116, 120, 150, 200, 216, 217, 300, 330, 2000};

static char stream[4096];

static struct cove_exec_result *written(int len, struct cove_exec_opts o)
{
	char script[64];

	snprintf(script, sizeof(script), "seq 1 1000 | head -c %d", len);
	o.size = sizeof(o);
	o.script = script;
	return exec_opts(&o);
}

static void make_stream(void)
{
	int len = 0;

	for (int i = 1; len < (int)sizeof(stream) - 8; i++)
		len += snprintf(stream + len, sizeof(stream) - (size_t)len, "%d\n", i);
}

/* What is shown is a beginning of the stream, and an end of what is kept, and nothing twice. */
static void assert_sound(const struct cove_output *out, int len, int kept_end)
{
	size_t tail = out->data_len - out->head_len;

	ck_assert_int_eq(out->bytes, len);
	ck_assert_int_le(out->shown, len);
	ck_assert_int_eq(out->truncated, out->shown < len);
	ck_assert_uint_le(out->data_len, (size_t)len);
	ck_assert_uint_le(out->text_len, 100);
	ck_assert(memcmp(out->data, stream, out->head_len) == 0);
	ck_assert(memcmp(out->data + out->head_len, stream + kept_end - tail, tail) == 0);
}

static void assert_bound(const struct cove_output *out, int len)
{
	char want[101];

	cove_bound(want, 100, stream, (size_t)len, NULL);
	ck_assert_msg(strcmp(out->text, want) == 0, "%d bytes: '%s', not '%s'", len, out->text,
		      want);
}

START_TEST(out_6_exact_where_all_is_kept)
{
	begin(_i);
	make_stream();
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		for (int render = 0; render < 2; render++) {
			struct cove_exec_opts o = {.max_output_bytes = 100,
						   .output = {.render = render}};
			struct cove_exec_result *r = written(lengths[i], o);

			assert_sound(&r->out, lengths[i], lengths[i]);
			assert_bound(&r->out, lengths[i]);
			cove_exec_result_free(r);
		}
	end();
}
END_TEST

START_TEST(out_3_sound_where_little_is_kept)
{
	static const int retains[] = {1, 20, 60, 100, 150};

	begin(_i);
	make_stream();
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		for (size_t k = 0; k < sizeof(retains) / sizeof(retains[0]); k++) {
			struct cove_exec_opts o = {.max_output_bytes = 100,
						   .output = {.retain_bytes = retains[k]}};
			struct cove_exec_result *r = written(lengths[i], o);

			assert_sound(&r->out, lengths[i], lengths[i]);
			cove_exec_result_free(r);
			o.output.policy = COVE_POLICY_HEAD;
			r = written(lengths[i], o);
			assert_sound(&r->out, lengths[i],
				     lengths[i] < retains[k] ? lengths[i] : retains[k]);
			cove_exec_result_free(r);
		}
	end();
}
END_TEST

static const TTest **const tests[] = {
	&out_6_exact_where_all_is_kept,
	&out_3_sound_where_little_is_kept,
};

MAIN("bounds")
