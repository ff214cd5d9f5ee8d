/* SPDX-License-Identifier: MIT */
/*
 * signal.c - report memory faults on the alternate signal stack
 *
 * The handler writes its report and then steps aside. A previous handler is called directly. For
 * the default action the handler restores it and returns. The instruction then faults again, and
 * the core shows the frames of the faulting code.
 */
#include "os/os.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "os/signals.h"

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

static void (*fault_report)(uint64_t address, void *ucontext);
static struct sigaction previous_segv, previous_bus;

static void on_fault(int number, siginfo_t *info, void *context)
{
	const struct sigaction *previous = number == SIGBUS ? &previous_bus : &previous_segv;
	int saved = errno;

	/* A signal that was sent has the sender's data where the address would be. */
	if (!fib_os_signal_sent(info))
		fault_report((uint64_t)(uintptr_t)info->si_addr, context);
	if (previous->sa_flags & SA_SIGINFO) {
		previous->sa_sigaction(number, info, context);
	} else if (previous->sa_handler != SIG_DFL && previous->sa_handler != SIG_IGN) {
		previous->sa_handler(number);
	} else {
		/*
		 * An ignored fault would repeat for ever; the kernel also uses the default action.
		 */
		struct sigaction fallback = {.sa_handler = SIG_DFL};

		sigaction(number, &fallback, NULL);
		/* A signal that was sent does not repeat by itself. */
		if (fib_os_signal_sent(info))
			raise(number);
	}
	errno = saved;
}

int fib_os_fault_handler(void (*report)(uint64_t address, void *ucontext))
{
	static _Atomic int installed;
	struct sigaction action = {.sa_sigaction = on_fault,
				   .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};

	if (fib_swap(&installed, 1))
		return 0;
	fault_report = report;
	sigemptyset(&action.sa_mask);
	if (sigaction(SIGSEGV, &action, &previous_segv) < 0 ||
	    sigaction(SIGBUS, &action, &previous_bus) < 0)
		return -errno;
	return 0;
}

int fib_os_altstack_enter(void **ret)
{
	stack_t stack = {.ss_size = fib_os_altstack_size()};

	stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (stack.ss_sp == MAP_FAILED)
		return -errno;
	if (sigaltstack(&stack, NULL) < 0) {
		int rc = -errno;

		munmap(stack.ss_sp, stack.ss_size);
		return rc;
	}
	*ret = stack.ss_sp;
	return 0;
}

void fib_os_altstack_leave(void *stack)
{
	/* macOS checks the size of a stack that is not used any more, too. */
	stack_t off = {.ss_flags = SS_DISABLE, .ss_size = fib_os_altstack_size()};

	sigaltstack(&off, NULL);
	munmap(stack, fib_os_altstack_size());
}

uint64_t fib_os_altstack_top(uint64_t sp)
{
	stack_t stack;

	if (sigaltstack(NULL, &stack) < 0 || (stack.ss_flags & SS_DISABLE) ||
	    sp - (uint64_t)(uintptr_t)stack.ss_sp >= stack.ss_size)
		return 0;
	return (uint64_t)(uintptr_t)stack.ss_sp + stack.ss_size;
}

bool fib_os_on_altstack(uint64_t sp)
{
	return fib_os_altstack_top(sp) != 0;
}
