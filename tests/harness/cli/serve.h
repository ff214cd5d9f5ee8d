/* SPDX-License-Identifier: MIT */
/*
 * serve.h - run `fiberctl serve` and ask it over HTTP
 *
 * The server finds the programs of the test only, because their sockets are in the test's folder.
 * Paths are given printf style where that is possible.
 */
#ifndef HARNESS_CLI_SERVE_H
#define HARNESS_CLI_SERVE_H

#include "tests/harness/cli/http.h"
#include "tests/harness/cli/json.h"

struct serve {
	struct harness_process *process;
	unsigned port;	/* 0: it listens at ... */
	char path[108]; /* ... this UNIX socket */
	char token[64]; /* that a change needs; "": changes are off */
};

/* Start `fiberctl serve --listen 127.0.0.1:0` with more arguments up to NULL. */
struct serve serve_start(const char *first, ...) __attribute__((sentinel));

/* Start it with --listen WHERE, and with how: NULL: as the test. */
struct serve serve_start_at(const struct harness_how *how, const char *where, const char *first,
			    const char *second);

/* End it with SIGTERM; assert that it exits with 0 and that none of its processes is left. Nothing is
 * done for one that has ended. */
void serve_end(struct serve *server);

/* Open a connection. */
int serve_connect(const struct serve *server);

/* Send a request with these fields, each "Name: value\r\n", behind Host. */
void serve_send(const struct serve *server, int fd, const char *method, const char *path,
		const char *fields);

/* Send a request over a new connection and read the answer, which the caller drops. */
struct http_reply serve_ask(const struct serve *server, const char *method, const char *path,
			    const char *fields);
struct http_reply serve_get(const struct serve *server, const char *path, ...)
	__attribute__((format(printf, 2, 3)));

/* The JSON of a GET whose status must be this one. The caller calls json_decref(). */
json_t *serve_json(const struct serve *server, int status, const char *path, ...)
	__attribute__((format(printf, 3, 4)));

/* Parse the JSON of a reply. */
json_t *serve_parse(const struct http_reply *reply);

/* POST a change with the token; the JSON of the answer, whose status must be this one. */
json_t *serve_change(const struct serve *server, int status, const char *path, ...)
	__attribute__((format(printf, 3, 4)));

/* Assert that an answer is an error with this status, whose text contains `what`; drop it. */
void serve_refused(struct http_reply reply, int status, const char *what);

/* Send a question about a program, over a connection of its own: "list?limit=3". */
int serve_ask_about(const struct serve *server, pid_t about, const char *question);

/* Read the answer and close the connection. It must be JSON: 200, or 502 or 504, the errors of a
 * program. Returns the status. */
int serve_answered(int fd);

/* Wait until the server has found a program; known false: until it no longer has it. */
void serve_await_known(const struct serve *server, pid_t about, bool known);

/* Assert that the server answers a client. */
void serve_alive(const struct serve *server);

/* The pids of the server's processes, itself first; their number. */
#define SERVE_PROCESSES 256
size_t serve_processes(const struct serve *server, pid_t ret[SERVE_PROCESSES]);

/* The bytes of memory of the server's processes that are in RAM. Shared pages are divided. */
size_t serve_memory(const struct serve *server);

#endif
