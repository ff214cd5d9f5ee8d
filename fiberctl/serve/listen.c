/* SPDX-License-Identifier: MIT */
/*
 * listen.c - the socket of the server
 *
 * Names are not resolved: an address that is meant to be on this machine only must not depend on a
 * name server. A UNIX socket is created with mode 0600 in a folder that must exist. A socket that
 * no process listens at any more is replaced.
 */
#include "fiberctl/serve/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tool/options.h"
#include "tool/tool.h"

#define BACKLOG 128

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un local;
};

struct opening {
	const char *where;
	struct serve_access *access;
	struct serve_listen *ret;
	struct ins_error *error;
};

static int wrong(const struct opening *o, const char *why)
{
	ins_error_set(o->error, 0, "--listen %s: %s", o->where, why);
	return TOOL_USAGE;
}

static int cannot(const struct opening *o)
{
	const int error = errno;

	ins_error_set(o->error, 0, "--listen %s: %s%s", o->where, strerror(error),
		      error == EADDRINUSE ? ": choose another port, or 0 for any" : "");
	return TOOL_CANNOT;
}

/* -- UNIX sockets -- */

/* Whether a process listens at the path. */
static bool is_used(const union address *address)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const bool used = fd >= 0 && connect(fd, &address->any, sizeof address->local) == 0;

	if (fd >= 0)
		close(fd);
	return used;
}

static int open_local(const struct opening *o, const char *path)
{
	union address address = {.local = {.sun_family = AF_UNIX}};
	struct stat file;
	mode_t mask;
	int rc;

	if (!path[0] || strlen(path) >= sizeof address.local.sun_path)
		return wrong(o, "the path must have 1 to 107 bytes");
	snprintf(address.local.sun_path, sizeof address.local.sun_path, "%s", path);
	if (lstat(path, &file) == 0 && !S_ISSOCK(file.st_mode))
		return wrong(o, "a file of that name exists and is not a socket");
	if (is_used(&address))
		return wrong(o, "another process listens there");
	unlink(path);
	o->ret->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mask = umask(0177);
	rc = o->ret->fd < 0 ? -1 : bind(o->ret->fd, &address.any, sizeof address.local);
	umask(mask);
	if (rc < 0 || listen(o->ret->fd, BACKLOG) < 0)
		return cannot(o);
	snprintf(o->ret->path, sizeof o->ret->path, "%s", path);
	return TOOL_WELL;
}

/* -- TCP -- */

/* Split "ADDRESS:PORT" or "PORT". */
static int split(const struct opening *o, char address[64], unsigned *ret_port)
{
	const char *where = o->where;
	const char *colon = strrchr(where, ':'), *number = colon ? colon + 1 : where;
	size_t n = colon ? (size_t)(colon - where) : 0;
	uint64_t port;

	if (!tool_parse_number(number, 0, 65535, &port) || n >= 64)
		return wrong(o, "must be ADDRESS:PORT, PORT or unix:PATH");
	*ret_port = (unsigned)port;
	if (n >= 2 && where[0] == '[' && where[n - 1] == ']') {
		where++;
		n -= 2;
	}
	snprintf(address, 64, "%.*s", (int)n, n ? where : "");
	if (!n)
		snprintf(address, 64, "127.0.0.1");
	return TOOL_WELL;
}

static int fill(const struct opening *o, const char *text, unsigned port, union address *ret)
{
	struct serve_access *access = o->access;

	if (inet_pton(AF_INET, text, &ret->v4.sin_addr) == 1) {
		ret->v4.sin_family = AF_INET;
		ret->v4.sin_port = htons((uint16_t)port);
		access->loopback = (ntohl(ret->v4.sin_addr.s_addr) >> 24) == 127;
		snprintf(access->host, sizeof access->host, "%s", text);
	} else if (inet_pton(AF_INET6, text, &ret->v6.sin6_addr) == 1) {
		ret->v6.sin6_family = AF_INET6;
		ret->v6.sin6_port = htons((uint16_t)port);
		access->loopback = IN6_IS_ADDR_LOOPBACK(&ret->v6.sin6_addr);
		snprintf(access->host, sizeof access->host, "[%s]", text);
	} else {
		return wrong(o, "the address must be numeric, such as 127.0.0.1 or [::1]");
	}
	if (!access->loopback && !access->token[0])
		return wrong(o, "others can reach this address: it needs --token-file FILE");
	return TOOL_WELL;
}

static int open_tcp(const struct opening *o)
{
	union address address = {.v6 = {0}};
	socklen_t size;
	char text[64];
	const int yes = 1;
	int rc = split(o, text, &o->access->port);

	if (rc == TOOL_WELL)
		rc = fill(o, text, o->access->port, &address);
	if (rc != TOOL_WELL)
		return rc;
	size = address.any.sa_family == AF_INET ? sizeof address.v4 : sizeof address.v6;
	o->ret->fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (o->ret->fd < 0 ||
	    setsockopt(o->ret->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) < 0 ||
	    bind(o->ret->fd, &address.any, size) < 0 || listen(o->ret->fd, BACKLOG) < 0 ||
	    getsockname(o->ret->fd, &address.any, &size) < 0)
		return cannot(o);
	o->access->port = ntohs(address.any.sa_family == AF_INET ? address.v4.sin_port
								 : address.v6.sin6_port);
	return TOOL_WELL;
}

int serve_listen_open(const char *where, struct serve_access *access, struct serve_listen *ret,
		      struct ins_error *error)
{
	const struct opening opening = {where, access, ret, error};
	int rc;

	*ret = (struct serve_listen){.fd = -1};
	access->loopback = strncmp(where, "unix:", 5) == 0;
	rc = access->loopback ? open_local(&opening, where + 5) : open_tcp(&opening);
	if (rc != TOOL_WELL)
		serve_listen_close(ret);
	return rc;
}

void serve_listen_close(struct serve_listen *listen)
{
	if (listen->fd >= 0)
		close(listen->fd);
	if (listen->path[0])
		unlink(listen->path);
	*listen = (struct serve_listen){.fd = -1};
}
