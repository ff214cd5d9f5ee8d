/* SPDX-License-Identifier: MIT */
/* door.h - the control socket as a file: made with care, removed only when it is ours. */
#ifndef FIB_SERVICE_DOOR_H
#define FIB_SERVICE_DOOR_H

#include "service/place.h"

struct fib_door {
	int fd;	   /* listens; -1: closed */
	bool shut; /* by fib_door_shut(); its file is there */
	uint64_t device, inode;
	char path[FIB_OS_LOCAL_MAX + 1];
};

/* Make the socket that place describes. Refuses what it cannot trust with one line on stderr that names
 * the remedy. 0, or a negative errno with fd -1. Allocates. */
int fib_door_open(struct fib_door *door, const struct fib_place *place);

/* Close it and remove the file if it still is the one that was made. */
void fib_door_close(struct fib_door *door);

/* Accept one connection, of somebody who may ask. The descriptor, non-blocking, and who that is; -EAGAIN: there is none, or it was
 * turned away, or the door is shut; or another negative errno. The service thread. */
struct fib_os_who;
int fib_door_accept(struct fib_door *door, struct fib_os_who *ret);

/* A sandbox refuses that call: say so and listen no more. The socket's file stays, since removing it takes another call. */
void fib_door_shut(struct fib_door *door, const char *call);

#endif
