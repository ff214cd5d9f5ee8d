/* SPDX-License-Identifier: MIT */
/*
 * source_control.c - the fibers of a process that answers on its control socket
 *
 * The process sends rows and raw stacks; it never unwinds itself. Its memory cannot be read from
 * here, so code and unwind tables come from the files it has mapped. Everything that arrives is
 * checked like a stranger's: sizes against the frame that carries them, the layout like one read
 * from memory. Rows of another version are longer or shorter; what both know is kept.
 */
#include "inspect/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "inspect/slurp.h"
#include "wire/wire.h"

#define MAPS_MAX ((size_t)64 << 20)

struct control {
	struct ins_source source;
	struct fib_wire_client client;
	char path[128];
	bool mapped; /* modules are filled */
	bool has_layout;
	char *maps; /* text received so far */
	size_t maps_size;
	int64_t now; /* of the last PROCESS */
	/* during a read */
	bool done; /* END was received */
	const struct ins_request *request;
	ins_fiber_fn *fn;
	void *context;
	struct ins_summary *summary;
};

static int bad(struct control *c, const char *what, struct ins_error *error)
{
	return ins_error_set(error, -EPROTO, "%s: the answer makes no sense: %s", c->path, what);
}

static int take_process(struct control *c, const void *payload, size_t length,
			struct ins_error *error)
{
	struct fib_wire_process p;

	if (length < sizeof p)
		return bad(c, "a short process frame", error);
	memcpy(&p, payload, sizeof p);
	c->source.pid = p.pid;
	c->now = p.now;
	memcpy(c->source.name, p.name, sizeof c->source.name);
	c->source.name[sizeof c->source.name - 1] = 0;
	return 0;
}

static int take_layout(struct control *c, const void *payload, size_t length,
		       struct ins_error *error)
{
	const char *wrong;

	if (length < sizeof c->source.layout)
		return bad(c, "a short layout frame", error);
	memcpy(&c->source.layout, payload, sizeof c->source.layout);
	wrong = fib_layout_check(&c->source.layout);
	if (wrong)
		return bad(c, wrong, error);
	c->has_layout = true;
	return 0;
}

static int take_maps(struct control *c, const void *payload, size_t length, struct ins_error *error)
{
	char *more;

	if (c->mapped)
		return 0;
	if (length > MAPS_MAX - c->maps_size)
		return bad(c, "an endless list of mappings", error);
	more = realloc(c->maps, c->maps_size + length + 1);
	if (!more)
		return ins_error_set(error, -ENOMEM, "out of memory");
	c->maps = more;
	memcpy(more + c->maps_size, payload, length);
	c->maps_size += length;
	return 0;
}

/*
 * Before the first fiber: modules from what was sent. A request without stacks does not send the
 * mappings; then /proc is asked, and where that is refused, spawn sites stay addresses.
 */
static int fill_modules(struct control *c, struct ins_error *error)
{
	struct ins_modules *modules = c->source.modules;
	char path[64];
	int rc = 0;

	if (c->mapped)
		return 0;
	if (!c->maps && modules->pid) {
		snprintf(path, sizeof path, "/proc/%d/maps", (int)modules->pid);
		if (ins_slurp(path, &c->maps, &c->maps_size) < 0)
			c->maps = NULL;
	}
	if (c->maps)
		rc = ins_modules_parse_maps(modules, c->maps, c->maps_size);
	ins_modules_sort(modules);
	free(c->maps);
	c->maps = NULL;
	c->mapped = true;
	return rc < 0 ? ins_error_set(error, rc, "out of memory") : 0;
}

static void take_row(const unsigned char *bytes, size_t size, struct fib_row *ret)
{
	memset(ret, 0, sizeof *ret);
	memcpy(ret, bytes, size < sizeof *ret ? size : sizeof *ret);
	ret->name[sizeof ret->name - 1] = 0;
	ret->object_name[sizeof ret->object_name - 1] = 0;
	fib_row_end_labels(ret);
}

