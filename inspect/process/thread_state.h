/* SPDX-License-Identifier: MIT */
/* thread_state.h - the registers of a thread of a live process, stopped for a moment */
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
	size_t fpregs_size; /* 0: not available */
};

/*
 * Stop thread tid, call fn in another thread of this tool while it is stopped, and resume it
 * unchanged (ptrace_stop.h). Counted in *count (pause.h); NULL: not counted. A system call in which the thread waits is restarted or fails with EINTR.
 * Returns fn's result, or a negative errno: -ESRCH if the thread has ended, -EPERM if it may not be
 * traced or a debugger traces it, -ETIMEDOUT if it does not stop within a second.
 */
struct ins_pauses;
typedef int ins_thread_state_fn(void *context, const struct ins_thread_state *thread);
int ins_thread_state_take(pid_t tid, ins_thread_state_fn *fn, void *context,
			  struct ins_pauses *count);

#endif
