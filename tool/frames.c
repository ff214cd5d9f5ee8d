/* SPDX-License-Identifier: MIT */
/* frames.c - send one request over a connection and take the frames of the answer */
#include "tool/frames.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int refused(const void *payload, size_t length, char *why, size_t size)
{
	struct fib_wire_error error;

	if (length < sizeof error)
		return -EPROTO;
	memcpy(&error, payload, sizeof error);
	error.text[sizeof error.text - 1] = 0;
	snprintf(why, size, "%s", error.text);
	return error.error < 0 && error.error > -4096 ? error.error : -EPROTO;
}

typedef int receive_fn(struct fib_wire_client *client, struct fib_wire_header *ret_header,
		       const void **ret_payload);

static int receive(struct fib_wire_client *client, const struct tool_request *request,
		   receive_fn *next, char *why, size_t size)
{
	struct fib_wire_header header;
	const void *payload;
	int rc = 0;

	while (rc == 0) {
		rc = next(client, &header, &payload);
		if (rc < 0)
			return rc;
		if (header.type == FIB_WIRE_ERROR)
			return refused(payload, header.length, why, size);
		rc = request->take(request->context, header.type, payload, header.length);
		if (header.type == FIB_WIRE_END)
			break;
	}
	return rc < 0 ? rc : 0;
}

int tool_frames(struct fib_wire_client *client, const struct tool_request *request, char *why,
		size_t size)
{
	const int rc = fib_wire_request(client, request->type, request->payload, request->length);

	why[0] = 0;
	return rc < 0 ? rc : receive(client, request, fib_wire_receive, why, size);
}

int tool_frames_now(struct fib_wire_client *client, const struct tool_request *request, char *why,
		    size_t size)
{
	return receive(client, request, fib_wire_receive_now, why, size);
}

static int take_process(void *context, enum fib_wire_type type, const void *payload, size_t length)
{
	struct fib_wire_process *process = context;

	if (type != FIB_WIRE_PROCESS || length < sizeof *process)
		return -EPROTO;
	memcpy(process, payload, sizeof *process);
	process->name[sizeof process->name - 1] = 0;
	return 1;
}

struct tool_request tool_frames_who(struct fib_wire_process *ret)
{
	return (struct tool_request){.type = FIB_WIRE_HELLO, .take = take_process, .context = ret};
}

int tool_frames_hello(struct fib_wire_client *client, struct fib_wire_process *ret)
{
	const struct tool_request request = tool_frames_who(ret);
	char why[256];

	return tool_frames(client, &request, why, sizeof why);
}

void tool_frames_copy(void *to, size_t size, const void *from, size_t length)
{
	memset(to, 0, size);
	memcpy(to, from, length < size ? length : size);
}
