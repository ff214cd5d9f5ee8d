/* SPDX-License-Identifier: MIT */
/* frames.h - send one request over a connection and take the frames of the answer */
#ifndef TOOL_FRAMES_H
#define TOOL_FRAMES_H

#include <stddef.h>

#include "wire/client.h"

/*
 * Takes a frame of the answer, including END but never ERROR. Returns 0; 1: no more frames are
 * wanted; or a negative errno. Unknown types are of a later version and are ignored.
 */
typedef int tool_frame_fn(void *context, enum fib_wire_type type, const void *payload,
			  size_t length);

struct tool_request {
	enum fib_wire_type type;
	const void *payload;
	size_t length;
	tool_frame_fn *take;
	void *context;
};

/*
 * Send a request and take the answer. Returns 0 after END or when take() wants no more; or a
 * negative errno: of the connection, of take(), or of a refusal. why: the other end's unescaped
 * text on a refusal, else "".
 */
int tool_frames(struct fib_wire_client *client, const struct tool_request *request, char *why,
		size_t size);

/*
 * Continue an answer without blocking, after fib_wire_request(). Results as for tool_frames();
 * -EAGAIN: more is to come.
 */
int tool_frames_now(struct fib_wire_client *client, const struct tool_request *request, char *why,
		    size_t size);

/*
 * The request that asks which process is at the other end; its answer is stored in *ret with a
 * terminated name.
 */
struct tool_request tool_frames_who(struct fib_wire_process *ret);

/*
 * Ask which process is at the other end; its name ends with a NUL. 0 or a negative errno. The rest
 * of the answer is not received, so this must be the only request of the connection, or answers
 * must be kept.
 */
int tool_frames_hello(struct fib_wire_client *client, struct fib_wire_process *ret);

/* Copy a struct that may be longer or shorter at the other end; missing bytes become 0. */
void tool_frames_copy(void *to, size_t size, const void *from, size_t length);

#endif
