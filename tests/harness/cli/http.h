/* SPDX-License-Identifier: MIT */
/* http.h - clients for the HTTP servers among the fixtures, one blocking connection at a time. */
#ifndef HARNESS_CLI_HTTP_H
#define HARNESS_CLI_HTTP_H

#include "tests/harness/cli/cli.h"

/* Start httpd on a free port with up to two arguments; *ret_port is where it listens. */
struct harness_process *http_start(const struct harness_how *how, const char *first,
				   const char *second, unsigned *ret_port);

/* The three servers that wait in three ways, each started with what /file answers (NULL: nothing) and
 * the time in ms that a client is given which takes nothing. */
#define HTTP_SERVERS 3
struct http_server {
	struct harness_process *process;
	unsigned port;
};
void http_start_all(const char *file, const char *patience,
		    struct http_server ret_servers[HTTP_SERVERS]);
void http_end_all(struct http_server servers[HTTP_SERVERS]);

#define HTTP_GET(path)	"GET " path " HTTP/1.1\r\nHost: localhost\r\n\r\n"
#define HTTP_LAST(path) "GET " path " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

/* A file of so many bytes that look random; path in buf of HARNESS_PATH. */
void http_make_file(const char *name, size_t size, char *buf);

/* Everything up to the end of the stream, with a NUL behind it; asserts that it fits. */
size_t http_rest(int fd, char *bytes, size_t room);

/* A connection to a port of 127.0.0.1 whose reads give up after CLI_SECONDS. */
int http_connect(unsigned port);

/* Send raw bytes; asserts that all went out. */
void http_send(int fd, const char *bytes);

/* Read one answer with a Content-Length. Its status, 0 when the connection ended first; its body in buf. */
int http_answer(int fd, char *body, size_t size);

/* GET path over a connection of its own and assert a 200. */
void http_alive(unsigned port);

#endif
