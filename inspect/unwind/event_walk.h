/* SPDX-License-Identifier: MIT */
/* event_walk.h - walk the stack that was copied with an event */
#ifndef INS_EVENT_WALK_H
#define INS_EVENT_WALK_H

#include "inspect/model/event.h"
#include "inspect/unwind/unwind.h"

/* Walk the event's stack. If it was not copied, there are no frames and a reason. */
void ins_event_walk(struct ins_unwinder *unwinder, const struct ins_event *event,
		    struct ins_walk *ret);

#endif
