/* SPDX-License-Identifier: MIT */
/* carrier_thread.c - ask a process which thread runs a fiber */
#include "inspect/source/carrier_thread.h"

#include <errno.h>
#include <string.h>

#include "wire/client.h"

/* Look for the fiber among the carriers of a frame. -EPROTO: the frame is invalid. */
static int look(const unsigned char *payload, size_t length, uint64_t id, uint64_t *ret_tid)
{
	const size_t oldest = offsetof(struct fib_wire_runtime, now);
	struct fib_wire_runtime runtime;
	size_t size;
	uint32_t i;

	if (length < oldest)
		return -EPROTO;
	memcpy(&runtime, payload, oldest);
	size = runtime.carrier_size;
	if (!size || (length - oldest) / size < runtime.carriers)
		return -EPROTO;
	/* They are the last bytes: a newer process sends more of the runtime before them. */
	for (i = 0; i < runtime.carriers; i++) {
		struct fib_wire_carrier carrier = {0};

		memcpy(&carrier, payload + length - (runtime.carriers - i) * size,
		       size < sizeof carrier ? size : sizeof carrier);
		if (carrier.fiber == id)
			*ret_tid = carrier.tid;
	}
	return 0;
}

int ins_carrier_thread(struct fib_wire_client *client, uint64_t id, uint64_t *ret_tid)
{
	int rc = fib_wire_request(client, FIB_WIRE_CARRIERS, NULL, 0);
	struct fib_wire_header header;
	const void *payload;

	*ret_tid = 0;
	while (rc == 0) {
		rc = fib_wire_receive(client, &header, &payload);
		if (rc < 0 || header.type == FIB_WIRE_END)
			break;
		if (header.type == FIB_WIRE_ERROR)
			return -EPROTO;
		if (header.type == FIB_WIRE_RUNTIME)
			rc = look(payload, header.length, id, ret_tid);
	}
	return rc;
}
