/* SPDX-License-Identifier: MIT */
/* ptrace_stop.h - one thread of another process, stopped for as long as a function takes. */
#ifndef INS_PTRACE_STOP_H
#define INS_PTRACE_STOP_H

#include <stdint.h>
#include <sys/types.h>

struct ins_ptrace_times {
	int64_t held_ns; /* from the call that stops it to the end of the one that lets it go: an upper bound; 0: it was not stopped */
	int64_t seen_ns; /* from when we saw it stopped */
};

/*
 * Stop thread tid, call fn, let it go on as it was. Its stop is no event for the process: a system call in which it waits
 * is begun again by the kernel, or ends as if a signal had come; a process that was stopped stays so, and a signal that
 * came meanwhile is delivered. Whatever becomes of us, the kernel lets it go. fn is called by a thread of our own that is
 * the other one's tracer, and asks ptrace(2) what it likes.
 *
 * What fn returned, or a negative errno: -ESRCH when it has gone; -ETIMEDOUT when it does not stop within a second, since it
 * waits for a device or gets no CPU; -EPERM and others when it may not be stopped, or a debugger has it.
 */
typedef int ins_ptrace_stop_fn(void *context, pid_t tid);
int ins_ptrace_stop(pid_t tid, ins_ptrace_stop_fn *fn, void *context, struct ins_ptrace_times *ret);

#endif
