/* SPDX-License-Identifier: MIT */
/* http.h - clients for the HTTP servers among the fixtures, one blocking connection at a time. */
#ifndef HARNESS_CLI_HTTP_H
#define HARNESS_CLI_HTTP_H

#include "tests/harness/cli/cli.h"

/* Start httpd on a free port with up to two arguments; the port in *ret_port. */
struct harness_process *http_start(const struct harness_how *how, const char *first,
				   const char *second, unsigned *ret_port);

/* The three servers, which wait in three different ways. Each is started with the file that /file
 * returns (NULL: none) and the time in ms after which a client that reads nothing is dropped. */
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

/* Make a file of `size` random-looking bytes; its path in buf of HARNESS_PATH bytes. */
void http_make_file(const char *name, size_t size, char *buf);

/* Read up to the end of the stream and append a NUL; asserts that it fits. */
size_t http_rest(int fd, char *bytes, size_t room);

/* Connect to a port of 127.0.0.1; reads time out after CLI_SECONDS. */
int http_connect(unsigned port);

/* Send bytes; asserts that all were sent. */
void http_send(int fd, const char *bytes);

/* Read one answer with a Content-Length. Returns its status, 0 if the connection ended first; the
 * body in buf. */
int http_answer(int fd, char *body, size_t size);

/* An answer with its head. status 0: the connection ended first. */
struct http_reply {
	int status;
	char head[4096]; /* its lines, with an empty one at the end */
	char *body;	 /* NUL-terminated */
	size_t size;
};

/* Read one answer of any size. without_body: the request was a HEAD. Then http_drop() it. */
struct http_reply http_read(int fd, bool without_body);
void http_drop(struct http_reply *reply);

/* Copy the value of a field of the head to buf; "" if it is absent. Returns buf. */
const char *http_field(const struct http_reply *reply, const char *name, char *buf, size_t size);

/* GET path over a new connection and assert a 200. */
void http_alive(unsigned port);

#endif
