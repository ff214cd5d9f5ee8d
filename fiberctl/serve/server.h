/* SPDX-License-Identifier: MIT */
/* server.h - the parts of `fiberctl serve`, and its requests */
#ifndef SERVE_SERVER_H
#define SERVE_SERVER_H

#include "fiberctl/serve/access.h"
#include "fiberctl/serve/desk.h"
#include "fiberctl/serve/errand.h"
#include "fiberctl/serve/gather.h"
#include "fiberctl/serve/question.h"
#include "fiberctl/serve/readers.h"
#include "fiberctl/serve/recordings.h"

struct serve_server {
	struct serve_access access;
	struct serve_desk desk;
	struct serve_gathers gathers;
	struct serve_errands errands;
	struct serve_recordings recordings;
	struct serve_readers readers;
	struct MHD_Daemon *daemon;
};

/* A request that is being answered. */
struct serve_request {
	struct serve_waiter waiter;  /* first */
	struct serve_answer *answer; /* NULL: not there yet, or no memory if ... */
	bool done;		     /* ... this is set */
	bool suspended;		     /* the connection waits for it */
	bool page;		     /* the answer is the page of a report */
	struct MHD_Connection *connection;
	struct serve_reader reader;
	struct serve_params params;
	bool too_many; /* parameters */
};

/* Find the answer to a request. It calls request->waiter.done(), now or later. routes.c */
void serve_route(struct serve_server *server, struct serve_request *request, const char *path,
		 bool post, int64_t now);

/* Whether the path is a file of the page, which anyone may have. routes.c */
bool serve_is_open(const char *path);

/* Start to answer connections at the socket. False after a line on stderr. http.c */
bool serve_http_begin(struct serve_server *server, int fd);

/* Answer the requests that have arrived. */
void serve_http_work(struct serve_server *server);
void serve_http_end(struct serve_server *server);

#endif
