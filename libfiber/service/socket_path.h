/* SPDX-License-Identifier: MIT */
/* socket_path.h - choose the path of the control socket and what its clients may do */
#ifndef FIB_SERVICE_SOCKET_PATH_H
#define FIB_SERVICE_SOCKET_PATH_H

#include <stdbool.h>

#include "os/local.h"
#include "wire/wire.h"

struct fib_socket_path {
	bool wanted;	 /* false: no control socket; the other fields are not set */
	bool own_folder; /* the library makes, checks and tidies the folder */
	enum fib_wire_mode mode;
	char folder[FIB_OS_LOCAL_MAX + 1];
	char path[FIB_OS_LOCAL_MAX + 1];  /* of the socket */
	char draft[FIB_OS_LOCAL_MAX + 1]; /* its name until it is ready */
};

/*
 * Decide from the environment (FIBER_CONTROL, FIBER_CONTROL_PATH, XDG_RUNTIME_DIR) and the
 * program's option (NULL: default path, "": none). The environment overrides the option. 0, also if
 * no socket is wanted; -EINVAL for an unknown FIBER_CONTROL, -ENAMETOOLONG: one line was printed
 * that says what to do.
 */
int fib_socket_path_choose(struct fib_socket_path *socket_path, const char *option, pid_t pid);

#endif
