/* SPDX-License-Identifier: Apache-2.0 */
/* What a command changed: the patch, and the question whether to write it back. */
#include "cli/changes.h"

#include "cli/interrupt.h"
#include "cli/report.h"
#include "cli/verbs.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

int64_t changes_clock(void)
{
	struct timespec t;

	/* Times of files may be a tick behind it, but never ahead: what was there is never new. */
	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int usage(const char *message, const char *hint)
{
	report("%s", message);
	fprintf(stderr, "  hint: %s\n", hint);
	return EXIT_USAGE;
}

static int open_terminal(void)
{
	return open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
}

int changes_check(const struct changes_args *a, bool json)
{
	int tty;

	if (a->yes && !a->apply)
		return usage("--yes answers the question of --apply", "add --apply");
	if (a->diff && json)
		return usage("--diff and --json both write to stdout", "use --diff-to FILE");
	if (a->apply && !a->seed)
		return usage("--apply needs a seed to write to", "name it with --seed");
	if (!a->apply || a->yes)
		return 0;
	tty = open_terminal();
	if (tty < 0)
		return usage("there is no terminal to ask on whether to apply", "add --yes");
	close(tty);
	return 0;
}

static int put_patch(const struct changes_args *a, const struct cove_bytes *patch)
{
	int rc = a->diff ? put(STDOUT_FILENO, patch->data, patch->len) : 0;
	int fd;

	if (rc < 0)
		report("can't write the patch: %s", strerror(-rc));
	if (rc < 0 || !a->diff_to)
		return rc;
	fd = open(a->diff_to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	rc = fd < 0 ? -errno : put(fd, patch->data, patch->len);
	if (fd >= 0 && close(fd) < 0 && rc == 0)
		rc = -errno;
	if (rc < 0)
		report("can't write '%s': %s", a->diff_to, strerror(-rc));
	return rc;
}

static void list(const struct cove_env_diff_result *d)
{
	static const char *const words[] = {"",	    "added", "modified",  "deleted",
					    "mode", "link",  "unreadable"};

	for (size_t i = 0; i < d->change_count; i++)
		fprintf(stderr, "  %-10s %s%s\n", words[d->changes[i].change], d->changes[i].path,
			d->changes[i].kind == COVE_KIND_DIRECTORY ? "/" : "");
}

static bool agreed(const struct changes_args *a, const struct cove_env_diff_result *d)
{
	char answer[16];
	ssize_t n;
	int tty;

	if (a->yes)
		return true;
	tty = open_terminal();
	if (tty < 0)
		return false;
	list(d);
	dprintf(tty, "apply %zu changes to '%s'? [y/N] ", d->change_count, a->seed);
	n = read(tty, answer, sizeof(answer));
	close(tty);
	return n > 0 && (answer[0] == 'y' || answer[0] == 'Y');
}

static int apply(const struct changes_args *a, struct cove_env *env,
		 const struct cove_env_diff_result *d, bool ok)
{
	size_t left;

	if (!ok) {
		report("nothing was applied, because the command failed");
		return 0;
	}
	if (d->change_count == 0)
		return 0;
	if (!agreed(a, d)) {
		report("nothing was applied");
		return 0;
	}
	left = changes_apply(a, env, d);
	report("%zu of %zu changes were applied", d->change_count - left, d->change_count);
	return left > 0 ? -1 : 0;
}

int changes_do(const struct changes_args *a, struct cove_env *env, bool ok)
{
	struct cove_env_diff_opts opts = {.size = sizeof(opts)};
	struct cove_env_diff_result *d = NULL;
	struct cove_error err = COVE_ERROR_INIT;
	int rc;

	if ((!a->diff && !a->diff_to && !a->apply) || interrupt_signal())
		return 0;
	opts.format = a->diff || a->diff_to ? COVE_DIFF_PATCH : COVE_DIFF_LIST;
	rc = cove_env_diff(env, &opts, &d, &err);
	if (rc < 0) {
		report_error(&err);
		return -1;
	}
	rc = put_patch(a, &d->data);
	if (rc == 0 && a->apply)
		rc = apply(a, env, d, ok);
	cove_result_free(d);
	return rc < 0 ? -1 : 0;
}
