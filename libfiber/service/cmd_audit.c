/* SPDX-License-Identifier: MIT */
/* cmd_audit.c - send the log of changes made from outside: the whole ring at once */
#include <string.h>

#include "service/answer.h"
#include "service/audit.h"
#include "service/command.h"

static bool begin(struct fib_peer *peer, const void *payload, size_t length)
{
	(void)peer;
	(void)payload;
	(void)length;
	return true;
}

static bool step(struct fib_peer *peer, int64_t now)
{
	struct fib_wire_audited head = {.entry_size = sizeof(struct fib_wire_audit_entry)};
	const struct fib_wire_audit_entry *e;
	unsigned char *at;
	uint64_t serial;
	size_t room;

	(void)now;
	head.total = fib_audit_total();
	serial = head.total > FIB_AUDIT_KEPT ? head.total - FIB_AUDIT_KEPT : 0;
	fib_peer_frame_open(peer, FIB_WIRE_AUDITED);
	at = fib_peer_at(peer, &room);
	while ((e = fib_audit_entry(++serial)))
		memcpy(at + sizeof head + head.count++ * sizeof *e, e, sizeof *e);
	memcpy(at, &head, sizeof head);
	fib_peer_add(peer, sizeof head + head.count * sizeof *e);
	fib_peer_frame_close(peer);
	peer->cursor.end.total = head.total;
	peer->cursor.end.shown = head.count;
	fib_answer_end(peer);
	return true;
}

const struct fib_command fib_cmd_audit = {
	.type = FIB_WIRE_AUDIT,
	.name = "audit",
	.begin = begin,
	.step = step,
};
