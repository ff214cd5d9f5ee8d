/* SPDX-License-Identifier: MIT */
/* frames.h - one request over a connection, and the frames that answer it. */
#ifndef TOOL_FRAMES_H
#define TOOL_FRAMES_H

#include <stddef.h>

#include "wire/client.h"

/* Takes a frame of the answer, its END too; an ERROR never comes here. 0; 1: no more are wanted; or a negative errno. Types that
 * it does not know are of a later version. */
typedef int tool_frame_fn(void *context, enum fib_wire_type type, const void *payload,
			  size_t length);

struct tool_request {
	enum fib_wire_type type;
	const void *payload;
	size_t length;
	tool_frame_fn *take;
	void *context;
};

/* Ask. 0 after END, or when take() wants no more. A negative errno: of the connection, of take(), or the one that the other end
 * refuses with; then what it says about it is in why, as it came, which is "" otherwise. */
int tool_frames(struct fib_wire_client *client, const struct tool_request *request, char *why,
		size_t size);

/* Go on with an answer without waiting, when it was asked for with fib_wire_request(). The same results; -EAGAIN: more has to come. */
int tool_frames_now(struct fib_wire_client *client, const struct tool_request *request, char *why,
		    size_t size);

/* What it is to ask who is at the other end, and what takes the answer into *ret; its name ends with a NUL. */
struct tool_request tool_frames_who(struct fib_wire_process *ret);

/* Ask who is at the other end; its name ends with a NUL. 0 or a negative errno. The rest of the answer is not received: it is the
 * only request over this connection, or answers are kept. */
int tool_frames_hello(struct fib_wire_client *client, struct fib_wire_process *ret);

/* What there is of a struct that may be longer or shorter at the other end; the rest is 0. */
void tool_frames_copy(void *to, size_t size, const void *from, size_t length);

#endif
