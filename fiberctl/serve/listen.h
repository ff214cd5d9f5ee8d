/* SPDX-License-Identifier: MIT */
/* listen.h - parse --listen and open the socket of the server */
#ifndef SERVE_LISTEN_H
#define SERVE_LISTEN_H

#include "fiberctl/serve/access.h"
#include "inspect/text/error.h"

#define SERVE_LISTEN "127.0.0.1:6060"

struct serve_listen {
	int fd;
	char path[108]; /* of a UNIX socket, removed at the end; "": none */
};

/*
 * Open the socket that `where` names: ADDRESS:PORT, [ADDRESS]:PORT, PORT, or unix:PATH. Port 0: any
 * free one. An address that others can reach needs access->token. Sets host, port and loopback of
 * access. Returns TOOL_WELL; or TOOL_USAGE or TOOL_CANNOT with error set.
 */
int serve_listen_open(const char *where, struct serve_access *access, struct serve_listen *ret,
		      struct ins_error *error);

void serve_listen_close(struct serve_listen *listen);

#endif
