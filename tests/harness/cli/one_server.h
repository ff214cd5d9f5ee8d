/* SPDX-License-Identifier: MIT */
/* one_server.h - one httpd for all tests of a program, with its port and its pid as an argument */
#ifndef HARNESS_CLI_ONE_SERVER_H
#define HARNESS_CLI_ONE_SERVER_H

#include <stdio.h>

#include "tests/harness/cli/http.h"

static struct harness_process *server;
static unsigned port;
static char pid[16];

/* The group's setup and teardown. */
static inline int one_server(void **state)
{
	(void)state;
	server = http_start(NULL, NULL, NULL, &port);
	snprintf(pid, sizeof(pid), "%d", server->pid);
	return 0;
}

static inline int one_server_end(void **state)
{
	(void)state;
	harness_free(server);
	return 0;
}

/* A test's teardown: the server must still answer. */
static inline int one_server_answers(void **state)
{
	(void)state;
	http_alive(port);
	return 0;
}

#endif
