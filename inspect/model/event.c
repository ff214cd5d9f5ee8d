/* SPDX-License-Identifier: MIT */
/* event.c - decode events and name them */
#include "inspect/model/event.h"

#include <fiber/fiber.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "inspect/model/running.h"
#include "inspect/model/words.h"

#define OLDEST offsetof(struct fib_wire_event, entry) /* what every process sends */

bool ins_event_take(const void *payload, size_t length, struct ins_event *ret)
{
	struct fib_wire_event *e = &ret->e;
	struct fib_row *row = &ret->fiber.row;

	memset(ret, 0, sizeof *ret);
	if (length < OLDEST)
		return false;
	memcpy(e, payload, OLDEST);
	/* A newer process may send more fields between the two. */
	if (e->stack_size > length - OLDEST)
		return false;
	if (length - e->stack_size >= sizeof *e)
		memcpy(e, payload, sizeof *e);
	e->name[sizeof e->name - 1] = 0;
	row->id = e->fiber;
	memcpy(row->name, e->name, sizeof row->name);
	row->entry = e->entry;
	row->state = FIBER_SUSPENDED;
	row->carrier = FIB_ROW_CARRIER_NONE;
	row->deadline = INT64_MAX;
	row->age = e->duration < 0 ? 0 : e->duration;
	row->sp = row->stack_low = e->sp;
	row->fp = e->fp;
	row->pc = e->pc;
	row->stack_size = e->stack_all < e->stack_size ? e->stack_size : e->stack_all;
	row->stack_used = e->stack_size;
	if (e->doing == FIB_WIRE_DOING_WAITS) {
		row->wait_kind = e->wait_kind < FIB_LAYOUT_WAITS ? (uint8_t)e->wait_kind : 0;
		row->wait_object = e->object;
		row->wait_arg = e->arg;
	}
	if (e->stack_size) {
		ret->fiber.stack = (const unsigned char *)payload + length - e->stack_size;
		ret->fiber.stack_size = e->stack_size;
	}
	if (e->stack_size < e->stack_all)
		ret->fiber.flags |= INS_FIBER_CUT;
	return true;
}

const char *ins_event_kind(const struct ins_event *event)
{
	static const char *const kinds[] = {
		[FIB_WIRE_DOING_COMPUTES] = "computing",
		[FIB_WIRE_DOING_CALLS] = "system-call",
		[FIB_WIRE_DOING_FAULTS] = "memory",
		[FIB_WIRE_DOING_WAITS] = "pinned",
	};

	return event->e.doing < sizeof kinds / sizeof kinds[0] ? kinds[event->e.doing] : "unknown";
}

const char *ins_event_doing(const struct fib_layout *layout, const struct ins_event *event,
			    char *buf, size_t size)
{
	char wait[256];

	switch (event->e.doing) {
	case FIB_WIRE_DOING_COMPUTES:
		ins_running_words(INS_DOING_COMPUTES, -1, buf, size);
		break;
	case FIB_WIRE_DOING_CALLS:
		ins_running_words(INS_DOING_CALLS, event->e.call, buf, size);
		break;
	case FIB_WIRE_DOING_FAULTS:
		ins_running_words(INS_DOING_FAULTS, -1, buf, size);
		break;
	case FIB_WIRE_DOING_WAITS:
		ins_words_wait(layout, &event->fiber, true, wait, sizeof wait);
		snprintf(buf, size, "pinned in %s%s", wait[0] ? wait : "a wait",
			 event->e.flags & FIB_WIRE_EVENT_REFUSED ? ", refused" : "");
		break;
	default:
		snprintf(buf, size, "doing something of a later version");
	}
	return buf;
}
