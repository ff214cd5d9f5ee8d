/* SPDX-License-Identifier: MIT */
/* process_row.h - one program in the list of programs */
#ifndef FIBERCTL_PROCESS_ROW_H
#define FIBERCTL_PROCESS_ROW_H

#include <jansson.h>

#include "tool/socket.h"

/*
 * The command line of the process; if it is not visible from here, the name that it gives itself,
 * and its id.
 */
void ctl_process_describe(const struct fib_wire_process *p, const struct tool_socket *socket,
			  char *buf, size_t size);

/* The row of `fiberctl --json`. NULL: no memory. */
json_t *ctl_process_row(const struct fib_wire_process *p, const struct tool_socket *socket,
			const char *verdict);

#endif
