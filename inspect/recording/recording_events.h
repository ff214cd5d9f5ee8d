/* SPDX-License-Identifier: MIT */
/* recording_events.h - merge the rings of events into one list in order of time, for recording.c */
#ifndef INS_RECORDING_EVENTS_H
#define INS_RECORDING_EVENTS_H

#include "inspect/recording/recording.h"

/* How far a ring has been read. */
struct ins_ring_end {
	int64_t latest; /* time of the last event, ns */
	uint64_t lost;	/* events lost behind it */
};

/* Working memory while the events are read. Empty when zero-initialised. */
struct ins_recording_rings {
	struct fib_recording_clock *clock; /* filled by the caller before the events are read */
	size_t clocks;
	struct ins_ring_end *ring_end;
	uint32_t *sorted; /* ring numbers, sorted by runtime and carrier */
};

/*
 * Start, after all clocks were read. parts: the maximum number of sections of events; events: of
 * events and holes. -ENOMEM.
 */
int ins_recording_begin_events(struct ins_recording *r, struct ins_recording_rings *in,
			       size_t parts, size_t events);

/*
 * Add a section: names go to the texts, everything else to r->event. -EINVAL: it is damaged;
 * -ENOMEM.
 */
int ins_recording_take_events(struct ins_recording *r, struct ins_recording_rings *in,
			      const unsigned char *at, size_t size);

/* After the last section: close the open holes and sort. */
void ins_recording_end_events(struct ins_recording *r, struct ins_recording_rings *in);

void ins_recording_free_rings(struct ins_recording_rings *in);

#endif
