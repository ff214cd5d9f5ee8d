/* SPDX-License-Identifier: MIT */
/* exchange.c - one request and its answer: END without the frame that was asked for is no answer. */
#include "fiberctl/exchange.h"

#include <errno.h>
#include <string.h>

#include "fiberctl/fiberctl.h"

/* 1 when the answer is complete. Otherwise 0, or a negative errno with the other end's words in error. */
static int take(const struct ctl_exchange *e, const struct fib_wire_header *header,
		const void *payload, bool *taken, struct fib_wire_error *error)
{
	int rc;

	if (header->type == FIB_WIRE_ERROR && header->length >= sizeof *error) {
		memcpy(error, payload, sizeof *error);
		error->text[sizeof error->text - 1] = 0;
		return error->error < 0 ? error->error : -EPROTO;
	}
	if (header->type == FIB_WIRE_END)
		return *taken ? 1 : -EPROTO;
	if (header->type == FIB_WIRE_ERROR || (header->type == e->answer && *taken))
		return -EPROTO;
	if (header->type != e->answer)
		return 0;
	rc = e->take(e->context, payload, header->length);
	*taken = rc == 0;
	return rc;
}

int ctl_exchange(const struct ctl_socket *socket, const struct ctl_exchange *exchange)
{
	struct fib_wire_error error = {0};
	struct fib_wire_client client;
	struct fib_wire_header header;
	const void *payload;
	bool taken = false;
	int rc = fib_wire_connect(&client, socket->path, CTL_TIMEOUT);

	if (rc == 0)
		rc = fib_wire_request(&client, exchange->request, exchange->payload,
				      exchange->length);
	while (rc == 0) {
		rc = fib_wire_receive(&client, &header, &payload);
		if (rc == 0)
			rc = take(exchange, &header, payload, &taken, &error);
	}
	fib_wire_disconnect(&client);
	return rc > 0 ? CTL_WELL : ctl_refused(socket, rc, error.text);
}
