/* SPDX-License-Identifier: MIT */
/* runner.h - find the thread that runs a fiber and copy the fiber */
#ifndef INS_RUNNER_H
#define INS_RUNNER_H

#include "inspect/process/memory.h"
#include "inspect/model/source.h"

struct ins_runners;

enum ins_runner_end {
	INS_RUNNER_TAKEN,     /* the fiber is filled in, or marked SWITCHING */
	INS_RUNNER_MOVED,     /* the fiber no longer runs, or has run again: copy it again */
	INS_RUNNER_NOT_FOUND, /* a problem of the source says why */
};

/*
 * For the running fibers of a live source that allows pauses; both arguments are borrowed. -ENOMEM.
 */
int ins_runners_new(struct ins_source *source, const struct ins_memory *memory,
		    struct ins_runners **ret);
void ins_runners_free(struct ins_runners *runners); /* NULL: no effect */

/* Start a new read: threads may have come and gone. */
void ins_runners_begin(struct ins_runners *runners);

/*
 * Stop the thread that runs fiber, whose row was decoded while its seq was odd, and copy. The
 * pointers in fiber are valid until the next call. Threads that are known not to run the fiber are
 * not stopped.
 */
enum ins_runner_end ins_runners_take(struct ins_runners *runners, struct ins_fiber *fiber);

#endif
