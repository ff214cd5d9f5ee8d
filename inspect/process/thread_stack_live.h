/* SPDX-License-Identifier: MIT */
/* thread_stack_live.h - copy the stack of a thread that sleeps in a live process */
#ifndef INS_THREAD_STACK_LIVE_H
#define INS_THREAD_STACK_LIVE_H

#include "inspect/model/thread_stack.h"

/*
 * Copy the stack of thread tid of a live process, whose memory source reads. Returns 0 or -ENOMEM.
 */
int ins_thread_stack_live(struct ins_source *source, uint64_t tid, struct ins_thread_stack *ret);

#endif
