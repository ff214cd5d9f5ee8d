/* SPDX-License-Identifier: MIT */
/* runner.h - the thread that runs a fiber, and what it is at. */
#ifndef INS_RUNNER_H
#define INS_RUNNER_H

#include "inspect/process/memory.h"
#include "inspect/model/source.h"

struct ins_runners;

enum ins_runner_end {
	INS_RUNNER_TAKEN, /* the fiber is filled in: registers and stack, or SWITCHING and what there is */
	INS_RUNNER_MOVED, /* it does not run any more, or has run again: to be looked at anew */
	INS_RUNNER_NOT_FOUND, /* no thread may be stopped, or none runs it: a problem of the source says why */
};

/* For the running fibers of a live source whose pauses are wanted; both are borrowed. -ENOMEM. */
int ins_runners_new(struct ins_source *source, const struct ins_memory *memory,
		    struct ins_runners **ret);
void ins_runners_free(struct ins_runners *runners); /* NULL: nothing */

/* A new read begins: threads may have come and gone. */
void ins_runners_begin(struct ins_runners *runners);

/*
 * Stop who runs fiber, whose row was decoded while its seq was odd, and copy. What fiber points to is valid until the next
 * call. Threads that are known not to run it are not stopped.
 */
enum ins_runner_end ins_runners_take(struct ins_runners *runners, struct ins_fiber *fiber);

#endif
