/* SPDX-License-Identifier: MIT */
/* thread_state.h - the registers of a thread of a live process, which stands still for a moment. */
#ifndef INS_THREAD_STATE_H
#define INS_THREAD_STATE_H

#include <sys/procfs.h>
#include <sys/types.h>

#include "inspect/model/registers.h"

struct ins_thread_state {
	pid_t tid;
	struct elf_prstatus status;
	struct ins_registers registers;
	unsigned char fpregs[1024];
	size_t fpregs_size; /* 0: not to be had */
};

/*
 * Stop thread tid, call fn while it stands still, by another thread of ours, and let it go on as it was (ptrace_stop.h): what it waits for
 * in the system begins anew, or ends as if a signal had come. What fn returned, or a negative errno: -ESRCH when it has gone, -EPERM
 * when it may not be looked at or a debugger has it, -ETIMEDOUT when it does not stop within a second.
 */
typedef int ins_thread_state_fn(void *context, const struct ins_thread_state *thread);
int ins_thread_state_take(pid_t tid, ins_thread_state_fn *fn, void *context);

#endif
