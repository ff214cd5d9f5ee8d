/* SPDX-License-Identifier: MIT */
/*
 * cpu_budget.c - limit the CPU time that answers take from the program
 *
 * If every CPU has a carrier to run, answering takes the CPU from a carrier and its fiber. So
 * answers are made in stints that are too short for a fiber to notice, each after a tick, when the
 * service thread is awake anyway. Only a new connection or request interrupts a carrier more often.
 *
 * A token bucket limits the total: a share of the time may go into answers. Unused time is saved up
 * to a limit, so that the next answer comes soon. A client that asks without end, or for millions
 * of fibers, gets only the share. A single long operation, such as making the rings of a recording,
 * or what a sanitizer adds to it, is charged at most TURN, so that it does not block a client for
 * minutes.
 *
 * Reading a recording is granted: the user who started it has chosen its cost, and data that is not
 * read in time is lost. It is done in stints too, with short pauses.
 *
 * While a CPU is free there is no limit: the program has fewer carriers awake than CPUs, or the
 * carriers do not use them (a server that hangs, each carrier in a system call). Whether they do is
 * measured: CPU time of the process minus that of this thread. The measurement covers a time in
 * which carriers would have been scheduled, because they use nothing while this thread runs on
 * their only CPU. After a long rest the last measurement is out of date, and the carriers are
 * assumed to be busy.
 */
#include "service/cpu_budget.h"

#include "os/os.h"
#include "watch/tick.h"

/*
 * ns, except SHARE and USED. STINT: answering time after which there is a pause, mostly one turn of
 * one peer. BESIDE: what a stint costs and is not measured: clocks, a poll, cache misses. USED: a
 * running carrier gets at least one in so many ns, even if other programs want the CPUs.
 */
#define STINT  INT64_C(4000)
#define BESIDE INT64_C(6000)
#define PAUSE  INT64_C(200000)	 /* from one stint to the next, at least */
#define SHARE  200		 /* one in so many ns may be spent on answers */
#define TURN   INT64_C(500000)	 /* the most that one turn is charged */
#define MOST   INT64_C(8000000)	 /* the most that can be saved up */
#define LOOK   INT64_C(10000000) /* the time over which the use of the CPUs is measured */
#define STALE  (4 * LOOK)	 /* a measurement older than this is out of date */
#define USED   16

static void look(struct fib_cpu_budget *a, int64_t now)
{
	int64_t process = fib_os_process_cpu(), own = fib_os_thread_cpu();
	int64_t carriers = process - a->process_cpu - (own - a->own_cpu);

	/* If a sandbox refuses the calls, assume that they are busy. */
	a->busy = process < 0 || own < 0 || carriers > (now - a->looked_at) / USED;
	a->looked_at = now;
	a->process_cpu = process;
	a->own_cpu = own;
}

static bool pays(struct fib_cpu_budget *a, int64_t now)
{
	bool stale = now - a->looked_at >= STALE;

	if (now - a->looked_at >= LOOK)
		look(a, now);
	a->busy |= stale;
	return a->busy && fib_tick_awake_carriers() >= a->cpus;
}

void fib_cpu_budget_begin(struct fib_cpu_budget *a, int64_t now)
{
	*a = (struct fib_cpu_budget){.cpus = fib_os_cpus(), .saved = MOST, .saved_at = now};
	look(a, now);
	a->busy = a->pays = true;
}

void fib_cpu_budget_spend(struct fib_cpu_budget *a, int64_t ns, bool granted, int64_t now)
{
	a->stint += ns;
	if (!granted)
		a->charged += ns < TURN ? ns : TURN;
	if (a->stint < STINT)
		return;
	a->saved += (now - a->saved_at) / SHARE;
	a->saved_at = now;
	if (a->saved > MOST)
		a->saved = MOST;
	a->pays = pays(a, now);
	if (a->pays) {
		a->rests_until = now + PAUSE;
		if (a->charged)
			a->saved -= a->charged + BESIDE;
		a->owes_until = a->rests_until + (a->saved < 0 ? -a->saved * SHARE : 0);
	} else
		a->rests_until = a->owes_until = 0;
	a->stint = a->charged = 0;
}

int64_t fib_cpu_budget_cpu(void)
{
	const int64_t cpu = fib_os_thread_cpu();

	return cpu < 0 ? fib_os_now() : cpu;
}
