/* SPDX-License-Identifier: Apache-2.0 */
/* Parses command lines by the tables of their verbs. */
#include "cli/opts.h"

#include "base/clock.h"

#include <ctype.h>
#include <stdio.h>

/* Where parsing stands. */
struct parser {
	const struct verb *verb;
	int argc;
	char **argv;
	int at;
	char *args;
	struct cove_error *err;
};

static const struct opt *find_in(const struct opt *table, const char *name, size_t len, char letter)
{
	for (const struct opt *o = table; o && o->name; o++)
		if (letter ? o->letter == letter :
			     strlen(o->name) == len && strncmp(o->name, name, len) == 0)
			return o;
	return NULL;
}

static const struct opt *find(const struct verb *v, const char *name, size_t len, char letter)
{
	const struct opt *o = find_in(v->options, name, len, letter);

	return o ? o : find_in(v->shared, name, len, letter);
}

static int usage_error(const struct parser *p, const char *fmt, ...) CV_PRINTF(2, 3);
static int usage_error(const struct parser *p, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	cv_fail(p->err, COVE_E_INVALID_ARGUMENT, "%s", text);
	cv_err_hint(p->err, "cove %s --help lists the options", p->verb->name);
	return COVE_E_INVALID_ARGUMENT;
}

static int bad_value(const struct parser *p, const struct opt *o, const char *value,
		     const char *want)
{
	cv_fail(p->err, COVE_E_INVALID_ARGUMENT, "option '--%s' can't be '%.128s'", o->name, value);
	cv_err_hint(p->err, "%s", want);
	return COVE_E_INVALID_ARGUMENT;
}

/* Decimal digits only, nothing before or behind; -1: not a number, or too large. */
static int64_t read_number(const char *s, const char **ret_end)
{
	int64_t n = 0;

	if (!isdigit((unsigned char)*s))
		return -1;
	for (; isdigit((unsigned char)*s); s++)
		if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *s - '0', &n))
			return -1;
	*ret_end = s;
	return n;
}

static int set_number(const struct parser *p, const struct opt *o, const char *value, int64_t *dst)
{
	const char *end = NULL;
	int64_t n = read_number(value, &end);
	char want[80];

	if (n >= 0 && n >= o->min && n <= o->max && *end == '\0') {
		*dst = n;
		return 0;
	}
	snprintf(want, sizeof(want),
		 o->max == INT64_MAX ? "a number from %lld on" : "a number, %lld to %lld",
		 (long long)o->min, (long long)o->max);
	return bad_value(p, o, value, want);
}

static int set_duration(const struct parser *p, const struct opt *o, const char *value,
			int64_t *dst)
{
	static const struct {
		const char *unit;
		int64_t ms;
	} units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};
	const char *end = NULL;
	int64_t n = read_number(value, &end);
	int64_t least = o->kind == OPT_DURATION_OR_NONE ? 0 : 1;

	for (size_t i = 0; n >= least && i < CV_LEN(units); i++)
		if (strcmp(end, units[i].unit) == 0 && n <= CV_MS_MAX / units[i].ms) {
			*dst = n ? n * units[i].ms : COVE_ZERO;
			return 0;
		}
	return bad_value(
		p, o, value,
		"a whole number with ms, s, m or h behind it, such as 30s; at most 24 days");
}

static int find_name(const char *const *names, const char *name, size_t len)
{
	for (int i = 0; names[i]; i++)
		if (strlen(names[i]) == len && strncmp(names[i], name, len) == 0)
			return i;
	return -1;
}

static int bad_name(const struct parser *p, const struct opt *o, const char *value)
{
	char want[160] = "one of:";
	size_t len = strlen(want);

	for (int i = 0; o->names[i]; i++)
		len += (size_t)snprintf(want + len, sizeof(want) - len, "%s %s", i ? "," : "",
					o->names[i]);
	return bad_value(p, o, value, want);
}

static int set_choice(const struct parser *p, const struct opt *o, const char *value, int *dst)
{
	int i = find_name(o->names, value, strlen(value));

	if (i < 0)
		return bad_name(p, o, value);
	*dst = i + 1;
	return 0;
}

static int set_bits(const struct parser *p, const struct opt *o, const char *value, int *dst)
{
	*dst = 0;
	for (const char *s = value;; s++) {
		size_t len = strcspn(s, ",");
		int i = find_name(o->names, s, len);

		if (i < 0)
			return bad_name(p, o, value);
		*dst |= 1 << i;
		s += len;
		if (*s == '\0')
			return 0;
	}
}

static int set_shard(const struct parser *p, const struct opt *o, const char *value, int64_t dst[2])
{
	const char *end = NULL;

	dst[0] = read_number(value, &end);
	dst[1] = dst[0] >= 1 && *end == '/' ? read_number(end + 1, &end) : -1;
	if (dst[1] >= dst[0] && dst[0] >= 1 && *end == '\0')
		return 0;
	return bad_value(p, o, value, "I/N, with I from 1 to N, such as 2/8");
}

