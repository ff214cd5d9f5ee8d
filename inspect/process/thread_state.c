/* SPDX-License-Identifier: MIT */
/* thread_state.c - read all that a core contains about a stopped thread */
#include "inspect/process/thread_state.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "inspect/process/pause.h"
#include "inspect/process/ptrace_stop.h"

struct call {
	ins_thread_state_fn *fn;
	void *context;
};

static int use(void *call, pid_t tid)
{
	const struct call *h = call;
	struct ins_thread_state thread;
	struct iovec general = {&thread.status.pr_reg, sizeof thread.status.pr_reg};
	struct iovec floats = {thread.fpregs, sizeof thread.fpregs};

	memset(&thread, 0, sizeof thread);
	thread.tid = tid;
	thread.status.pr_pid = tid;
	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &general) < 0)
		return -errno;
	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRFPREG, &floats) == 0)
		thread.fpregs_size = floats.iov_len;
	if (!ins_registers_from_kernel(&thread.status.pr_reg, &thread.registers))
		return -ENOTSUP;
	return h->fn(h->context, &thread);
}

int ins_thread_state_take(pid_t tid, ins_thread_state_fn *fn, void *context,
			  struct ins_pauses *count)
{
	struct call h = {fn, context};
	struct ins_ptrace_times took;
	const int rc = ins_ptrace_stop(tid, use, &h, &took);

	if (count)
		ins_pause_count(count, &took);
	return rc;
}
