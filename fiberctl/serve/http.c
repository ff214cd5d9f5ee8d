/* SPDX-License-Identifier: MIT */
/*
 * http.c - requests and answers over libmicrohttpd
 *
 * One thread does everything. A request whose answer is not there yet suspends its connection, and
 * done() resumes it. Connections, the bytes of a request and the time of a silent client are
 * bounded.
 */
#include "fiberctl/serve/server.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "inspect/text/duration.h"
#include "tool/report.h"

#define CONNECTIONS    1024u
#define DESCRIPTORS    128u /* for all else */
#define REQUEST_MEMORY (16u * 1024)
#define PATIENCE       15u /* s that a client may do nothing */
#define BODY_MOST      4096u

static void done(struct serve_waiter *waiter, struct serve_answer *answer)
{
	struct serve_request *r = (struct serve_request *)waiter;

	r->answer = r->page ? serve_recordings_page(answer) : answer;
	r->done = true;
	if (r->suspended)
		MHD_resume_connection(r->connection);
	r->suspended = false;
}

static const char *header(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

static enum MHD_Result take_param(void *context, enum MHD_ValueKind kind, const char *name,
				  const char *value)
{
	struct serve_request *r = context;

	(void)kind;
	if (r->params.count == SERVE_PARAMS) {
		r->too_many = true;
		return MHD_NO;
	}
	r->params.at[r->params.count++] = (struct serve_param){name, value ? value : ""};
	return MHD_YES;
}

/* Check a new request and look for its answer. */
static void begin(struct serve_server *server, struct serve_request *r, const char *path,
		  const char *method)
{
	struct MHD_Connection *c = r->connection;
	const struct serve_headers headers = {
		.host = header(c, MHD_HTTP_HEADER_HOST),
		.origin = header(c, MHD_HTTP_HEADER_ORIGIN),
		.fetch_site = header(c, "Sec-Fetch-Site"),
		.authorization = header(c, MHD_HTTP_HEADER_AUTHORIZATION),
		.page_token = header(c, "X-Fiber-Token"),
	};
	const bool post = strcmp(method, MHD_HTTP_METHOD_POST) == 0;
	const bool get = strcmp(method, MHD_HTTP_METHOD_GET) == 0 ||
			 strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
	const int64_t now = ins_duration_now();
	const char *why;
	unsigned status =
		serve_access_check(&server->access, &headers, serve_is_open(path), post, &why);

	r->waiter.done = done;
	r->waiter.deadline = now + INT64_C(20000000000);
	MHD_get_connection_values(c, MHD_GET_ARGUMENT_KIND, take_param, r);
	if (status) {
		done(&r->waiter, serve_answer_error(status, "%s", why));
		if (status == MHD_HTTP_UNAUTHORIZED)
			serve_answer_header(r->answer, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
	} else if (!post && !get) {
		done(&r->waiter,
		     serve_answer_error(MHD_HTTP_METHOD_NOT_ALLOWED, "only GET, HEAD and POST"));
		serve_answer_header(r->answer, MHD_HTTP_HEADER_ALLOW, "GET, HEAD, POST");
	} else if (r->too_many) {
		done(&r->waiter, serve_answer_error(MHD_HTTP_BAD_REQUEST, "too many parameters"));
	} else {
		serve_route(server, r, path, post, now);
	}
}

static enum MHD_Result put(struct serve_server *server, struct serve_request *r)
{
	if (!r->answer)
		return MHD_NO;
	r->reader.connection = r->connection;
	r->reader.answer = r->answer;
	serve_readers_add(&server->readers, &r->reader);
	return MHD_queue_response(r->connection, r->answer->status, r->answer->response);
}

/*
 * Called for a new request, for each piece of its body, and after the body; once more after a
 * connection was resumed.
 */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *path,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **request)
{
	struct serve_request *r = *request;

	(void)version;
	(void)upload;
	if (!r) {
		r = calloc(1, sizeof *r);
		if (!r)
			return MHD_NO;
		r->connection = connection;
		*request = r;
		return MHD_YES;
	}
	if (*upload_size) { /* no request needs a body */
		*upload_size = 0;
		return MHD_YES;
	}
	if (!r->done)
		begin(context, r, path, method);
	if (r->done)
		return put(context, r);
	r->suspended = true;
	MHD_suspend_connection(connection);
	return MHD_YES;
}

static void completed(void *context, struct MHD_Connection *connection, void **request,
		      enum MHD_RequestTerminationCode why)
{
	struct serve_server *server = context;
	struct serve_request *r = *request;

	(void)connection;
	(void)why;
	if (r) {
		serve_readers_remove(&server->readers, &r->reader);
		serve_answer_drop(r->answer);
	}
	free(r);
	*request = NULL;
}

/* The number of connections that the limit of descriptors allows. */
static unsigned connections(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 256;
	if (limit.rlim_cur < CONNECTIONS + DESCRIPTORS) {
		limit.rlim_cur = limit.rlim_max < CONNECTIONS + DESCRIPTORS
					 ? limit.rlim_max
					 : CONNECTIONS + DESCRIPTORS;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
	return limit.rlim_cur >= CONNECTIONS + DESCRIPTORS ? CONNECTIONS
	       : limit.rlim_cur > 2 * DESCRIPTORS	   ? (unsigned)limit.rlim_cur - DESCRIPTORS
							   : DESCRIPTORS;
}

/*
 * Decode %XX in a path, a name or a value. A NUL would end the text for us, but not for the client, so
 * it becomes another control character, which is wrong everywhere. Returns the length.
 */
static size_t decode(void *context, struct MHD_Connection *connection, char *text)
{
	const size_t length = MHD_http_unescape(text);
	size_t i;

	(void)context;
	(void)connection;
	for (i = 0; i < length; i++)
		if (!text[i])
			text[i] = 1;
	return length;
}

static void silent(void *context, const char *format, va_list args)
{
	(void)context;
	(void)format;
	(void)args;
}

bool serve_http_begin(struct serve_server *server, int fd)
{
	server->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL, handle,
		server, MHD_OPTION_EXTERNAL_LOGGER, silent, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, connections(), MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)REQUEST_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT, PATIENCE,
		MHD_OPTION_UNESCAPE_CALLBACK, decode, NULL, MHD_OPTION_NOTIFY_COMPLETED, completed,
		server, MHD_OPTION_END);
	if (server->daemon)
		return true;
	tool_cannot("libmicrohttpd does not start: it needs epoll, and memory");
	return false;
}

void serve_http_work(struct serve_server *server)
{
	MHD_run(server->daemon);
	serve_readers_bound(&server->readers);
}

void serve_http_end(struct serve_server *server)
{
	if (server->daemon)
		MHD_stop_daemon(server->daemon);
}
