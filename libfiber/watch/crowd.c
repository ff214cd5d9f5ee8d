/* SPDX-License-Identifier: MIT */
/*
 * crowd.c - limit how many carriers are awake where there are more than CPUs, or substitutes
 *
 * Carriers without a CPU of their own take turns, and each turn begins with the data of another
 * carrier in the caches: a tree of fibers took 3 times as long on 64 carriers as on 2. So as many
 * carriers are woken as there are CPUs.
 *
 * But a carrier that blocks in a system call uses no CPU, and one that computes for long runs no
 * other fiber. Others must take their places. So at each tick
 *
 *	a carrier that one fiber has kept for PATIENCE is not counted. A carrier that waits for its
 *	turn on a CPU usually gets it sooner;
 *	while work waits and the process uses less than 3/4 of the CPUs, at UNUSED ticks in a row, a
 *	quarter more carriers may be awake, and at least one more;
 *	otherwise one less may, down to the number of CPUs.
 *
 * If other programs use the CPUs, all carriers may be awake in the end: the process uses less than
 * its CPUs then, as if its carriers blocked.
 *
 * Substitutes are carriers like all others (the option carriers_max). They are awake for those that
 * are kept, and no others.
 */
#include "watch/crowd.h"

#include "os/os.h"
#include "sched/sched.h"

#define PATIENCE INT64_C(10000000)
#define RECENT	 INT64_C(20000000) /* an older reading of the CPU time says nothing */
#define UNUSED	 3u		   /* once or twice, another program had the CPUs for a moment */

void fib_crowd_init(struct fib_sched *s)
{
	s->crowd.cpus = s->regular > 1 ? fib_os_cpus() : 1;
	if (s->crowd.cpus > s->regular)
		s->crowd.cpus = s->regular;
	fib_store(&s->idle.most, s->crowd.cpus);
}

/* How many carriers have been kept by one fiber for PATIENCE. */
static unsigned kept(const struct fib_sched *s, int64_t now)
{
	unsigned i, count = 0;

	for (i = 0; i < s->carrier_count; i++) {
		const struct fib_longrun_hold *h = &s->carriers[i].hold;

		count += h->fiber && now - h->first >= PATIENCE;
	}
	return count;
}

/*
 * Whether the process has left CPU time unused at the last UNUSED looks. If a sandbox refuses the
 * call, assume it.
 */
static bool cpu_unused(struct fib_crowd *crowd, int64_t now)
{
	const int64_t process = fib_os_process_cpu(), took = now - crowd->looked_at;
	const int64_t used = process - crowd->process_cpu;

	crowd->looked_at = now;
	crowd->process_cpu = process;
	if (process < 0 || (took < RECENT && used < took * crowd->cpus * 3 / 4))
		crowd->unused++;
	else
		crowd->unused = 0;
	return crowd->unused >= UNUSED;
}

void fib_crowd_look(struct fib_sched *s, int64_t now, bool behind)
{
	unsigned most = fib_load(&s->idle.most);
	unsigned count, least;

	if (s->crowd.cpus == s->carrier_count)
		return;
	count = kept(s, now);
	least = s->crowd.cpus + count;
	if (behind && fib_idle_full(s) && cpu_unused(&s->crowd, now))
		most += most / 4 + 1;
	else if (most > least)
		most--;
	if (most < least)
		most = least;
	if (most > s->regular + count)
		most = s->regular + count;
	if (most > s->carrier_count)
		most = s->carrier_count;
	fib_store(&s->idle.most, most);
}
