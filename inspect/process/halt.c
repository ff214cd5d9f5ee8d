/* SPDX-License-Identifier: MIT */
/* halt.c - all that the kernel tells of a thread that stands still, as a core has it. */
#include "inspect/process/halt.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "inspect/process/seize.h"

struct halt {
	ins_halt_fn *fn;
	void *context;
};

static int use(void *halt, pid_t tid)
{
	const struct halt *h = halt;
	struct ins_halted thread;
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

int ins_halt(pid_t tid, ins_halt_fn *fn, void *context)
{
	struct halt h = {fn, context};
	struct ins_seized took;

	return ins_seize(tid, use, &h, &took);
}
