/* SPDX-License-Identifier: MIT */
/* socket_path.h - where the control socket goes, and what whoever talks to it may do. */
#ifndef FIB_SERVICE_SOCKET_PATH_H
#define FIB_SERVICE_SOCKET_PATH_H

#include <stdbool.h>

#include "os/local.h"
#include "wire/wire.h"

struct fib_socket_path {
	bool wanted;	 /* false: no control socket, and the rest means nothing */
	bool own_folder; /* the folder is ours to make, check and tidy */
	enum fib_wire_mode mode;
	char folder[FIB_OS_LOCAL_MAX + 1];
	char path[FIB_OS_LOCAL_MAX + 1];  /* of the socket */
	char draft[FIB_OS_LOCAL_MAX + 1]; /* what it is called until it is ready */
};

/*
 * Decide from the environment (FIBER_CONTROL, FIBER_CONTROL_PATH, XDG_RUNTIME_DIR) and the program's
 * option (NULL: default path, "": none), which the environment overrules. 0, also when no socket is wanted;
 * -EINVAL for an unknown FIBER_CONTROL, -ENAMETOOLONG: one line was printed that names the remedy.
 */
int fib_socket_path_choose(struct fib_socket_path *socket_path, const char *option, pid_t pid);

#endif
