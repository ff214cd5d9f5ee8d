/* SPDX-License-Identifier: MIT */
/* worker.h - the process that asks one program */
#ifndef SERVE_WORKER_H
#define SERVE_WORKER_H

#include "tool/socket.h"

/* The longest time for one answer, ns. */
#define SERVE_ANSWER_TIME INT64_C(10000000000)

/*
 * Start a worker for the program that listens at the socket. Returns its process id and its end of
 * the link in *ret_fd; or a negative errno.
 */
pid_t serve_worker_start(const struct tool_socket *socket, int *ret_fd);

#endif
