/* SPDX-License-Identifier: MIT */
/* top_carriers.c - what each carrier does, for the screen. */
#include <errno.h>
#include <string.h>

#include "fiberctl/top.h"

static const char *state_name(uint32_t state)
{
	static const char *const names[] = {
		[FIB_WIRE_CARRIER_POLLING] = "polling",
		[FIB_WIRE_CARRIER_IDLE] = "idle",
		[FIB_WIRE_CARRIER_SEARCHING] = "searching",
		[FIB_WIRE_CARRIER_RUNNING] = "running",
	};

	return state < sizeof names / sizeof names[0] ? names[state] : "unknown";
}

static void take_carrier(struct ctl_top *top, uint64_t runtime, const struct fib_wire_carrier *c)
{
	if (top->carriers < CTL_TOP_CARRIERS)
		top->carrier[top->carriers] = (struct ctl_top_carrier){
			.runtime = runtime,
			.index = c->index,
			.state = state_name(c->state),
			.fiber = c->fiber,
			.queued = c->queued,
		};
	top->carriers++;
}

/* A runtime and its carriers. What a newer program says besides is skipped. */
static int take_runtime(struct ctl_top *top, const char *payload, size_t length)
{
	struct fib_wire_runtime r;
	struct fib_wire_carrier c;
	uint32_t i;

	if (length < sizeof r)
		return -EPROTO;
	memcpy(&r, payload, sizeof r);
	if (r.carrier_size < sizeof c || (length - sizeof r) / r.carrier_size < r.carriers)
		return -EPROTO;
	for (i = 0; i < r.carriers; i++) {
		memcpy(&c, payload + length - (size_t)(r.carriers - i) * r.carrier_size, sizeof c);
		take_carrier(top, r.serial, &c);
	}
	return 0;
}

int ctl_top_carriers(struct ctl_top *top)
{
	struct fib_wire_header header;
	const void *payload;
	int rc = fib_wire_request(&top->client, FIB_WIRE_CARRIERS, NULL, 0);

	top->carriers = 0;
	while (rc == 0) {
		rc = fib_wire_receive(&top->client, &header, &payload);
		if (rc < 0 || header.type == FIB_WIRE_END)
			break;
		if (header.type == FIB_WIRE_RUNTIME)
			rc = take_runtime(top, payload, header.length);
		else if (header.type == FIB_WIRE_ERROR)
			rc = -EPROTO;
	}
	return rc;
}
