/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replays the files of a corpus through a fuzz target, and a few made from each: cut short, and
 * with one bit changed.
 */
#include "target.h"

#include "base/fd.h"

#include <dirent.h>
#include <fcntl.h>

#define FILE_MAX (1u << 20)

static void replay(uint8_t *data, size_t len)
{
	LLVMFuzzerTestOneInput(data, len);
	for (size_t i = 0; i < 8; i++) {
		size_t at = len * i / 8;

		LLVMFuzzerTestOneInput(data, at);
		if (len == 0)
			continue;
		data[at] ^= (uint8_t)(1u << i);
		LLVMFuzzerTestOneInput(data, len);
		data[at] ^= (uint8_t)(1u << i);
	}
}

static int replay_all(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *e;
	int files = 0;

	while (dir && (e = readdir(dir))) {
		CV_FREE char *data = NULL;
		size_t len = 0;

		if (e->d_name[0] == '.')
			continue;
		if (cv_read_file(dirfd(dir), e->d_name, FILE_MAX, &data, &len) < 0)
			continue;
		fprintf(stderr, "%s\n", e->d_name);
		replay((uint8_t *)data, len);
		files++;
	}
	if (dir)
		closedir(dir);
	return files;
}

int main(int argc, char **argv)
{
	int files = 0;

	for (int i = 1; i < argc; i++)
		files += replay_all(argv[i]);
	printf("%d files\n", files);
	return files == 0;
}
