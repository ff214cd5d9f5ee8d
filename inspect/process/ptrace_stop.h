/* SPDX-License-Identifier: MIT */
/* ptrace_stop.h - stop one thread of another process while a function runs */
#ifndef INS_PTRACE_STOP_H
#define INS_PTRACE_STOP_H

#include <stdint.h>
#include <sys/types.h>

struct ins_ptrace_times {
	int64_t held_ns; /* how long the thread was stopped at most; 0: not stopped */
	int64_t seen_ns; /* since we saw it stopped */
};

/*
 * Stop thread tid, call fn, resume the thread. The process does not see the stop as an event: a
 * system call is restarted, or fails with EINTR; a stopped process stays stopped; a signal that
 * arrives meanwhile is delivered. Even if the tool dies, the kernel resumes the thread. fn runs in
 * a helper thread, which is the tracer and may use any ptrace(2) request.
 *
 * Returns fn's result, or a negative errno: -ESRCH if the thread has ended; -ETIMEDOUT if it does
 * not stop within a second, because it waits for a device or gets no CPU; -EPERM and others if it
 * may not be traced, or a debugger traces it.
 */
typedef int ins_ptrace_stop_fn(void *context, pid_t tid);
int ins_ptrace_stop(pid_t tid, ins_ptrace_stop_fn *fn, void *context, struct ins_ptrace_times *ret);

#endif
