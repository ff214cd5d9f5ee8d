/* SPDX-License-Identifier: MIT */
/* event_walk.h - walk the stack that was copied with an event. */
#ifndef INS_EVENT_WALK_H
#define INS_EVENT_WALK_H

#include "inspect/model/event.h"
#include "inspect/unwind/unwind.h"

/* The frames of the event; none, and a reason, when its stack was not copied. */
void ins_event_walk(struct ins_unwinder *unwinder, const struct ins_event *event,
		    struct ins_walk *ret);

#endif
