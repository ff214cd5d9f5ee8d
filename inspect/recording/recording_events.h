/* SPDX-License-Identifier: MIT */
/* recording_events.h - from rings of events to one list in order of time, for recording.c */
#ifndef INS_RECORDING_EVENTS_H
#define INS_RECORDING_EVENTS_H

#include "inspect/recording/recording.h"

/* How far the reading of a ring has come. */
struct ins_ring_end {
	int64_t latest; /* event so far, ns */
	uint64_t lost;	/* events behind that */
};

/* What is needed while the events are read. Zero-initialised is empty. */
struct ins_recording_rings {
	struct ins_recording_clock *clock; /* the caller adds to these before it begins */
	size_t clocks;
	struct ins_ring_end *ring_end;
	uint32_t *sorted; /* the rings, by runtime and carrier */
};

/* Begin, with all clocks at hand: at most so many sections of events, so many events and holes. -ENOMEM. */
int ins_recording_begin_events(struct ins_recording *r, struct ins_recording_rings *in,
			       size_t parts, size_t events);

/* Add a section: names go to the texts, everything else to r->event. -EINVAL: it is damaged; -ENOMEM. */
int ins_recording_take_events(struct ins_recording *r, struct ins_recording_rings *in,
			      const unsigned char *at, size_t size);

/* All events are there: close the holes that are open and sort. */
void ins_recording_end_events(struct ins_recording *r, struct ins_recording_rings *in);

void ins_recording_free_rings(struct ins_recording_rings *in);

#endif