static int emit(struct control *c, const struct ins_fiber *fiber, struct ins_error *error)
{
	int rc;

	if (!c->has_layout)
		return bad(c, "fibers before the layout", error);
	rc = fill_modules(c, error);
	if (rc < 0)
		return rc;
	c->summary->shown++;
	return c->fn(c->context, fiber);
}

static int take_rows(struct control *c, const unsigned char *payload, size_t length,
		     struct ins_error *error)
{
	struct fib_wire_rows rows;
	uint32_t i;
	int rc;

	if (length < sizeof rows)
		return bad(c, "a short frame of rows", error);
	memcpy(&rows, payload, sizeof rows);
	if (!rows.row_size || rows.count > (length - sizeof rows) / rows.row_size)
		return bad(c, "more rows than bytes", error);
	for (i = 0; i < rows.count; i++) {
		struct ins_fiber fiber = {.now = c->now};

		take_row(payload + sizeof rows + (size_t)i * rows.row_size, rows.row_size,
			 &fiber.row);
		rc = emit(c, &fiber, error);
		if (rc)
			return rc;
	}
	return 0;
}

static int take_stack(struct control *c, const unsigned char *payload, size_t length,
		      struct ins_error *error)
{
	struct ins_fiber fiber = {.now = c->now};
	struct fib_wire_stack s;

	if (length < sizeof s)
		return bad(c, "a short frame of a stack", error);
	memcpy(&s, payload, sizeof s);
	if (s.row_size > length - sizeof s || s.stack_size > length - sizeof s - s.row_size)
		return bad(c, "a stack larger than its frame", error);
	take_row(payload + sizeof s, s.row_size, &fiber.row);
	if (s.stack_size) {
		fiber.stack = payload + sizeof s + s.row_size;
		fiber.stack_size = s.stack_size;
	}
	if (s.flags & FIB_WIRE_STACK_MOVING)
		fiber.flags |= INS_FIBER_MOVING;
	if (s.flags & FIB_WIRE_STACK_CUT)
		fiber.flags |= INS_FIBER_CUT;
	if (s.flags & FIB_WIRE_STACK_GONE)
		fiber.flags |= INS_FIBER_GONE;
	return emit(c, &fiber, error);
}

static int take_end(struct control *c, const void *payload, size_t length, struct ins_error *error)
{
	struct fib_wire_end end;

	if (length < sizeof end)
		return bad(c, "a short end", error);
	memcpy(&end, payload, sizeof end);
	c->summary->total = end.total;
	c->summary->sampled_ns = end.sampled_ns;
	if (end.shown != c->summary->shown)
		return bad(c, "it counts other fibers than it sent", error);
	if (end.problems)
		ins_problems_add(
			&c->source.problems,
			"%llu fibers are incomplete: what they wait for, their labels or their "
			"stack could not be read",
			(unsigned long long)end.problems);
	return 0;
}

static int take_error(struct control *c, const void *payload, size_t length,
		      struct ins_error *error)
{
	struct fib_wire_error e;

	if (length < sizeof e)
		return bad(c, "a short error", error);
	memcpy(&e, payload, sizeof e);
	e.text[sizeof e.text - 1] = 0;
	if (e.error == -ESRCH && c->request->id)
		return ins_error_set(error, -ESRCH, "fiber %llu: no such fiber in process %d",
				     (unsigned long long)c->request->id, (int)c->source.pid);
	return ins_error_set(error, e.error < 0 && e.error > -4096 ? e.error : -EPROTO, "%s: %s",
			     c->path,
			     e.text[0]			      ? e.text
			     : e.error < 0 && e.error > -4096 ? strerror(-e.error)
							      : "it refused without a reason");
}

