/* SPDX-License-Identifier: MIT */
/* render_trace_events.h - write a recording as JSON for Perfetto's UI and chrome://tracing */
#ifndef INS_RENDER_TRACE_EVENTS_H
#define INS_RENDER_TRACE_EVENTS_H

#include <stdio.h>

#include "inspect/recording/replay.h"

/*
 * Write one object with `traceEvents`. Process 1 has a thread per carrier, process 2 a thread per
 * fiber. Slices are complete events ("X"); wakeups are arrows ("s", "f") from the waker to the
 * woken fiber. Times are in us since the start of the recording. Returns 0 or -EIO.
 */
int ins_trace_events(FILE *out, const struct ins_recording *recording, struct ins_replay *replay);

#endif
