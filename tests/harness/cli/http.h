/* SPDX-License-Identifier: MIT */
/* http.h - a client for the fixture httpd, one blocking connection at a time. */
#ifndef HARNESS_CLI_HTTP_H
#define HARNESS_CLI_HTTP_H

#include "tests/harness/cli/cli.h"

/* Start httpd on a free port with up to two arguments; *ret_port is where it listens. */
struct harness_process *http_start(const struct harness_how *how, const char *first,
				   const char *second, unsigned *ret_port);

/* A connection to a port of 127.0.0.1 whose reads give up after CLI_SECONDS. */
int http_connect(unsigned port);

/* Send raw bytes; asserts that all went out. */
void http_send(int fd, const char *bytes);

/* Read one answer with a Content-Length. Its status, 0 when the connection ended first; its body in buf. */
int http_answer(int fd, char *body, size_t size);

/* GET path over a connection of its own and assert a 200. */
void http_alive(unsigned port);

#endif
