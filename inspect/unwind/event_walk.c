/* SPDX-License-Identifier: MIT */
/* event_walk.c - walk the stack that was copied with an event */
#include "inspect/unwind/event_walk.h"

#include <stdio.h>
#include <string.h>

#include "inspect/unwind/frame_guess.h"

static const char *lack(uint32_t lack)
{
	switch (lack) {
	case FIB_WIRE_LACK_MISSED:
		return "the fiber went on before its stack was copied";
	case FIB_WIRE_LACK_SIGNAL:
		return "the program handles or blocks SIGURG, with which it would be copied";
	case FIB_WIRE_LACK_PORT:
		return "this port of libfiber cannot copy it";
	case FIB_WIRE_LACK_MEMORY:
		return "its stack could not be read";
	default:
		return "its stack was not copied";
	}
}

void ins_event_walk(struct ins_unwinder *unwinder, const struct ins_event *event,
		    struct ins_walk *ret)
{
	const bool sleeps = event->e.doing == FIB_WIRE_DOING_CALLS ||
			    event->e.doing == FIB_WIRE_DOING_FAULTS || !event->e.fp;

	memset(ret, 0, sizeof *ret - sizeof ret->pc);
	if (!event->fiber.stack_size) {
		snprintf(ret->reason, sizeof ret->reason, "%s",
			 event->e.flags & FIB_WIRE_EVENT_ASTRAY
				 ? "its stack pointer is outside its stack"
				 : lack(event->e.lack));
		return;
	}
	if (!sleeps || !ins_frame_guess(unwinder, &event->fiber, ret))
		ins_unwind(unwinder, &event->fiber, ret);
}