/* No list can be longer than the command line. */
static int add_to_list(const struct parser *p, const char *value, const char ***list)
{
	size_t n = 0;

	if (!*list)
		*list = calloc((size_t)p->argc + 1, sizeof(**list));
	if (!*list)
		return cv_fail(p->err, COVE_E_INTERNAL, "no memory");
	while ((*list)[n])
		n++;
	(*list)[n] = value;
	return 0;
}

static int set(const struct parser *p, const struct opt *o, const char *value)
{
	void *dst = p->args + o->offset;

	switch (o->kind) {
	case OPT_FLAG:
		*(bool *)dst = true;
		return 0;
	case OPT_TEXT:
		*(const char **)dst = value;
		return *value ? 0 : bad_value(p, o, value, "it must not be empty");
	case OPT_LIST:
		return add_to_list(p, value, dst);
	case OPT_NUMBER:
		return set_number(p, o, value, dst);
	case OPT_DURATION:
	case OPT_DURATION_OR_NONE:
		return set_duration(p, o, value, dst);
	case OPT_CHOICE:
		return set_choice(p, o, value, dst);
	case OPT_BITS:
		return set_bits(p, o, value, dst);
	case OPT_SHARD:
		return set_shard(p, o, value, dst);
	}
	return 0;
}

static bool asks_for_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* One option; its value may stand in the same word or in the next. */
static int parse_option(struct parser *p)
{
	const char *word = p->argv[p->at];
	bool is_long = word[1] == '-';
	size_t len = is_long ? strcspn(word + 2, "=") : 1;
	const char *value = is_long ? word + 2 + len : word + 2;
	const struct opt *o = find(p->verb, word + 2, len, is_long ? '\0' : word[1]);

	if (!o)
		return usage_error(p, "unknown option '%.*s'", (int)(is_long ? len + 2 : 2), word);
	value = *value == '\0' ? NULL : value + is_long;
	if (o->kind == OPT_FLAG && value)
		return usage_error(p, "option '--%s' takes no value", o->name);
	if (o->kind != OPT_FLAG && !value && ++p->at < p->argc)
		value = p->argv[p->at];
	if (o->kind != OPT_FLAG && !value)
		return usage_error(p, "option '--%s' needs a value: %s", o->name, o->value);
	return set(p, o, value);
}

int opts_parse(const struct verb *verb, int argc, char **argv, void *args, const char **plain,
	       struct words *ret, struct cove_error *err)
{
	struct parser p = {.verb = verb, .argc = argc, .argv = argv, .args = args, .err = err};

	*ret = (struct words){.plain = plain};
	for (p.at = 0; p.at < argc; p.at++) {
		const char *word = argv[p.at];
		int rc = 0;

		if (strcmp(word, "--") == 0) {
			ret->command = (const char *const *)argv + p.at + 1;
			break;
		}
		if (asks_for_help(word))
			return 1;
		if (word[0] == '-' && word[1] != '\0')
			rc = parse_option(&p);
		else if (ret->count == verb->max_plain)
			rc = usage_error(&p, "unexpected argument '%.128s'", word);
		else
			plain[ret->count++] = word;
		if (rc < 0)
			return rc;
	}
	return 0;
}

void opts_done(const struct verb *verb, void *args)
{
	const struct opt *tables[] = {verb->options, verb->shared};

	for (size_t t = 0; t < CV_LEN(tables); t++)
		for (const struct opt *o = tables[t]; o && o->name; o++)
			if (o->kind == OPT_LIST)
				free(*(void **)((char *)args + o->offset));
}

/* What a verb among subs is called, behind the name that they share. */
static const char *sub_name(const struct verb *sub)
{
	return strrchr(sub->name, ' ') + 1;
}

const struct verb *opts_find_sub(const struct verb *verb, const char *word)
{
	for (const struct verb *const *sub = verb->subs; sub && *sub; sub++)
		if (strcmp(sub_name(*sub), word) == 0)
			return *sub;
	return NULL;
}

static void help_subs(const struct verb *verb)
{
	printf("\nverbs:\n");
	for (const struct verb *const *sub = verb->subs; *sub; sub++)
		printf("  %-12s %s\n", sub_name(*sub), (*sub)->summary);
}

static void help_table(const struct opt *table)
{
	for (const struct opt *o = table; o && o->name; o++) {
		char left[64];
		char letter[8] = "    ";

		if (o->letter)
			snprintf(letter, sizeof(letter), "-%c, ", o->letter);
		snprintf(left, sizeof(left), "%s--%s%s%s", letter, o->name, o->value ? " " : "",
			 o->value ? o->value : "");
		printf("  %-28s %s\n", left, o->help);
	}
}

void opts_help(const struct verb *verb)
{
	printf("usage: cove %s %s\n\n%s.\n", verb->name, verb->usage, verb->summary);
	if (verb->text)
		printf("\n%s\n", verb->text);
	if (verb->subs)
		help_subs(verb);
	printf("\noptions:\n");
	help_table(verb->options);
	help_table(verb->shared);
	printf("  %-28s %s\n", "-h, --help", "print this");
	printf("\nexample:\n  %s\n", verb->example);
}
