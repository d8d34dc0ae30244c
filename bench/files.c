/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole trees: copied against cp -a, and the copies removed against rm -rf.
 *
 * The tree is like a project's: 20,000 files of some 5 KiB in 800 directories, a few of them large.
 * It should lie in memory, for a disk answers as it likes; bench/run sees to that. What a run needs
 * or leaves is made and removed between the runs, so that every run finds the same memory.
 */
#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES 20000
#define DIRS 800
#define SIZE_MAX_BYTES (1u << 20)
#define PAIRS 5
#define PAIRS_MOST 20

static uint32_t next_random(void)
{
	static uint32_t x = 2463534242;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return x;
}

/* Log-normal, or near: around 2 KiB, 5 KiB on the average. */
static size_t next_size(void)
{
	double size = 2048;
	int steps = 0;

	for (int i = 0; i < 12; i++)
		steps += (int)(next_random() % 32);
	for (steps -= 186; steps > 0; steps--)
		size *= 1.0435;
	for (; steps < 0; steps++)
		size /= 1.0435;
	return size < SIZE_MAX_BYTES ? (size_t)size : SIZE_MAX_BYTES;
}

/* Directory n lies below one with a smaller number, mostly not deep. */
static void dir_path(int n, char *path, size_t size)
{
	char below[4096];

	if (n == 0) {
		snprintf(path, size, "seed");
		return;
	}
	dir_path(n / 6, below, sizeof(below));
	snprintf(path, size, "%s/dir%d", below, n);
}

static int make_file(const char *path, const char *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	bool good = fd >= 0 && write(fd, data, len) == (ssize_t)len;

	if (fd >= 0)
		close(fd);
	return good ? 0 : bench_failed(path, strerror(errno));
}

static int make_seed(void)
{
	char *data = malloc(SIZE_MAX_BYTES);
	char path[4200];
	int rc = data ? 0 : -1;

	for (size_t i = 0; data && i < SIZE_MAX_BYTES; i++)
		data[i] = (char)next_random();
	for (int i = 0; rc == 0 && i < DIRS; i++) {
		dir_path(i, path, 4096);
		rc = mkdir(path, 0755);
	}
	for (int i = 0; rc == 0 && i < FILES; i++) {
		dir_path(i % DIRS, path, 4096);
		snprintf(path + strlen(path), 64, "/file%d.c", i);
		rc = make_file(path, data, next_size());
	}
	free(data);
	return rc;
}

static int copy_ours(void *user)
{
	struct cove_file_copy_result *r = NULL;
	int rc = cove_file_copy(
		user, COVE_OPTS(cove_file_transfer_opts, .source = "seed", .destination = "copy"),
		&r, NULL);

	if (rc >= 0 && r->entries_copied != FILES + DIRS)
		rc = -1;
	cove_result_free(r);
	return rc;
}

static int copy_base(void *user)
{
	(void)user;
	return bench_spawn((const char *const[]){"cp", "-a", "seed", "copy", NULL}, -1, 2);
}

static int remove_ours(void *user)
{
	struct cove_file_remove_result *r = NULL;
	int rc = cove_file_remove(
		user, COVE_OPTS(cove_file_remove_opts, .path = "copy", .recursive = true), &r,
		NULL);

	cove_result_free(r);
	return rc;
}

static int remove_base(void *user)
{
	(void)user;
	return bench_spawn((const char *const[]){"rm", "-rf", "copy", NULL}, -1, 2);
}

static int make_copy(void *user)
{
	return remove_base(user) == 0 ? copy_base(user) : -1;
}

int main(void)
{
	struct cove_env *env = bench_env_here();
	const struct bench_pair pairs[] = {
		{.name = "files.copy",
		 .ours = {"cove_file_copy of 20,000 files", copy_ours, remove_base},
		 .base = {"cp -a", copy_base, remove_base},
		 .bar = 0.35,
		 .aim = 0.15},
		{.name = "files.remove",
		 .ours = {"cove_file_remove of them", remove_ours, make_copy},
		 .base = {"rm -rf", remove_base, make_copy},
		 .bar = 1.2},
	};
	int rc = env ? make_seed() : -1;

	for (size_t i = 0; rc == 0 && i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct bench_pair pair = pairs[i];

		pair.user = env;
		pair.pairs = PAIRS;
		pair.most = PAIRS_MOST;
		rc = bench_pairs(&pair);
	}
	bench_env_close(env);
	return rc != 0;
}
