/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /etc of the sandbox: what programs need to run, and nothing that tells of the host or opens it.
 *
 * Users and names are made up; loader, certificates, time zone and the defaults of common programs
 * are the host's. Everything else stays outside: keys, password hashes, machine ids, mail, mounts.
 */
#include "base/fd.h"
#include "sandbox/internal.h"

#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#define COPY_MAX (1 << 20)

/* Taken over as they are: files copied, directories mounted, links remade. */
static const char *const taken[] = {
	"ld.so.cache", "nsswitch.conf", "localtime",	   "timezone",
	"services",    "protocols",	"os-release",	   "debian_version",
	"mime.types",  "alternatives",	"ssl/certs",	   "ssl/openssl.cnf",
	"fonts",       "python3.11",	"java-17-openjdk", "pki/tls/certs",
};

/* Of the host's network only when its network is shared. */
static const char *const network_files[] = {"resolv.conf", "hosts"};

static int copy_file(int from, int root, const char *target, int64_t size)
{
	CV_CLOSE int to = openat(root, target, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);

	if (to < 0)
		return -errno;
	while (size > 0) {
		ssize_t n = sendfile(to, from, NULL, (size_t)size);

		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		size -= n;
	}
	return 0;
}

static int take_directory(const struct cv_root *r, int etc, const char *name, const char *target)
{
	int tree = cv_mount_copy(etc, name);
	int rc = tree < 0 ? tree :
			    cv_root_mkdir(r, target); /* beside certificates lie private keys */

	if (rc < 0) {
		cv_close(&tree);
		return rc;
	}
	return cv_mount_attach(tree, r->fd, target);
}

/* follow: a link's target is copied, since it may lie where the sandbox can't see it. */
static int take(const struct cv_root *r, int etc, const char *name, bool follow)
{
	CV_CLOSE int fd = openat(etc, name, O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
	CV_CLOSE int content = -1;
	cv_path target;
	cv_path link;
	struct stat st;
	ssize_t n;
	int rc;

	/* What is missing, or not for everybody's eyes, is not taken. */
	if (fd < 0 || fstat(fd, &st) < 0)
		return 0;
	snprintf(target, sizeof(target), "etc/%s", name);
	if (S_ISLNK(st.st_mode)) {
		n = readlinkat(fd, "", link, sizeof(link) - 1);
		link[CV_MAX(n, 0)] = '\0';
		return n < 0 || symlinkat(link, r->fd, target) < 0 ? -errno : 0;
	}
	if (S_ISDIR(st.st_mode))
		return take_directory(r, etc, name, target);
	if (!S_ISREG(st.st_mode) || !(st.st_mode & 04) || st.st_size > COPY_MAX)
		return 0;
	if (strchr(name, '/') && (rc = cv_root_touch(r, target)) < 0)
		return rc;
	content = openat(etc, name, O_RDONLY | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
	return content < 0 ? 0 : copy_file(content, r->fd, target, st.st_size);
}

static int make_up(const struct cv_root *r)
{
	const struct cv_sandbox_plan *plan = r->plan;
	const char *host = plan->hostname ? plan->hostname : "cove";
	char text[512];
	int rc;

	snprintf(text, sizeof(text),
		 "root:x:0:0:root:/root:/usr/sbin/nologin\nagent:x:%lld:%lld:agent:%s:/bin/bash\n"
		 "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
		 (long long)plan->uid, (long long)plan->uid, CV_SANDBOX_HOME);
	rc = cv_root_write(r->fd, "etc/passwd", text);
	snprintf(text, sizeof(text), "root:x:0:\nagent:x:%lld:\nnogroup:x:65534:\n",
		 (long long)plan->uid);
	if (rc == 0)
		rc = cv_root_write(r->fd, "etc/group", text);
	snprintf(text, sizeof(text), "%s\n", host);
	if (rc == 0)
		rc = cv_root_write(r->fd, "etc/hostname", text);
	snprintf(text, sizeof(text),
		 "127.0.0.1 localhost %s\n::1 localhost ip6-localhost ip6-loopback\n", host);
	if (rc == 0 && !plan->host_network)
		rc = cv_root_write(r->fd, "etc/hosts", text);
	if (rc == 0 && !plan->host_network)
		rc = cv_root_write(r->fd, "etc/resolv.conf", "");
	return rc;
}

int cv_root_etc(struct cv_root *r)
{
	CV_CLOSE int etc = open("/etc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int rc = cv_root_mkdir(r, "etc");

	if (rc == 0)
		rc = make_up(r);
	for (size_t i = 0; rc == 0 && etc >= 0 && i < CV_LEN(taken); i++)
		rc = take(r, etc, taken[i], false);
	for (size_t i = 0; rc == 0 && r->plan->host_network && i < CV_LEN(network_files); i++)
		rc = take(r, etc, network_files[i], true);
	return rc;
}
