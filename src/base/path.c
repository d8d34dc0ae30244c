/* SPDX-License-Identifier: Apache-2.0 */
/* Paths as letters. */
#include "base/path.h"

#include "base/utf8.h"

#include <ctype.h>
#include <stdio.h>
#include <strings.h>

int cv_path_check(const char *path, const char *field, struct cove_error *err)
{
	size_t len = path ? strnlen(path, CV_PATH_MAX + 1) : 0;
	int rc = 0;

	if (len == 0)
		return cv_fail_arg(err, field, "give a path", "is empty");
	if (len > CV_PATH_MAX)
		rc = cv_fail_arg(err, field, "at most 4096 bytes", "is longer than a path can be");
	else if (!cv_utf8_valid(path, len))
		rc = cv_fail_arg(err, field, "paths are UTF-8", "is not UTF-8");
	if (rc < 0)
		cv_err_path(err, path);
	return rc;
}

static int unhex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* RFC 8089: file:///path or file://localhost/path, %XX decoded. */
static int from_url(const char *url, const char *field, cv_path dst, struct cove_error *err)
{
	const char *p = url + 7;
	size_t n = 0;

	if (strncasecmp(p, "localhost/", 10) == 0)
		p += 9;
	if (*p != '/')
		return cv_fail_arg(err, field, "use file:///path", "is a file URL of another host");
	while (*p && n < CV_PATH_MAX) {
		int hi = *p == '%' ? unhex(p[1]) : -1;
		int lo = hi >= 0 ? unhex(p[2]) : -1;

		if (*p == '%' && (lo < 0 || (hi == 0 && lo == 0)))
			return cv_fail_arg(err, field, "use %XX of a byte that is not NUL",
					   "has a bad %% escape");
		dst[n++] = *p == '%' ? (char)(hi * 16 + lo) : *p;
		p += *p == '%' ? 3 : 1;
	}
	dst[n] = '\0';
	return cv_path_check(dst, field, err);
}

int cv_path_expand(const char *path, const char *cwd, const char *home, const char *field,
		   cv_path dst, struct cove_error *err)
{
	int n;
	int rc = cv_path_check(path, field, err);

	if (rc < 0)
		return rc;
	if (strncasecmp(path, "file://", 7) == 0)
		return from_url(path, field, dst, err);
	if (path[0] == '/')
		n = snprintf(dst, sizeof(cv_path), "%s", path);
	else if (path[0] == '~' && (path[1] == '\0' || path[1] == '/'))
		n = snprintf(dst, sizeof(cv_path), "%s%s", home, path + 1);
	else
		n = snprintf(dst, sizeof(cv_path), "%s/%s", strcmp(cwd, "/") == 0 ? "" : cwd, path);
	if (n < 0 || (size_t)n >= sizeof(cv_path)) {
		rc = cv_fail_arg(err, field, "at most 4096 bytes", "is longer than a path can be");
		cv_err_path(err, path);
	}
	return rc;
}

void cv_path_normalise(char *path)
{
	char *out = path;
	const char *p = path;

	while (*p) {
		size_t len;

		while (*p == '/')
			p++;
		len = strcspn(p, "/");
		if (len == 2 && p[0] == '.' && p[1] == '.') {
			while (out > path && *--out != '/')
				;
		} else if (len > 0 && !(len == 1 && p[0] == '.')) {
			*out++ = '/';
			memmove(out, p, len);
			out += len;
		}
		p += len;
	}
	if (out == path)
		*out++ = '/';
	*out = '\0';
}

bool cv_path_below(const char *path, const char *root)
{
	size_t len = strlen(root);

	if (len == 1)
		return true;
	return strncmp(path, root, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

int cv_path_join(cv_path dst, const char *dir, const char *name)
{
	int n = snprintf(dst, sizeof(cv_path), "%s/%s", strcmp(dir, "/") == 0 ? "" : dir, name);

	return n < 0 || (size_t)n >= sizeof(cv_path) ? -ENAMETOOLONG : 0;
}

const char *cv_path_show(const char *path, const char *cwd)
{
	if (strcmp(cwd, "/") == 0 || !cv_path_below(path, cwd))
		return path;
	path += strlen(cwd);
	return *path ? path + 1 : ".";
}

bool cv_id_valid(const char *id)
{
	size_t len = strlen(id);

	if (len == 0 || len > 128 || !isalnum((unsigned char)id[0]))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)id[i]) && id[i] != '_' && id[i] != '-')
			return false;
	return true;
}
