/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognises secrets by the names of variables and by the shape of well-known tokens.
 *
 * Redaction keeps the length of a text, so it can run in place on any buffer and can't fail.
 */
#include "base/secret.h"

#include <ctype.h>
#include <strings.h>

static const char *const parts[] = {"_KEY",   "_TOKEN",	     "_SECRET",	   "PASSWORD",
				    "PASSWD", "_CREDENTIAL", "_PASSPHRASE"};

/* Not secrets themselves, but sockets and addresses through which the host's rights can be used. */
static const char *const doors[] = {
	"SSH_AUTH_SOCK", "DOCKER_HOST", "GPG_AGENT_INFO", "KUBECONFIG", "DBUS_SESSION_BUS_ADDRESS",
	"SSH_AGENT_PID", "API_KEY",	"TOKEN",	  "SECRET",	"APIKEY"};

static bool has(const char *name, size_t len, const char *part)
{
	size_t n = strlen(part);

	for (size_t i = 0; i + n <= len; i++)
		if (strncasecmp(name + i, part, n) == 0)
			return true;
	return false;
}

bool cv_secret_name(const char *name, size_t len)
{
	for (size_t i = 0; i < CV_LEN(parts); i++)
		if (has(name, len, parts[i]))
			return true;
	for (size_t i = 0; i < CV_LEN(doors); i++)
		if (strlen(doors[i]) == len && strncasecmp(name, doors[i], len) == 0)
			return true;
	return false;
}

static bool name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool token_char(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("-_.~+/=", c));
}

static char *mask_token(char *p)
{
	while (token_char(*p))
		*p++ = '*';
	return p;
}

/* A value ends at white space, or at the closing quote where it began with one. */
static char *mask_value(char *p)
{
	char quote = *p == '"' || *p == '\'' ? *p++ : '\0';

	while (*p && (quote ? *p != quote : !isspace((unsigned char)*p)))
		*p++ = '*';
	return p;
}

static char *mask_assignment(char *p)
{
	char *start = p;

	while (name_char(*p))
		p++;
	if (*p == '=' && cv_secret_name(start, (size_t)(p - start)))
		return mask_value(p + 1);
	return p;
}

void cv_redact(char *text)
{
	char *p = text;

	while (*p) {
		bool starts_word = p == text || !name_char(p[-1]);

		if (starts_word && strncasecmp(p, "bearer ", 7) == 0)
			p = mask_token(p + 7);
		else if (starts_word && strncmp(p, "sk-", 3) == 0 &&
			 strcspn(p + 3, " \t\n\"'") >= 8)
			p = mask_token(p + 3);
		else if (starts_word && name_char(*p))
			p = mask_assignment(p);
		else
			p++;
	}
}
