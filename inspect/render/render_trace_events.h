/* SPDX-License-Identifier: MIT */
/* render_trace_events.h - a recording as the JSON that Perfetto's UI and chrome://tracing open. */
#ifndef INS_RENDER_TRACE_EVENTS_H
#define INS_RENDER_TRACE_EVENTS_H

#include <stdio.h>

#include "inspect/recording/replay.h"

/*
 * Write one object with `traceEvents`: process 1 has a thread for each carrier, process 2 one for each fiber; slices
 * are complete events ("X"), wakings are arrows ("s", "f") from the waker to the woken. Times are us since the recording
 * began. 0, -EIO.
 */
int ins_trace_events(FILE *out, const struct ins_recording *recording, struct ins_replay *replay);

#endif
