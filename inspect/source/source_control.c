/* SPDX-License-Identifier: MIT */
/* source_control.c - the fibers of a process that answers on its control socket */
#include "inspect/source/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/process/silence.h"
#include "inspect/model/running.h"
#include "inspect/source/carrier_thread.h"
#include "inspect/source/frames.h"
#include "wire/client.h"

struct control {
	struct ins_source source;
	struct fib_wire_client client;
	struct ins_frames frames;
	char path[128];
};

/* The pid in our pid namespace, if known. */
static pid_t pid_of(const struct control *c)
{
	return c->source.modules && c->source.modules->pid ? c->source.modules->pid : c->source.pid;
}

static int failed(const struct control *c, int rc, struct ins_error *error)
{
	char why[INS_ACCESS_EXPLAIN_SIZE];

	return ins_error_set(error, rc, "%s: %s", c->path,
			     ins_process_silence(c->path, pid_of(c), rc, why, sizeof why));
}

static int receive_all(struct control *c, struct ins_error *error)
{
	while (!c->frames.done) {
		struct fib_wire_header header;
		const uint64_t before = c->frames.news;
		const void *payload;
		int rc = fib_wire_receive(&c->client, &header, &payload);

		if (rc < 0)
			return failed(c, rc, error);
		rc = ins_frames_take(&c->frames, &header, payload, error);
		if (rc)
			return rc;
		fib_wire_news(&c->client, c->frames.news - before);
	}
	return 0;
}

static int control_read(struct ins_source *source, const struct ins_request *request,
			ins_fiber_fn *fn, void *context, struct ins_summary *ret,
			struct ins_error *error)
{
	struct control *c = (struct control *)source;
	const struct fib_wire_list list = {
		(request->high_water ? FIB_WIRE_WANT_HIGH_WATER : 0) |
			(request->labels ? FIB_WIRE_WANT_LABELS : 0) |
			(request->modules ? FIB_WIRE_WANT_MAPS : 0) |
			(request->reads ? FIB_WIRE_WANT_READS : 0),
	};
	const struct fib_wire_id id = {request->id};
	const struct fib_wire_stack_of stack = {request->id, list.wanted | FIB_WIRE_WANT_MAPS, 0};
	int rc;

	c->client.longest_ns = source->longest;
	ins_frames_begin(&c->frames, request, fn, context, ret);
	if (request->stacks)
		rc = fib_wire_request(&c->client, FIB_WIRE_STACK, &stack, sizeof stack);
	else if (request->id)
		rc = fib_wire_request(&c->client, FIB_WIRE_SHOW, &id, sizeof id);
	else
		rc = fib_wire_request(&c->client, FIB_WIRE_LIST, &list, sizeof list);
	return rc < 0 ? failed(c, rc, error) : receive_all(c, error);
}

static void control_close(struct ins_source *source)
{
	struct control *c = (struct control *)source;

	fib_wire_disconnect(&c->client);
	ins_modules_free(source->modules);
	ins_problems_free(&source->problems);
	ins_frames_free(&c->frames);
	free(c);
}

static int control_events(struct ins_source *source, const struct fib_wire_events *request,
			  ins_event_fn *fn, void *context, struct ins_summary *ret,
			  struct ins_error *error)
{
	struct control *c = (struct control *)source;
	int rc;

	ins_frames_begin_events(&c->frames, fn, context, ret);
	rc = fib_wire_request(&c->client, FIB_WIRE_EVENTS, request, sizeof *request);
	if (rc < 0)
		return failed(c, rc, error);
	rc = receive_all(c, error);
	/* Also without an event, for the caller's own addresses. */
	return rc == 0 ? ins_frames_map(&c->frames, error) : rc;
}

/*
 * Receive the answer about one thread. An older program does not know the request and closes the
 * connection, so each request has its own.
 */
