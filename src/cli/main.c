/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line: finds the verb, parses its options by its tables, and runs it.
 *
 * A verb gets its arguments ready-made and gives the exit code. Whatever can be wrong with a
 * command line is told here or by the verb in one way: "cove: message" and a hint on stderr.
 */
#include "cli/report.h"
#include "cli/verbs.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>

static const struct verb *const verbs[] = {&verb_run,	&verb_exec,	 &verb_call,
					   &verb_files, &verb_providers, &verb_doctor};

static void print_usage(FILE *to)
{
	fprintf(to,
		"usage: cove VERB [OPTION]... [ARGUMENT]...\n\nEnvironments for agents.\n\nverbs:\n");
	for (size_t i = 0; i < CV_LEN(verbs); i++)
		fprintf(to, "  %-12s %s\n", verbs[i]->name, verbs[i]->summary);
	fprintf(to, "  %-12s %s\n  %-12s %s\n", "help [VERB]", "print this, or a verb's options",
		"--version", "print the version");
	fprintf(to, "\nexample:\n  cove exec -- sh -c 'pwd; ls'\n");
}

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < CV_LEN(verbs); i++)
		if (strcmp(verbs[i]->name, name) == 0)
			return verbs[i];
	return NULL;
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
	return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

static int unknown_verb(const char *name)
{
	report("unknown verb '%.128s'", name);
	fprintf(stderr, "  hint: cove help lists the verbs\n");
	return EXIT_USAGE;
}

static int unknown_sub(const struct verb *verb, const char *word)
{
	if (word[0] == '-')
		report("options of cove %s stand behind its verb, not before", verb->name);
	else
		report("unknown verb '%s %.128s'", verb->name, word);
	fprintf(stderr, "  hint: cove %s --help lists the verbs\n", verb->name);
	return EXIT_USAGE;
}

/* Of a verb, or of the one of its verbs that word names. */
static int help(const char *name, const char *word)
{
	const struct verb *verb = name ? find_verb(name) : NULL;
	const struct verb *sub = verb && word ? opts_find_sub(verb, word) : NULL;

	if (name && !verb)
		return unknown_verb(name);
	if (verb && verb->subs && word && !sub)
		return unknown_sub(verb, word);
	if (verb)
		opts_help(sub ? sub : verb);
	else
		print_usage(stdout);
	return 0;
}

static int run_verb(const struct verb *verb, int argc, char **argv)
{
	CV_FREE void *args = calloc(1, verb->size);
	CV_FREE const char **plain = calloc((size_t)argc + 1, sizeof(*plain));
	struct cove_error err = COVE_ERROR_INIT;
	struct words words;
	int rc;

	if (!args || !plain) {
		report("no memory");
		return 1;
	}
	rc = opts_parse(verb, argc, argv, args, plain, &words, &err);
	if (rc == 1) {
		opts_help(verb);
		rc = 0;
	} else if (rc < 0) {
		report_error(&err);
		rc = EXIT_USAGE;
	} else {
		rc = verb->run(args, &words);
	}
	opts_done(verb, args);
	return rc;
}

static int run_sub(const struct verb *verb, int argc, char **argv)
{
	const struct verb *sub = argc > 0 ? opts_find_sub(verb, argv[0]) : NULL;

	if (sub)
		return run_verb(sub, argc - 1, argv + 1);
	if (argc > 0 && is_one_of(argv[0], "--help", "-h", "help"))
		return help(verb->name, argv[1]);
	if (argc > 0)
		return unknown_sub(verb, argv[0]);
	report("which verb of cove %s?", verb->name);
	fprintf(stderr, "  hint: cove %s --help lists them\n", verb->name);
	return EXIT_USAGE;
}

/* No file that is opened later may take the place of a standard stream that was closed. */
static void occupy_standard_streams(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		int got = fcntl(fd, F_GETFD) < 0 ? open("/dev/null", O_RDWR | O_NOCTTY) : fd;

		if (got != fd)
			_exit(1);
	}
}

static int dispatch(int argc, char **argv)
{
	const struct verb *verb = argc > 1 ? find_verb(argv[1]) : NULL;

	if (verb)
		return verb->subs ? run_sub(verb, argc - 2, argv + 2) :
				    run_verb(verb, argc - 2, argv + 2);
	if (argc < 2) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	if (is_one_of(argv[1], "--version", "-V", "version")) {
		printf("cove %s\n", cove_version());
		return 0;
	}
	if (is_one_of(argv[1], "--help", "-h", "help"))
		return help(argv[2], argc > 3 ? argv[3] : NULL);
	if (argv[1][0] == '-') {
		report("unknown option '%.128s'", argv[1]);
		return EXIT_USAGE;
	}
	return unknown_verb(argv[1]);
}

int main(int argc, char **argv)
{
	int rc;

	occupy_standard_streams();
	rc = dispatch(argc, argv);
	if ((fflush(stdout) != 0 || ferror(stdout)) && rc == 0) {
		if (errno == EPIPE)
			return 128 + SIGPIPE; /* nobody reads it any more */
		report("can't write to stdout: %s", strerror(errno));
		rc = 1;
	}
	return rc;
}
