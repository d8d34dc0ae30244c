/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sockets that listen, as /proc/net/tcp and tcp6 tell: every kernel has those, while the netlink
 * that tells more is often left out.
 */
#include "ports/ports.h"

#include <stdio.h>
#include <sys/socket.h>

#define LISTEN 0x0A /* the kernel's TCP_LISTEN */

/* An address is words of eight digits, each in the order of this machine. */
static bool parse_address(const char *hex, size_t words, struct in6_addr *ret)
{
	if (strlen(hex) != 8 * words)
		return false;
	for (size_t i = 0; i < words; i++) {
		char word[9] = "";
		uint32_t n;

		memcpy(word, hex + 8 * i, 8);
		n = (uint32_t)strtoul(word, NULL, 16);
		memcpy(&ret->s6_addr[4 * i], &n, 4);
	}
	return true;
}

static void take_line(struct cv_sockets *s, int family, const char *line)
{
	struct cv_socket to = {.family = family};
	char hex[33];
	unsigned port;
	unsigned state;

	/* NOLINTNEXTLINE(cert-err34-c): the kernel's own numbers, each within its type */
	if (sscanf(line, " %*d: %32[0-9A-F]:%x %*32[0-9A-F]:%*x %x %*s %*s %*s %*d %*d %u", hex,
		   &port, &state, &to.inode) != 4 ||
	    state != LISTEN || s->count == CV_PORTS_MAX)
		return;
	to.port = (int)port;
	if (parse_address(hex, family == AF_INET ? 1 : 4, &to.address))
		s->list[s->count++] = to;
}

static int take(struct cv_sockets *s, int family, const char *path)
{
	FILE *f = fopen(path, "re");
	char line[512];

	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f))
		take_line(s, family, line);
	fclose(f);
	return 0;
}

int cv_sockets_list(struct cv_sockets *s)
{
	int four;
	int six;

	s->count = 0;
	four = take(s, AF_INET, "/proc/net/tcp");
	six = take(s, AF_INET6, "/proc/net/tcp6");
	/* A machine may have one family only. */
	return four < 0 && six < 0 ? four : 0;
}
