/* SPDX-License-Identifier: MIT */
/* stop_all.h - stop all threads of another process while a function runs */
#ifndef INS_STOP_ALL_H
#define INS_STOP_ALL_H

#include <stddef.h>
#include <sys/types.h>

#include "inspect/process/thread_state.h"

/* The process is stopped; threads: its n threads with their registers. */
typedef int ins_stop_all_fn(void *context, const struct ins_thread_state *threads, size_t n);

/*
 * Stop all threads of process pid, call fn in another thread of this tool, and resume them
 * (ptrace_stop.h). Each stop is counted in *count; NULL: not counted. Returns fn's result, or a negative
 * errno: -EAGAIN if there are too many threads, -ESRCH if there is no process, -EPERM if a thread may not be traced, -ETIMEDOUT if
 * one does not stop within a second, -ENOMEM.
 */
int ins_stop_all(pid_t pid, ins_stop_all_fn *fn, void *context, struct ins_pauses *count);

#endif
