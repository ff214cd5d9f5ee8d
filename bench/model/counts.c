/* SPDX-License-Identifier: MIT */
/*
 * counts.c - count steals, looks at victims that had nothing to take, searches in vain, and their time
 *
 * libfiber counts steals itself. The other numbers are counted at calls from one of its files to
 * another, which the linker leads through here (--wrap).
 */
#include "bench/model/counts.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/model/costs.h"
#include "bench/model/engine.h"
#include "bench/model/lines.h"
#include "bench/model/machine.h"
#include "sched/sched.h"

struct sums {
	int64_t now, searched, spun, stalled; /* ps */
	uint64_t steals, vain_looks, vain_searches, wakeups, moved;
};

static struct {
	uint64_t vain_looks, vain_searches;
	struct sums begin;
	int64_t delays[FIB_COUNTS_DELAYS];
	uint32_t count;
} counts;

/* -- calls that are counted -- */

struct fiber *__real_fib_steal(struct fib_carrier *c, bool patient, bool rested, bool *ret_looked);
struct fiber *__wrap_fib_steal(struct fib_carrier *c, bool patient, bool rested, bool *ret_looked);
bool __real_fib_idle_search(struct fib_carrier *c);
bool __wrap_fib_idle_search(struct fib_carrier *c);
void __real_fib_idle_found(struct fib_carrier *c);
void __wrap_fib_idle_found(struct fib_carrier *c);
void __real_fib_idle_sleep(struct fib_carrier *c);
void __wrap_fib_idle_sleep(struct fib_carrier *c);

struct fiber *__wrap_fib_steal(struct fib_carrier *c, bool patient, bool rested, bool *ret_looked)
{
	struct fiber *fiber = __real_fib_steal(c, patient, rested, ret_looked);

	if (!fiber)
		counts.vain_looks += c->sched->carrier_count - 1;
	return fiber;
}

static void search_ends(void)
{
	if (fib_cpu->search_began)
		fib_cpu->searched += fib_cpu->now - fib_cpu->search_began;
	fib_cpu->search_began = 0;
}

bool __wrap_fib_idle_search(struct fib_carrier *c)
{
	if (!fib_cpu->search_began)
		fib_cpu->search_began = fib_cpu->now;
	return __real_fib_idle_search(c);
}

void __wrap_fib_idle_found(struct fib_carrier *c)
{
	__real_fib_idle_found(c);
	search_ends();
}

void __wrap_fib_idle_sleep(struct fib_carrier *c)
{
	counts.vain_searches++;
	search_ends();
	__real_fib_idle_sleep(c);
}

/* -- sums -- */

static struct sums sum_up(void)
{
	const struct fib_sched *s = fib_carrier_self()->sched;
	struct sums sums = {.now = fib_cpu->now,
			    .vain_looks = counts.vain_looks,
			    .vain_searches = counts.vain_searches,
			    .moved = fib_lines_moved()};
	unsigned i, n;
	const struct fib_cpu *cpus = fib_engine_cpus(&n);

	for (i = 0; i < s->carrier_count; i++) {
		sums.steals += s->carriers[i].counters.steals;
		sums.wakeups += s->carriers[i].counters.wakeups;
	}
	for (i = 0; i < n; i++)
		if (cpus[i].carrier) {
			sums.searched += cpus[i].searched;
			sums.spun += cpus[i].spun;
			sums.stalled += cpus[i].stalled;
		}
	return sums;
}

void fib_counts_begin(void)
{
	counts.begin = sum_up();
	counts.count = 0;
	fib_lines_forget();
}

void fib_counts_delay(int64_t ns)
{
	if (counts.count < FIB_COUNTS_DELAYS)
		counts.delays[counts.count++] = ns;
}

static int by_value(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void print(const char *name, double value)
{
	printf("%s %.6g\n", name, value);
}

static void print_delays(void)
{
	const uint32_t middle = counts.count / 2, late = counts.count / 100;

	if (!counts.count)
		return;
	qsort(counts.delays, counts.count, sizeof counts.delays[0], by_value);
	print("p50", (double)counts.delays[middle]);
	print("p99", (double)counts.delays[counts.count - 1 - late]);
}

void fib_counts_end(int64_t ops)
{
	const struct sums sums = sum_up(), *since = &counts.begin;
	const double n = (double)ops, time = (double)(sums.now - since->now);
	const double carriers = fib_carrier_self()->sched->carrier_count;

	print("ns", time / NS / n);
	print("steals", (double)(sums.steals - since->steals) / n * 1e3);
	print("looks", (double)(sums.vain_looks - since->vain_looks) / n * 1e3);
	print("vain", (double)(sums.vain_searches - since->vain_searches) / n * 1e3);
	print("wakeups", (double)(sums.wakeups - since->wakeups) / n * 1e3);
	print("lines", (double)(sums.moved - since->moved) / n);
	print("searching", (double)(sums.searched - since->searched) / time / carriers);
	print("spinning", (double)(sums.spun - since->spun) / time / carriers);
	print("stalled", (double)(sums.stalled - since->stalled) / time / carriers);
	print_delays();
}
