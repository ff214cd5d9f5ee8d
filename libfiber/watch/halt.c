/* SPDX-License-Identifier: MIT */
/*
 * halt.c - stop the carriers of all runtimes wherever they are
 *
 * A garbage collector wants all pointers to hold still. A carrier may compute in a fiber, sleep in a
 * system call, or be in the middle of a switch. So each gets the signal that long runs use
 * (os/sample.h). The handler saves its registers on the stack it is on, tells where it has
 * interrupted the carrier, and waits.
 *
 *	state:	RUNS --stopper--> ASKED --handler--> HALTED --stopper--> RUNS
 *	                          ASKED --stopper, at its deadline-----> RUNS
 *
 * A handler that finds no request, for example because it is late, does nothing. The change to HALTED
 * is a compare-and-swap, so a request is either withdrawn or served (halt.state).
 *
 * One thread at a time is the stopper; it has the claim. Schedulers are added and removed only while the
 * list is open. A scheduler that is being started has no fibers yet, and one that was removed has none any
 * more, so their carriers need not be stopped.
 *
 * A stopped carrier may hold any lock. So the stopper waits for none: it tries those that it needs, and
 * if one is held it lets all carriers continue, and stops them again.
 */
#include "watch/halt.h"

#include <errno.h>

#include "context/context.h"
#include "os/os.h"
#include "os/sample.h"
#include "os/threads.h"
#include "watch/tick.h"

/*
 * A carrier that waits for the claim has to be stopped by the holder. ThreadSanitizer keeps a signal until the
 * program uses an atomic, and the kernel restarts the wait; so the wait ends after this time, ns.
 */
#define CLAIM_LOOK INT64_C(10000000)

/* S only the stopper · A any thread, atomic */
static struct {
	_Atomic uint32_t claimed;     /* A, futex: halt.claim; tid of the stopper, or 0 */
	_Atomic uint32_t stopped;     /* S: its carriers are stopped */
	struct fib_carrier *carriers; /* S: through ->halt.next */
} halt;

/* The part of the handler that waits, with all registers on the stack above its frame. */
static void wait_halted(void *arg)
{
	struct fib_carrier *c = arg;
	struct fib_halt_data *h = &c->halt;
	uint32_t asked = FIB_HALT_ASKED;

	h->at = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	h->signal_top = fib_os_altstack_top(h->at);
	/* label: halt.state -- the stopper sees h, and all that the fiber has written. */
	if (!fib_cas(&h->state, &asked, FIB_HALT_HALTED))
		return;
	fib_os_futex_wake(&h->state, 1);
	/* pairs: halt.state -- what the stopper has done. */
	while (fib_load_acquire(&h->state) == FIB_HALT_HALTED)
		fib_os_futex_wait(&h->state, FIB_HALT_HALTED, INT64_MAX);
}

/* The signal handler, on the carrier. */
static void interrupted(void *ucontext)
{
	struct fib_carrier *c = fib_carrier_self();
	struct fib_context context = {0};

	/* Also when it is late: the call that was interrupted is to be repeated. */
	const bool known = fib_arch_interrupted(ucontext, &context);

	if (!c || fib_load(&c->halt.state) != FIB_HALT_ASKED)
		return;
	c->halt.sp = known ? context.sp : 0;
	fib_context_spill(wait_halted, c);
}

int fib_halt_claim(int64_t deadline)
{
	const uint32_t me = fib_os_tid();
	uint32_t holder = 0;
	int64_t until;

	/* pairs: halt.claim */
	while (!fib_cas(&halt.claimed, &holder, me)) {
		if (holder == me)
			return -EDEADLK;
		until = fib_os_now() + CLAIM_LOOK;
		if (until > deadline)
			until = deadline;
		if (fib_os_futex_wait(&halt.claimed, holder, until) == -ETIMEDOUT &&
		    until == deadline)
			return -ETIMEDOUT;
		holder = 0;
	}
	return 0;
}

void fib_halt_disclaim(void)
{
	/* label: halt.claim */
	fib_store_release(&halt.claimed, 0);
	fib_os_futex_wake(&halt.claimed, 1);
}

bool fib_halt_mine(void)
{
	/* No other thread stores this thread's tid. */
	return fib_load(&halt.claimed) && fib_load(&halt.claimed) == fib_os_tid() &&
	       fib_load(&halt.stopped);
}

struct fib_carrier *fib_halted(void)
{
	return halt.carriers;
}

/* Of the stop in progress. */
struct asking {
	uint32_t me;
	int rc;
};

/* A carrier that is the caller's thread stops by itself. With libfiber-test all carriers are. */
static void ask(struct fib_carrier *c, struct asking *asking)
{
	const uint32_t tid = fib_load(&c->tid);
	int rc = 0;

	if (!c->halt.stack_high && c->thread)
		fib_os_thread_stack(c->thread, &c->halt.stack_low, &c->halt.stack_high);
	c->halt.next = halt.carriers;
	halt.carriers = c;
	if (tid == asking->me || asking->rc < 0)
		return;
	if (!fib_load(&c->interruptible)) {
		asking->rc = -EBUSY;
		return;
	}
	/* label: halt.state -- what the stopper has done since the last stop. */
	fib_store_release(&c->halt.state, FIB_HALT_ASKED);
	rc = fib_os_halt(tid, interrupted);
	if (rc < 0) {
		fib_store(&c->halt.state, FIB_HALT_RUNS);
		asking->rc = rc;
	}
}

static void ask_all(struct fib_sched *s, void *arg)
{
	unsigned i;

	for (i = 0; i < s->carrier_count; i++)
		ask(&s->carriers[i], arg);
}

/* Returns whether the carrier has stopped, if it was asked. */
static bool await_halted(struct fib_carrier *c, int64_t deadline)
{
	/* pairs: halt.state */
	while (fib_load_acquire(&c->halt.state) == FIB_HALT_ASKED)
		if (fib_os_futex_wait(&c->halt.state, FIB_HALT_ASKED, deadline) == -ETIMEDOUT)
			/* pairs: halt.state */
			return fib_load_acquire(&c->halt.state) != FIB_HALT_ASKED;
	return true;
}

int fib_halt(int64_t deadline)
{
	struct asking asking = {fib_os_tid(), 0};
	struct fib_carrier *c;

	fib_tick_close(ask_all, &asking);
	for (c = halt.carriers; c && asking.rc == 0; c = c->halt.next)
		if (!await_halted(c, deadline))
			asking.rc = -EAGAIN;
	fib_store(&halt.stopped, asking.rc == 0);
	if (asking.rc < 0)
		fib_halt_end();
	return asking.rc;
}

void fib_halt_end(void)
{
	struct fib_carrier *c = halt.carriers, *next;

	fib_store(&halt.stopped, 0);
	halt.carriers = NULL;
	for (; c; c = next) {
		next = c->halt.next;
		/* label: halt.state */
		if (fib_swap(&c->halt.state, FIB_HALT_RUNS) != FIB_HALT_RUNS)
			fib_os_futex_wake(&c->halt.state, 1);
	}
	fib_tick_open();
}

void fib_halt_forget(void)
{
	fib_store(&halt.claimed, 0);
	fib_store(&halt.stopped, 0);
	halt.carriers = NULL;
}
