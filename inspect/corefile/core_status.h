/* SPDX-License-Identifier: MIT */
/* core_status.h - the threads in a core: their registers, and which of them a signal ended */
#ifndef INS_CORE_STATUS_H
#define INS_CORE_STATUS_H

#include "inspect/corefile/core_memory.h"

/* Take one note of a thread while the notes are read; sort the threads at the end. */
struct ins_note;
void ins_core_take_status(struct ins_core *core, const struct ins_note *note);
void ins_core_sort_statuses(struct ins_core *core);

/*
 * The thread that is on the stack [low, low + size), or that a handler on an alternate stack
 * interrupted there; or NULL.
 */
const struct ins_core_status *ins_core_status_on(const struct ins_core *core, uint64_t low,
						 uint64_t size);

#endif