/* One frame. 0, what the callback returned, or a negative errno. */
static int take_frame(struct control *c, const struct fib_wire_header *header, const void *payload,
		      struct ins_error *error)
{
	switch (header->type) {
	case FIB_WIRE_PROCESS:
		return take_process(c, payload, header->length, error);
	case FIB_WIRE_LAYOUT:
		return take_layout(c, payload, header->length, error);
	case FIB_WIRE_MAPS:
		return take_maps(c, payload, header->length, error);
	case FIB_WIRE_ROWS:
		return take_rows(c, payload, header->length, error);
	case FIB_WIRE_STACKS:
		return take_stack(c, payload, header->length, error);
	case FIB_WIRE_ERROR:
		return take_error(c, payload, header->length, error);
	case FIB_WIRE_END:
		c->done = true;
		return take_end(c, payload, header->length, error);
	default:
		return 0; /* of a later version: skipped */
	}
}

static int receive_all(struct control *c, struct ins_error *error)
{
	c->done = false;
	while (!c->done) {
		struct fib_wire_header header;
		const void *payload;
		int rc = fib_wire_receive(&c->client, &header, &payload);

		if (rc == -ECONNRESET)
			return ins_error_set(error, rc,
					     "%s: the process ended or closed the connection "
					     "before the answer was whole",
					     c->path);
		if (rc == -ETIMEDOUT)
			return ins_error_set(
				error, rc,
				"%s: no answer: the process is stopped, or its service "
				"thread hangs; try fibertrace",
				c->path);
		if (rc < 0)
			return ins_error_set(error, rc, "%s: %s", c->path, strerror(-rc));
		rc = take_frame(c, &header, payload, error);
		if (rc)
			return rc;
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
			(request->modules ? FIB_WIRE_WANT_MAPS : 0),
	};
	const struct fib_wire_id id = {request->id};
	const struct fib_wire_stack_of stack = {request->id, list.wanted | FIB_WIRE_WANT_MAPS, 0};
	int rc;

	c->request = request;
	c->fn = fn;
	c->context = context;
	c->summary = ret;
	if (request->stacks)
		rc = fib_wire_request(&c->client, FIB_WIRE_STACK, &stack, sizeof stack);
	else if (request->id)
		rc = fib_wire_request(&c->client, FIB_WIRE_SHOW, &id, sizeof id);
	else
		rc = fib_wire_request(&c->client, FIB_WIRE_LIST, &list, sizeof list);
	if (rc < 0)
		return ins_error_set(error, rc, "%s: %s", c->path, strerror(-rc));
	return receive_all(c, error);
}

static void control_close(struct ins_source *source)
{
	struct control *c = (struct control *)source;

	fib_wire_disconnect(&c->client);
	ins_modules_free(source->modules);
	ins_problems_free(&source->problems);
	free(c->maps);
	free(c);
}

static const struct ins_source_ops control_ops = {control_read, control_close};

/* The pid as we see it: inside a container the process knows itself by another one. */
static pid_t peer(int fd)
{
	struct ucred cred;
	socklen_t size = sizeof cred;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) < 0 || cred.pid <= 0)
		return 0;
	return cred.pid;
}

int ins_source_open_control(const char *path, pid_t pid, int64_t timeout_ns,
			    struct ins_error *error, struct ins_source **ret)
{
	struct control *c = calloc(1, sizeof *c);
	int rc;

	if (!c)
		return ins_error_set(error, -ENOMEM, "out of memory");
	snprintf(c->path, sizeof c->path, "%s", path);
	c->client.fd = -1;
	c->source.kind = "control";
	c->source.pid = pid;
	c->source.ops = &control_ops;
	rc = ins_modules_new(pid, NULL, NULL, &c->source.problems, &c->source.modules);
	if (rc < 0) {
		free(c);
		return ins_error_set(error, rc, "out of memory");
	}
	rc = fib_wire_connect(&c->client, path, timeout_ns);
	if (rc < 0) {
		ins_modules_free(c->source.modules);
		free(c);
		return ins_error_set(error, rc, "%s: %s", path,
				     rc == -ECONNREFUSED ? "nobody listens: its process is dead"
							 : strerror(-rc));
	}
	c->source.modules->pid = peer(c->client.fd);
	*ret = &c->source;
	return 0;
}
