/* SPDX-License-Identifier: MIT */
/*
 * audit.c - a ring of changes made from outside; only the service thread uses it, so it has no lock
 */
#include "service/audit.h"

#include <string.h>

#include "layout/row.h"
#include "os/os.h"

static struct {
	uint64_t total;
	struct fib_wire_audit_entry entries[FIB_AUDIT_KEPT]; /* serial n at n % FIB_AUDIT_KEPT */
} ring;

static struct fib_wire_audit_entry *next(const struct fib_peer *peer, enum fib_wire_audit_what what,
					 int result)
{
	struct fib_wire_audit_entry *e = &ring.entries[++ring.total % FIB_AUDIT_KEPT];

	*e = (struct fib_wire_audit_entry){
		.serial = ring.total,
		.when = fib_os_now(),
		.wall = fib_os_wall(),
		.pid = peer->who.pid,
		.uid = peer->who.uid,
		.what = what,
		.result = result,
	};
	return e;
}

void fib_audit(const struct fib_peer *peer, enum fib_wire_audit_what what, uint64_t before,
	       uint64_t after, int result)
{
	struct fib_wire_audit_entry *e = next(peer, what, result);

	e->before = before;
	e->after = after;
}

void fib_audit_fiber(const struct fib_peer *peer, enum fib_wire_audit_what what, uint64_t fiber,
		     const struct fib_row *row, int result)
{
	struct fib_wire_audit_entry *e = next(peer, what, result);

	e->fiber = fiber;
	if (!row)
		return;
	e->entry = row->entry;
	memcpy(e->name, row->name, sizeof e->name);
}

uint64_t fib_audit_total(void)
{
	return ring.total;
}

const struct fib_wire_audit_entry *fib_audit_entry(uint64_t serial)
{
	if (!serial || serial > ring.total || ring.total - serial >= FIB_AUDIT_KEPT)
		return NULL;
	return &ring.entries[serial % FIB_AUDIT_KEPT];
}

void fib_audit_forget(void)
{
	ring.total = 0;
}
