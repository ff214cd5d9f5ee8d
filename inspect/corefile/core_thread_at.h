/* SPDX-License-Identifier: MIT */
/* core_thread_at.h - list the threads of a core and say where each was */
#ifndef INS_CORE_THREAD_AT_H
#define INS_CORE_THREAD_AT_H

#include "inspect/corefile/core_memory.h"
#include "inspect/model/thread_at.h"

/* The thread's state in the core; NULL: there is no such thread. */
const struct ins_core_status *ins_core_thread(const struct ins_core *core, uint64_t tid);

/* The two functions of struct ins_source_ops for a core. */
int ins_core_thread_ids(const struct ins_core *core, struct ins_thread_ids *ret);
int ins_core_thread_at(const struct ins_core *core, uint64_t tid, struct ins_thread_at *ret);

#endif
