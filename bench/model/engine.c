/* SPDX-License-Identifier: MIT */
/*
 * engine.c - run the CPU with the smallest virtual time
 *
 * Two CPUs influence each other only by a cache line that moves, and the request for it takes half of
 * fib_model_line_cost. So a CPU may be ahead of the others by that while it uses its own lines. Before it
 * takes a line of another CPU, and before it blocks or wakes, it waits until no CPU is behind.
 *
 * Runnable CPUs, and blocked ones with a deadline, are in a heap. Of equal times the smaller
 * index is first, so a run depends on nothing but its seed.
 */
#include "bench/model/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "bench/model/costs.h"

#define STACK (256 * 1024)
#define START (1000 * 1000 * US) /* ps: no time is 0 */

struct fib_cpu *fib_cpu;

static struct {
	struct fib_cpu all[FIB_MODEL_CPUS];
	unsigned count;
	struct fib_cpu *heap[FIB_MODEL_CPUS + 1];
	unsigned queued;
	int64_t horizon; /* ps: the running CPU must stop when it is later */
} engine;

static bool precedes(const struct fib_cpu *a, const struct fib_cpu *b)
{
	return a->now != b->now ? a->now < b->now : a->index < b->index;
}

static void set(unsigned place, struct fib_cpu *a)
{
	engine.heap[place] = a;
	a->place = place;
}

static void sift_up(unsigned place, struct fib_cpu *a)
{
	for (; place > 1 && precedes(a, engine.heap[place / 2]); place /= 2)
		set(place, engine.heap[place / 2]);
	set(place, a);
}

static void sift_down(unsigned place, struct fib_cpu *a)
{
	unsigned below;

	for (; (below = place * 2) <= engine.queued; place = below) {
		if (below < engine.queued && precedes(engine.heap[below + 1], engine.heap[below]))
			below++;
		if (!precedes(engine.heap[below], a))
			break;
		set(place, engine.heap[below]);
	}
	set(place, a);
}

static void find_horizon(void)
{
	engine.horizon = engine.queued ? engine.heap[1]->now + fib_model_line_cost - 1 : INT64_MAX;
}

static void queue(struct fib_cpu *a)
{
	sift_up(++engine.queued, a);
	find_horizon();
}

static struct fib_cpu *take_first(void)
{
	struct fib_cpu *first = engine.heap[1];

	if (!engine.queued) {
		fprintf(stderr, "model: no carrier can run: a wake-up was lost\n");
		exit(2);
	}
	first->place = 0;
	if (--engine.queued)
		sift_down(1, engine.heap[engine.queued + 1]);
	find_horizon();
	return first;
}

/* Run the first CPU of the heap. The caller is in the heap, or blocked. */
static void run_first(void)
{
	struct fib_cpu *from = fib_cpu;

	fib_cpu = take_first();
	if (fib_cpu != from)
		fib_arch_switch(&from->context, &fib_cpu->context, &from->left);
}

static void cpu_main(void *arg)
{
	struct fib_cpu *me = arg;

	me->run(me->arg);
	me->ended = true;
	fib_engine_wake(me, FIB_MODEL_CPUS);
	run_first();
	abort();
}

void fib_engine_begin(void)
{
	fib_cpu = &engine.all[engine.count++];
	fib_cpu->now = fib_cpu->stored = START;
	find_horizon();
}

struct fib_cpu *fib_engine_start(void (*run)(void *arg), void *arg)
{
	struct fib_cpu *a = &engine.all[engine.count];
	void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (engine.count == FIB_MODEL_CPUS || stack == MAP_FAILED) {
		fprintf(stderr, "model: no memory for carriers\n");
		exit(2);
	}
	a->index = engine.count++;
	a->run = run;
	a->arg = arg;
	a->now = a->stored = fib_cpu->now;
	fib_arch_inherit(&a->context);
	if (fib_arch_init(&a->context, stack, STACK, cpu_main, a) < 0)
		abort();
	queue(a);
	return a;
}

void fib_engine_sync(void)
{
	while (engine.queued && precedes(engine.heap[1], fib_cpu)) {
		queue(fib_cpu);
		run_first();
	}
}

void fib_engine_pass(int64_t ps)
{
	fib_cpu->now += ps;
	if (fib_cpu->now > engine.horizon)
		fib_engine_sync();
}

bool fib_engine_block(const void *what, int64_t deadline)
{
	struct fib_cpu *me = fib_cpu;
	int64_t since;

	fib_engine_sync();
	since = me->now;
	me->waits_for = what;
	me->blocked = true;
	if (deadline != INT64_MAX) {
		if (me->now < deadline)
			me->now = deadline;
		me->now += COST_WAKING;
		queue(me);
	}
	run_first();
	me->slept += me->now - since;
	if (!me->blocked)
		return true;
	me->blocked = false;
	return false;
}

static void wake(struct fib_cpu *a)
{
	const int64_t at = fib_cpu->now + COST_WAKING;

	a->blocked = false;
	if (!a->place) {
		a->now = at;
		queue(a);
	} else if (a->now > at) {
		a->now = at;
		sift_up(a->place, a);
		find_horizon();
	}
}

unsigned fib_engine_wake(const void *what, unsigned n)
{
	unsigned i, woken = 0;

	fib_engine_sync();
	for (i = 0; i < engine.count && woken < n; i++)
		if (engine.all[i].blocked && engine.all[i].waits_for == what) {
			wake(&engine.all[i]);
			woken++;
		}
	return woken;
}

struct fib_cpu *fib_engine_cpus(unsigned *ret_n)
{
	*ret_n = engine.count;
	return engine.all;
}
