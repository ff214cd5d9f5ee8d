/* SPDX-License-Identifier: MIT */
/*
 * halt.c - ptrace(2), for microseconds
 *
 * A thread is seized and interrupted, not attached to: no signal is sent, nobody who waits for the process notices, and should
 * this tool die meanwhile the system lets the thread go. A signal that arrives in between stops the thread
 * first, and is handed on when it is let go.
 */
#include "inspect/halt.h"

#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#define LOOKS 10000 /* of 100 us, but for the first */
#define FIRST 200

/* Wait until it stands still: 0 and the signal to hand on, or a negative errno. */
static int await(pid_t tid, int *ret_signal)
{
	static const struct timespec pause = {0, 100000};
	int status, i;

	for (i = 0; i < LOOKS; i++) {
		pid_t got = waitpid(tid, &status, __WALL | WNOHANG);

		if (got < 0 && errno != EINTR)
			return -errno;
		if (got == tid && !WIFSTOPPED(status))
			return -ESRCH;
		if (got == tid) {
			*ret_signal = status >> 16 ? 0 : WSTOPSIG(status);
			return 0;
		}
		if (i < FIRST)
			sched_yield();
		else
			nanosleep(&pause, NULL);
	}
	return -ETIMEDOUT;
}

static int registers(pid_t tid, struct ins_halted *ret)
{
	struct iovec general = {&ret->status.pr_reg, sizeof ret->status.pr_reg};
	struct iovec floats = {ret->fpregs, sizeof ret->fpregs};

	memset(ret, 0, sizeof *ret);
	ret->tid = tid;
	ret->status.pr_pid = tid;
	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &general) < 0)
		return -errno;
	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRFPREG, &floats) == 0)
		ret->fpregs_size = floats.iov_len;
	return ins_prstatus_read(&ret->status, &ret->registers) ? 0 : -ENOTSUP;
}

int ins_halt(pid_t tid, ins_halt_fn *fn, void *context)
{
	struct ins_halted thread;
	int number = 0, rc;

	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0)
		return -errno;
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0)
		return -errno;
	rc = await(tid, &number);
	if (rc < 0)
		return rc;
	rc = registers(tid, &thread);
	if (rc == 0)
		rc = fn(context, &thread);
	ptrace(PTRACE_DETACH, tid, NULL, (void *)(long)number);
	return rc;
}
