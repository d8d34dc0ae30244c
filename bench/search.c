/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding lines and names: `cove files grep` and `find` as processes beside rg and fd with as many
 * threads, on trees that are made here; the same inside an environment that is open; memory.
 *
 * Every run writes its output to a file beside the trees, which bench/run has put into memory.
 */
#include "bench.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES 7000
#define FILE_BYTES 15500 /* on the average */
#define SMALL_FILES 20000
#define WORDS_MAX 16

static uint64_t state = 1;

static uint64_t rng(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % n;
}

/* A word of a vocabulary that is like that of C: short ones are common. */
static void put_word(FILE *f)
{
	static const char *const common[] = {"int",    "return", "if",	    "const", "char",
					     "the",    "struct", "void",    "size",  "static",
					     "of",     "value",	 "data",    "len",   "error",
					     "define", "to",	 "unsigned"};
	uint64_t n = rng(2) ? rng(18) : rng(4000);

	if (n < 18)
		fputs(common[n], f);
	else
		fprintf(f, "%c%llx_%c", (char)('a' + n % 26),
			(unsigned long long)n * 2654435761u % 65536, (char)('a' + n % 23));
}

static void put_line(FILE *f)
{
	uint64_t kind = rng(2000);

	if (kind < 14)
		fprintf(f, "#include <sys/%llx.h>\n", (unsigned long long)rng(500));
	else if (kind == 20 && rng(60) == 0)
		fprintf(f, "static const struct dev%llu_ops table = {\n",
			(unsigned long long)rng(99));
	else if (kind == 21 && rng(20) == 0)
		fputs("\tthrow OverFlow_Error(\"too much\");\n", f);
	else if (kind == 22 && rng(300) == 0)
		fputs("\tstruct sockaddr_vm address;\n", f);
	fputc('\t', f);
	for (uint64_t n = rng(9); n > 0; n--) {
		put_word(f);
		fputs(rng(6) ? " " : "(", f);
	}
	fputs(";\n", f);
}

static int put_file(const char *path, long size)
{
	FILE *f = fopen(path, "we");

	if (!f)
		return bench_failed(path, "cannot be made");
	while (ftell(f) < size)
		put_line(f);
	return fclose(f);
}

static int put_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	if (!f || fputs(text, f) < 0)
		return bench_failed(path, "cannot be made");
	return fclose(f);
}

/* Directories of 35 files, three levels deep; a third are headers; sizes differ a hundredfold. */
static int make_tree(const char *root, int files, long bytes)
{
	char path[200];

	mkdir(root, 0755);
	for (int i = 0; i < files; i++) {
		int dir = i / 35;
		long size = (long)(rng(64) ? rng((uint64_t)bytes) * 2 : (uint64_t)bytes) + 100;

		snprintf(path, sizeof(path), "%s/d%02d", root, dir % 12);
		mkdir(path, 0755);
		snprintf(path, sizeof(path), "%s/d%02d/part%03d", root, dir % 12, dir);
		mkdir(path, 0755);
		snprintf(path, sizeof(path), "%s/d%02d/part%03d/file%05d.%s", root, dir % 12, dir,
			 i, i % 3 ? "c" : "h");
		if (put_file(path, size) < 0)
			return -1;
	}
	snprintf(path, sizeof(path), "%s/.git", root);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/.gitignore", root);
	return put_text(path, "*.o\n/build/\n!keep.o\npart01?/*.h\n**/cache/*\n");
}

/* Two command lines, and the processor time that each has taken. */
struct commands {
	const char *dir;
	const char *ours[WORDS_MAX];
	const char *base[WORDS_MAX];
	double cpu[2];
};

