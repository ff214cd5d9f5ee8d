/* SPDX-License-Identifier: MIT */
/*
 * event.h - what a process has recorded of fibers that block others
 *
 * These are pinned waits and long runs, each with its stack at that time. Only a process that
 * answers on its control socket has them, and its snapshot.
 */
#ifndef INS_EVENT_H
#define INS_EVENT_H

#include "inspect/model/source.h"
#include "wire/wire.h"

struct ins_event {
	struct fib_wire_event e;
	struct ins_fiber fiber; /* as it was then: id, name, what it waited for, and its stack */
	/*
	 * When the event started: ns before the answer, and by CLOCK_REALTIME. Set by the emitting
	 * source.
	 */
	int64_t ago, wall;
};

/* Decode a frame's payload; *ret points to the stack in it. False if the payload is invalid. */
bool ins_event_take(const void *payload, size_t length, struct ins_event *ret);

/*
 * Emit the requested events, in no order. On a control source a bare request must follow one that
 * is not bare. A snapshot emits all its events. *ret counts the events that were ever recorded and
 * those emitted.
 *
 * Returns as ins_source_read() does; -EOPNOTSUPP if the source has no events. Defined in source.c.
 */
int ins_events_read(struct ins_source *source, const struct fib_wire_events *request,
		    ins_event_fn *fn, void *context, struct ins_summary *ret,
		    struct ins_error *error);

/*
 * "computing", "in nanosleep", "in system call 999", "waiting for memory", "pinned: mutex@0x..".
 * Returns buf.
 */
const char *ins_event_doing(const struct fib_layout *layout, const struct ins_event *event,
			    char *buf, size_t size);

/* The kind of event in one word for scripts: "computing", "system-call", "memory", "pinned". */
const char *ins_event_kind(const struct ins_event *event);

#endif
