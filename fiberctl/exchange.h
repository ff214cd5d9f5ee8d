/* SPDX-License-Identifier: MIT */
/* exchange.h - one request over a connection of its own, and the one frame that answers it. */
#ifndef FIBERCTL_EXCHANGE_H
#define FIBERCTL_EXCHANGE_H

#include <stddef.h>

#include "fiberctl/process.h"

/* Takes the frame of the answer. 0, or -EPROTO when it makes no sense. */
typedef int ctl_frame_fn(void *context, const void *payload, size_t length);

struct ctl_exchange {
	enum fib_wire_type request, answer; /* frames of other types are passed over */
	const void *payload;
	size_t length;
	ctl_frame_fn *take;
	void *context;
};

/* Ask the process behind socket. CTL_WELL, or what ctl_cannot() returned after it said what is wrong. */
int ctl_exchange(const struct ctl_socket *socket, const struct ctl_exchange *exchange);

#endif
