/* SPDX-License-Identifier: MIT */
/* thread_stack_live.h - copy the stack of a thread that sleeps in a live process */
#ifndef INS_THREAD_STACK_LIVE_H
#define INS_THREAD_STACK_LIVE_H

#include "inspect/model/thread_stack.h"

/*
 * Copy the stack of thread tid of a live process, whose memory source reads. Returns 0 or -ENOMEM.
 */
int ins_thread_stack_live(struct ins_source *source, uint64_t tid, struct ins_thread_stack *ret);

/* The same for a thread by its number in this tool's pid namespace. */
int ins_thread_stack_asleep(struct ins_source *source, uint64_t tid, struct ins_thread_stack *ret);

/*
 * Stop the thread, copy its stack and resume it (ptrace_stop.h). Counts the stop in source->pauses.
 * Returns 0, also if it could not be stopped: then there is no stack and a reason; or -ENOMEM.
 */
int ins_thread_stack_stopped(struct ins_source *source, uint64_t tid, struct ins_thread_stack *ret);

#endif
