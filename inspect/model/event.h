/* SPDX-License-Identifier: MIT */
/*
 * event.h - what a process has recorded of fibers that keep others waiting
 *
 * Pinned waits and long runs, each with the stack as it was. Only a process that answers for itself has them, and its
 * snapshot.
 */
#ifndef INS_EVENT_H
#define INS_EVENT_H

#include "inspect/model/source.h"
#include "wire/wire.h"

struct ins_event {
	struct fib_wire_event e;
	struct ins_fiber fiber; /* as it was: id, name, what it waited for, and its stack */
	/* When it began: ns before the answer, and of CLOCK_REALTIME. Of whoever emits it. */
	int64_t ago, wall;
};

/* Decode a frame's payload, which holds the stack that *ret then points to. False when it makes no sense. */
bool ins_event_take(const void *payload, size_t length, struct ins_event *ret);

/*
 * Emit the events that are asked for, in no order. For a control source, where a bare request comes after one that was not,
 * and for a snapshot, which emits all that it has. *ret counts those that were ever recorded, and those emitted. Else as
 * ins_source_read(): -EOPNOTSUPP where there are none to be had. In source.c.
 */
int ins_events_read(struct ins_source *source, const struct fib_wire_events *request,
		    ins_event_fn *fn, void *context, struct ins_summary *ret,
		    struct ins_error *error);

/* "computing", "in nanosleep", "in system call 999", "waiting for memory", "pinned: mutex@0x..". Returns buf. */
const char *ins_event_doing(const struct fib_layout *layout, const struct ins_event *event,
			    char *buf, size_t size);

/* The same word by word for scripts: "computing", "system-call", "memory", "pinned". */
const char *ins_event_kind(const struct ins_event *event);

/* The name of a system call of this machine, NULL when it is none that programs sleep in. */
const char *ins_event_call(int64_t number);

#endif
