/* SPDX-License-Identifier: MIT */
/* control_socket.h - the control socket as a file: made with care, removed only when it is ours. */
#ifndef FIB_SERVICE_CONTROL_SOCKET_H
#define FIB_SERVICE_CONTROL_SOCKET_H

#include "service/socket_path.h"

struct fib_control_socket {
	int fd;	   /* listens; -1: closed */
	bool shut; /* by fib_control_socket_shut(); its file is there */
	uint64_t device, inode;
	char path[FIB_OS_LOCAL_MAX + 1];
};

/* Make the socket that place describes. Refuses what it cannot trust with one line on stderr that names
 * the remedy. 0, or a negative errno with fd -1. Allocates. */
int fib_control_socket_open(struct fib_control_socket *control_socket,
			    const struct fib_socket_path *socket_path);

/* Close it and remove the file if it still is the one that was made. */
void fib_control_socket_close(struct fib_control_socket *control_socket);

/* Accept one connection, of somebody who may ask. The descriptor, non-blocking, and who that is; -EAGAIN: there is none, or it was
 * turned away, or the door is shut; or another negative errno. The service thread. */
struct fib_os_who;
int fib_control_socket_accept(struct fib_control_socket *control_socket, struct fib_os_who *ret);

/* A sandbox refuses that call: say so and listen no more. The socket's file stays, since removing it takes another call. */
void fib_control_socket_shut(struct fib_control_socket *control_socket, const char *call);

#endif