static int receive_thread(struct fib_wire_client *client, uint64_t tid,
			  struct ins_thread_stack *ret)
{
	const struct fib_wire_thread request = {tid};
	struct fib_wire_header header;
	struct fib_wire_error e;
	const void *payload;
	bool taken = false;
	int rc = fib_wire_request(client, FIB_WIRE_THREAD, &request, sizeof request);

	while (rc == 0) {
		rc = fib_wire_receive(client, &header, &payload);
		if (rc < 0)
			break;
		if (header.type == FIB_WIRE_END && taken)
			return 0;
		if (header.type == FIB_WIRE_THREAD_IS && !taken) {
			rc = ins_thread_stack_take(payload, header.length, tid, ret);
			taken = rc == 0;
		} else if (header.type == FIB_WIRE_END || header.type == FIB_WIRE_THREAD_IS) {
			rc = -EPROTO;
		} else if (header.type == FIB_WIRE_ERROR) {
			e.error = 0;
			if (header.length >= sizeof e)
				memcpy(&e, payload, sizeof e);
			rc = e.error < 0 ? e.error : -EPROTO;
		}
	}
	if (taken)
		ins_thread_stack_free(ret);
	return rc;
}

/* Whether the peer is the process that the source was opened for. */
static int same(const struct fib_wire_client *client, pid_t pid)
{
	return pid && fib_wire_peer(client) != pid ? -ESTALE : 0;
}

static int control_thread(struct ins_source *source, uint64_t tid, struct ins_thread_stack *ret)
{
	const struct control *c = (const struct control *)source;
	struct fib_wire_client client;
	int rc = fib_wire_connect(&client, c->path, c->client.timeout_ns);

	if (rc < 0)
		return rc;
	rc = same(&client, c->source.modules->pid);
	if (rc == 0)
		rc = receive_thread(&client, tid, ret);
	fib_wire_disconnect(&client);
	return rc;
}

static int control_running(struct ins_source *source, struct ins_running *ret)
{
	const struct control *c = (const struct control *)source;
	struct ins_thread_stack stack;
	struct fib_wire_client client;
	uint64_t tid = 0, after = 0;
	int rc = fib_wire_connect(&client, c->path, c->client.timeout_ns);

	if (rc < 0)
		return rc;
	rc = same(&client, c->source.modules->pid);
	if (rc == 0)
		rc = ins_carrier_thread(&client, ret->fiber.row.id, &tid);
	if (rc == 0 && tid)
		rc = receive_thread(&client, tid, &stack);
	if (rc == 0 && tid) {
		rc = ins_carrier_thread(&client, ret->fiber.row.id, &after);
		if (rc == 0 && after == tid)
			ins_running_take(&stack, false, ret);
		ins_thread_stack_free(&stack);
	}
	fib_wire_disconnect(&client);
	return rc;
}

static const struct ins_source_ops control_ops = {
	.read = control_read,
	.close = control_close,
	.events = control_events,
	.thread = control_thread,
	.running = control_running,
};

int ins_source_open_control(const char *path, pid_t pid, int64_t timeout_ns,
			    struct ins_error *error, struct ins_source **ret)
{
	struct control *c = calloc(1, sizeof *c);
	int rc;

	if (!c)
		return ins_error_set(error, -ENOMEM, "out of memory");
	snprintf(c->path, sizeof c->path, "%s", path);
	c->client.fd = -1;
	ins_frames_init(&c->frames, &c->source, c->path);
	c->source.kind = "control";
	c->source.pid = pid;
	c->source.ops = &control_ops;
	rc = ins_modules_new(pid, NULL, NULL, &c->source.problems, &c->source.modules);
	if (rc < 0) {
		free(c);
		return ins_error_set(error, rc, "out of memory");
	}
	rc = fib_wire_connect(&c->client, path, timeout_ns);
	if (rc == 0)
		rc = same(&c->client, pid);
	if (rc < 0) {
		failed(c, rc, error);
		ins_modules_free(c->source.modules);
		free(c);
		return rc;
	}
	c->source.modules->pid = fib_wire_peer(&c->client);
	*ret = &c->source;
	return 0;
}
