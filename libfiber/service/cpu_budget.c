/* SPDX-License-Identifier: MIT */
/*
 * cpu_budget.c - how much CPU time answers may take from the program
 *
 * Where every CPU has a carrier to run, answering takes the CPU from one of them, and from the fiber that it was about to
 * run. So it is done in stints that are shorter than a fiber notices, each when the service thread has got up for its tick: but
 * for a connection or a request that comes, no carrier is interrupted more often because somebody looks.
 *
 * And there is an allowance, a token bucket: a share of the time may go into answers, what has not been used of it is saved up to a
 * limit and lets the next answer come soon, but whoever asks without end, or for millions, gets no more than the share. Reading a
 * recording is granted: whoever began it has chosen what it costs, and what is not read in time is lost. It is done in stints
 * too, with short pauses. And what is long for once, such as making the rings of a recording, or all that a sanitizer does
 * beside it, is no debt for minutes: who asks has a limit to his patience.
 *
 * While a CPU is free nobody pays: the program has fewer carriers awake than CPUs, or they do not use them, as those of a
 * server that hangs, each in a system call. Whether they do is what the process has used without this thread. While
 * this thread has their only CPU for itself they use none, so that is looked at over a time in which they would
 * have had their turn. Who asks after a rest finds nothing that tells of now, and is answered as if they did.
 */
#include "service/cpu_budget.h"

#include "os/os.h"
#include "watch/tick.h"

#define STINT \
	INT64_C(4000) /* ns of answering after which there is a pause: mostly one turn of one peer */
#define BESIDE \
	INT64_C(6000) /* ns that a stint takes beside what is measured of it: clocks, a poll, what it finds in no cache */
#define PAUSE INT64_C(200000)	/* ns until the next, at least */
#define SHARE 200		/* one in so many ns may be spent on answers */
#define TURN  INT64_C(500000)	/* ns that a turn is charged at most */
#define MOST  INT64_C(8000000)	/* ns that can be saved up */
#define LOOK  INT64_C(10000000) /* ns over which the use of the CPUs is looked at */
#define STALE (4 * LOOK)	/* ns after which it tells nothing */
#define USED \
	16 /* carriers that run get at least one in so many ns, also where other programs want the CPUs */

static void look(struct fib_cpu_budget *a, int64_t now)
{
	int64_t process = fib_os_process_cpu(), own = fib_os_thread_cpu();
	int64_t carriers = process - a->process_cpu - (own - a->own_cpu);

	/* Where a sandbox does not let us know, they might be busy. */
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
