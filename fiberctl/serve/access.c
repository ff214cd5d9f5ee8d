/* SPDX-License-Identifier: MIT */
/*
 * access.c - the checks of Host, Origin and tokens
 *
 * With a token that every request needs, any Host is accepted: a proxy may pass on its own name,
 * and a page of another site does not know the token. A browser sends Sec-Fetch-Site with each
 * request and cannot be made to send another value.
 */
#include "fiberctl/serve/access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inspect/text/escape.h"
#include "tool/report.h"

bool serve_access_same(const char *secret, const char *given)
{
	const size_t length = strlen(secret), all = strlen(given);
	unsigned char differs = length != all;
	size_t i;

	for (i = 0; i < all; i++)
		differs |= (unsigned char)(given[i] ^ secret[length ? i % length : 0]);
	return !differs;
}

/* Whether `text` is NAME:PORT, or NAME alone for the port of HTTP. */
static bool is_host(const char *text, const char *name, unsigned port)
{
	const size_t n = strlen(name);
	char number[16];

	if (strncasecmp(text, name, n) != 0)
		return false;
	snprintf(number, sizeof number, ":%u", port);
	return strcmp(text + n, number) == 0 || (port == 80 && !text[n]);
}

/* Whether `text` is a name of this machine for itself, with any port or none. */
static bool is_local(const char *text)
{
	static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
	size_t i, n;

	for (i = 0; i < sizeof names / sizeof names[0]; i++) {
		n = strlen(names[i]);
		if (strncasecmp(text, names[i], n) == 0 && (!text[n] || text[n] == ':'))
			return true;
	}
	return false;
}

static bool is_ours(const struct serve_access *access, const char *host)
{
	if (access->token[0])
		return true;
	/* A browser reaches a UNIX socket through a forwarded port, which ssh -L may choose freely. */
	if (!access->host[0])
		return is_local(host);
	return is_host(host, access->host, access->port) ||
	       (access->loopback && is_host(host, "localhost", access->port));
}

/* Whether the origin is http://HOST or https://HOST. */
static bool same_origin(const char *origin, const char *host)
{
	const char *name = strncmp(origin, "http://", 7) == 0	 ? origin + 7
			   : strncmp(origin, "https://", 8) == 0 ? origin + 8
								 : "";

	return name[0] && strcasecmp(name, host) == 0;
}

static bool has_token(const struct serve_access *access, const char *authorization)
{
	if (!access->token[0])
		return true;
	return authorization && strncasecmp(authorization, "Bearer ", 7) == 0 &&
	       serve_access_same(access->token, authorization + 7);
}

static unsigned refuse(unsigned status, const char *why, const char **ret_why)
{
	*ret_why = why;
	return status;
}

static unsigned check_change(const struct serve_access *access, const struct serve_headers *headers,
			     const char **ret_why)
{
	if (!access->changes)
		return refuse(403, "changes are off: start 'fiberctl serve' with --allow-changes",
			      ret_why);
	if (!headers->page_token || !serve_access_same(access->page_token, headers->page_token))
		return refuse(403,
			      "a change needs the header X-Fiber-Token with the token of "
			      "/api/v1/session",
			      ret_why);
	return 0;
}

unsigned serve_access_check(const struct serve_access *access, const struct serve_headers *headers,
			    bool open, bool changes, const char **ret_why)
{
	const char *site = headers->fetch_site;

	if (!headers->host || !is_ours(access, headers->host))
		return refuse(421, "the Host of the request is not a name of this server", ret_why);
	if (open && !changes)
		return 0;
	if (headers->origin && !same_origin(headers->origin, headers->host))
		return refuse(403, "the request comes from a page of another site", ret_why);
	if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0)
		return refuse(403, "the request comes from a page of another site", ret_why);
	if (!has_token(access, headers->authorization))
		return refuse(401, "needs the header 'Authorization: Bearer TOKEN'", ret_why);
	return changes ? check_change(access, headers, ret_why) : 0;
}

/* Whether all are visible ASCII characters. */
static bool is_plain(const char *text)
{
	for (; *text > ' ' && *text < 0x7f; text++)
		;
	return !*text;
}

bool serve_access_read_token(const char *path, char ret[SERVE_TOKEN_MOST + 1])
{
	char name[4096], bytes[SERVE_TOKEN_MOST + 3] = "";
	struct stat file;
	ssize_t size = -1;
	size_t length;
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	ins_escape(path, name, sizeof name);
	if (fd >= 0 && fstat(fd, &file) == 0)
		size = read(fd, bytes, sizeof bytes - 1);
	if (size < 0) {
		tool_cannot("--token-file %s: %s", name, strerror(errno));
		if (fd >= 0)
			close(fd);
		return false;
	}
	close(fd);
	if (file.st_mode & (S_IRWXG | S_IRWXO))
		return tool_cannot("--token-file %s: other users may use it: chmod 600", name),
		       false;
	length = strcspn(bytes, "\r\n");
	bytes[length] = 0;
	if (length < SERVE_TOKEN_LEAST || length > SERVE_TOKEN_MOST || !is_plain(bytes))
		return tool_cannot("--token-file %s: the first line must have %d to %d characters "
				   "without blanks",
				   name, SERVE_TOKEN_LEAST, SERVE_TOKEN_MOST),
		       false;
	memcpy(ret, bytes, length + 1);
	return true;
}

bool serve_access_make_token(char ret[33])
{
	unsigned char bytes[16];
	size_t i;

	if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
		return false;
	for (i = 0; i < sizeof bytes; i++)
		snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
	return true;
}
