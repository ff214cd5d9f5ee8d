/* SPDX-License-Identifier: MIT */
/* control_socket.h - the control socket as a file: created safely, removed only by its creator */
#ifndef FIB_SERVICE_CONTROL_SOCKET_H
#define FIB_SERVICE_CONTROL_SOCKET_H

#include "service/socket_path.h"

struct fib_control_socket {
	int fd;	   /* listens; -1: closed */
	bool shut; /* closed by fib_control_socket_shut(); the file is still there */
	uint64_t device, inode;
	char path[FIB_OS_LOCAL_MAX + 1];
};

/*
 * Make the socket that place describes. If something cannot be trusted, it is refused with one line
 * on stderr that says what to do. 0, or a negative errno with fd -1. Allocates.
 */
int fib_control_socket_open(struct fib_control_socket *control_socket,
			    const struct fib_socket_path *socket_path);

/* Close it, and remove the file if it is still the one that was made. */
void fib_control_socket_close(struct fib_control_socket *control_socket);

/*
 * Accept one connection of an authorized user. Returns the descriptor, non-blocking, and the user
 * in *ret; -EAGAIN: there is none, or it was refused, or the socket is shut; or another negative
 * errno. Called by the service thread.
 */
struct fib_os_who;
int fib_control_socket_accept(struct fib_control_socket *control_socket, struct fib_os_who *ret);

/*
 * A sandbox refuses that call: report it and stop listening. The file stays, since removing it
 * takes another call.
 */
void fib_control_socket_shut(struct fib_control_socket *control_socket, const char *call);

#endif