static double children_cpu(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

static int run(struct commands *c, const char *const *argv, int side)
{
	int out = open("out", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	double before = children_cpu();
	int code = -1;

	if (out >= 0 && chdir(c->dir) == 0) {
		code = bench_spawn(argv, out, -1);
		if (chdir("..") < 0)
			code = -1;
	}
	close(out);
	c->cpu[side] += children_cpu() - before;
	return code == 0 ? 0 : bench_failed(argv[0], "did not find what is there");
}

static int run_ours(void *user)
{
	struct commands *c = user;

	return run(c, c->ours, 0);
}

static int run_base(void *user)
{
	struct commands *c = user;

	return run(c, c->base, 1);
}

static int measure(const char *name, struct commands *c, double bar, double aim)
{
	struct bench_pair pair = {.name = name,
				  .ours = {"cove", run_ours},
				  .base = {strncmp(name, "grep", 4) == 0 ? "rg" : "fd", run_base},
				  .user = c,
				  .bar = bar,
				  .aim = aim};
	char cpu[64];

	if (bench_pairs(&pair) < 0)
		return -1;
	snprintf(cpu, sizeof(cpu), "%s.cpu", name);
	bench_value(cpu, c->cpu[0] / c->cpu[1], "of its", 1.3);
	return 0;
}

static char threads[16];

static int grep(const char *name, const char *dir, bool ignore, const char *const *flags,
		const char *pattern, double aim)
{
	struct commands c = {.dir = dir, .ours = {bench_built("cove"), "files", "grep", "-n"}};
	const char *base[] = {"rg", "--no-config", "--no-heading", "-n", threads};
	int a = 4;
	int b = 5;

	memcpy(c.base, base, sizeof(base));
	if (!ignore) {
		c.ours[a++] = "--no-ignore";
		c.ours[a++] = "--hidden";
		c.base[b++] = "-uu";
	}
	for (; flags && *flags; flags++)
		c.ours[a++] = c.base[b++] = *flags;
	c.ours[a] = pattern;
	c.base[b++] = pattern;
	c.base[b] = "./";
	return measure(name, &c, 1.25, aim);
}

static int find(const char *name, const char *dir)
{
	struct commands c = {.dir = dir,
			     .ours = {bench_built("cove"), "files", "find", "**/*.h"},
			     .base = {"fdfind", threads, "--glob", "*.h"}};

	return measure(name, &c, 1.5, 1.0);
}

/* The same in an environment that is open already. */
struct live {
	struct cove_env *env;
	struct commands commands;
};

static int live_search(void *user)
{
	struct live *l = user;
	struct cove_file_search_text_result *r = NULL;
	int rc = cove_file_search_text(l->env,
				       COVE_OPTS(cove_file_search_text_opts, .root = "large",
						 .pattern = "sockaddr_vm", .max_matches = 100000),
				       &r, NULL);

	cove_file_search_text_result_free(r);
	return rc;
}

static int live_find(void *user)
{
	struct live *l = user;
	struct cove_file_query_result *r = NULL;
	int rc = cove_file_query(l->env,
				 COVE_OPTS(cove_file_query_opts, .root = "large",
					   .pattern = "**/*.h", .ignore = COVE_IGNORE_GIT,
					   .names_only = true, .max_results = 100000),
				 &r, NULL);

	cove_file_query_result_free(r);
	return rc;
}

static int live_base(void *user)
{
	struct live *l = user;

	return run(&l->commands, l->commands.base, 1);
}

static int in_live_environment(void)
{
	struct live l = {.env = bench_env_here()};
	const char *rg[] = {"rg", "--no-config", "-uu", "-n", threads, "-F", "sockaddr_vm", "./"};
	const char *fd[] = {"fdfind", threads, "--glob", "*.h"};
	struct bench_pair pair = {.name = "grep.live",
				  .ours = {"cove", live_search},
				  .base = {"rg", live_base},
				  .user = &l,
				  .bar = 1.0};
	int rc;

	if (!l.env)
		return -1;
	l.commands = (struct commands){.dir = "large"};
	memcpy(l.commands.base, rg, sizeof(rg));
	rc = bench_pairs(&pair);
	memset(l.commands.base, 0, sizeof(l.commands.base));
	memcpy(l.commands.base, fd, sizeof(fd));
	pair.name = "find.live";
	pair.ours.run = live_find;
	pair.base.name = "fd";
	if (rc == 0)
		rc = bench_pairs(&pair);
	bench_env_close(l.env);
	return rc;
}

/* Every line of a tree is a match: what guest and host then hold at most. */
static int memory(void)
{
	struct cove_env *env = bench_env_here();
	struct cove_file_search_text_result *r = NULL;
	struct cove_file_search_text_opts opts = {
		.size = sizeof(opts), .root = "large", .pattern = "e", .max_matches = 100000};
	char path[4200];
	bool more = env != NULL;

	while (more) {
		const struct cove_match *last;

		if (cove_file_search_text(env, &opts, &r, NULL) < 0)
			return bench_failed("search_text", "a page");
		more = r->has_more;
		last = r->match_count ? &r->matches[r->match_count - 1] : NULL;
		snprintf(path, sizeof(path), "%s", last ? last->path : "");
		opts.after_path = path;
		opts.after_line = last ? last->line : 0;
		cove_file_search_text_result_free(r);
	}
	if (!env)
		return -1;
	bench_value("grep.guest_peak", (double)bench_guest_kib("VmHWM:") / 1024, "MiB", 32);
	bench_env_close(env);
	return 0;
}

int main(void)
{
	static const char *const fixed[] = {"-F", NULL};
	static const char *const any_case[] = {"-i", NULL};
	static const char expression[] = "\\bstruct \\w+_ops\\b";
	cpu_set_t set;

	sched_getaffinity(0, sizeof(set), &set);
	snprintf(threads, sizeof(threads), "-j%d", CPU_COUNT(&set));
	if (make_tree("large", FILES, FILE_BYTES) < 0 || make_tree("small", SMALL_FILES, 400) < 0)
		return 1;
	return grep("grep.rare", "large", false, fixed, "sockaddr_vm", 1.05) < 0 ||
	       grep("grep.common", "large", false, fixed, "include", 1.05) < 0 ||
	       grep("grep.regex", "large", false, NULL, expression, 1.0) < 0 ||
	       grep("grep.any_case", "large", false, any_case, "overflow_error", 1.05) < 0 ||
	       grep("grep.ignore", "large", true, fixed, "sockaddr_vm", 1.05) < 0 ||
	       grep("grep.small_files", "small", false, fixed, "include", 1.05) < 0 ||
	       find("find.large", "large") < 0 || find("find.small", "small") < 0 ||
	       in_live_environment() < 0 || memory() < 0;
}
