/* SPDX-License-Identifier: MIT */
/* longrun_report.h - the messages about long runs; see longrun.h for who may call */
#ifndef FIB_WATCH_LONGRUN_REPORT_H
#define FIB_WATCH_LONGRUN_REPORT_H

#include "watch/longrun.h"

struct fib_os_pipe;

/*
 * Event e delays other fibers: print a line about it when fib_longrun_report() may. Called at most
 * once for an event.
 */
void fib_longrun_report_add(const struct fib_longrun_event *e, int64_t now,
			    struct fib_os_pipe *pipe);

/* Forget all places: with the events of the ring, or in a forked child. */
void fib_longrun_report_clear(void);

#endif
