/* SPDX-License-Identifier: MIT */
/* atomic.c - programs whose order is made by atomic operations */
#include "programs.h"

#include <stdatomic.h>
#include <stdint.h>

static _Atomic int flag;
static _Atomic short narrow;
static _Atomic int64_t wide;
static _Atomic(int *) published;
static volatile int not_atomic;

static void clear(void)
{
	atomic_init(&flag, 0);
	atomic_init(&narrow, 0);
	atomic_init(&wide, 0);
	atomic_init(&published, NULL);
	not_atomic = 0;
}

#define PROGRAM(name, a, b)         \
	static void name(void *arg) \
	{                           \
		(void)arg;          \
		clear();            \
		run_both(a, b);     \
	}

/* name: write the data, then store the flag; read the data once the flag is set */
#define STORES(name, order)                             \
	static void *name(void *arg)                    \
	{                                               \
		data = 1;                               \
		atomic_store_explicit(&flag, 1, order); \
		return arg;                             \
	}
#define LOADS(name, order)                                  \
	static void *name(void *arg)                        \
	{                                                   \
		while (!atomic_load_explicit(&flag, order)) \
			fiber_yield();                      \
		return data ? arg : NULL;                   \
	}

STORES(store_relaxed, memory_order_relaxed)
STORES(store_release, memory_order_release)
STORES(store_seq, memory_order_seq_cst)
LOADS(load_relaxed, memory_order_relaxed)
LOADS(load_acquire, memory_order_acquire)
LOADS(load_seq, memory_order_seq_cst)

PROGRAM(relaxed, store_relaxed, load_relaxed)
PROGRAM(release_acquire, store_release, load_acquire)
PROGRAM(release_relaxed, store_release, load_relaxed)
PROGRAM(relaxed_acquire, store_relaxed, load_acquire)
PROGRAM(seq_cst, store_seq, load_seq)

static void *fence_store(void *arg)
{
	data = 1;
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&flag, 1, memory_order_relaxed);
	return arg;
}

static void *load_fence(void *arg)
{
	while (!atomic_load_explicit(&flag, memory_order_relaxed))
		fiber_yield();
	atomic_thread_fence(memory_order_acquire);
	return data ? arg : NULL;
}

static void *store_fence(void *arg)
{
	data = 1;
	atomic_store_explicit(&flag, 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	return arg;
}

static void *signal_fence_store(void *arg)
{
	data = 1;
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&flag, 1, memory_order_relaxed);
	return arg;
}

PROGRAM(fences, fence_store, load_fence)
PROGRAM(fence_and_acquire, fence_store, load_acquire)
PROGRAM(fence_too_late, store_fence, load_fence)
PROGRAM(signal_fence, signal_fence_store, load_fence)

/* A relaxed read-modify-write continues the release sequence; a relaxed store ends it. */
static void *update_between(void *arg)
{
	while (!atomic_load_explicit(&flag, memory_order_relaxed))
		fiber_yield();
	atomic_fetch_add_explicit(&flag, 1, memory_order_relaxed);
	return arg;
}

static void *store_between(void *arg)
{
	while (!atomic_load_explicit(&flag, memory_order_relaxed))
		fiber_yield();
	atomic_store_explicit(&flag, 2, memory_order_relaxed);
	return arg;
}

static void *load_two(void *arg)
{
	while (atomic_load_explicit(&flag, memory_order_acquire) != 2)
		fiber_yield();
	return data ? arg : NULL;
}

static void sequence(fiber_fn *between)
{
	struct fiber *f;

	clear();
	fiber_spawn(store_release, NULL, &f);
	run_both(between, load_two);
	fiber_join(f, NULL, FIBER_FOREVER);
}

static void sequence_goes_on(void *arg)
{
	(void)arg;
	sequence(update_between);
}

static void sequence_ends(void *arg)
{
	(void)arg;
	sequence(store_between);
}

static void *volatile_store(void *arg)
{
	data = 1;
	not_atomic = 1;
	return arg;
}

static void *volatile_load(void *arg)
{
	while (!not_atomic)
		fiber_yield();
	return data ? arg : NULL;
}

PROGRAM(volatile_flag, volatile_store, volatile_load)

static void *add_under(memory_order taken, memory_order released)
{
	int expected = 0;

	while (!atomic_compare_exchange_weak_explicit(&flag, &expected, 1, taken,
						      memory_order_relaxed)) {
		expected = 0;
		fiber_yield();
	}
	data++;
	atomic_store_explicit(&flag, 0, released);
	return NULL;
}

static void *spin_lock(void *arg)
{
	(void)arg;
	return add_under(memory_order_acquire, memory_order_release);
}

static void *spin_lock_relaxed(void *arg)
{
	(void)arg;
	return add_under(memory_order_acquire, memory_order_relaxed);
}

PROGRAM(spin, spin_lock, spin_lock)
PROGRAM(spin_relaxed, spin_lock_relaxed, spin_lock_relaxed)

static void *count(void *arg)
{
	atomic_fetch_add_explicit(&flag, 1, memory_order_relaxed);
	atomic_fetch_or_explicit(&narrow, 1, memory_order_relaxed);
	atomic_exchange_explicit(&wide, 1, memory_order_relaxed);
	return arg;
}

static void *load_then_write(void *arg)
{
	if (atomic_load_explicit(&flag, memory_order_relaxed) == 2)
		data++;
	return arg;
}

static void *count_then_write(void *arg)
{
	if (atomic_fetch_add_explicit(&flag, 1, memory_order_acq_rel) == 1)
		data++;
	else
		other++;
	return arg;
}

/* The last one may touch what the others have touched, as with reference counts. */
static void *drop(void *arg)
{
	data += arg == NULL;
	return arg;
}

static void *read_reference(void *arg)
{
	const int seen = data;

	if (atomic_fetch_sub_explicit(&flag, 1, memory_order_acq_rel) == -1)
		drop(NULL);
	return seen ? arg : NULL;
}

static void *read_reference_relaxed(void *arg)
{
	const int seen = data;

	if (atomic_fetch_sub_explicit(&flag, 1, memory_order_relaxed) == -1)
		drop(NULL);
	return seen ? arg : NULL;
}

PROGRAM(counters, count, count)
PROGRAM(last_one, count_then_write, count_then_write)
PROGRAM(references, read_reference, read_reference)
PROGRAM(references_relaxed, read_reference_relaxed, read_reference_relaxed)

/* Plain and atomic accesses of one variable. */
static void *plain_store(void *arg)
{
	*(int *)(uintptr_t)&flag = 1;
	return arg;
}

PROGRAM(mixed, plain_store, load_then_write)

static void *publish(void *arg)
{
	data = 1;
	atomic_store_explicit(&published, &data, memory_order_release);
	return arg;
}

static void *consume(void *arg)
{
	int *p = atomic_load_explicit(&published, memory_order_consume);

	return p && *p ? arg : NULL;
}

PROGRAM(pointer, publish, consume)

/* A compare-exchange that fails only reads. */
static void *compare_in_vain(void *arg)
{
	int expected = 5;

	atomic_compare_exchange_strong(&flag, &expected, 6);
	return arg;
}

static void *plain_load(void *arg)
{
	return *(int *)(uintptr_t)&flag ? arg : NULL;
}

PROGRAM(failed_compare, compare_in_vain, plain_load)

const struct program atomic_programs[] = {
	{"relaxed flag", NULL, NULL, relaxed, true},
	{"release and acquire", NULL, NULL, release_acquire, false},
	{"release and relaxed", NULL, NULL, release_relaxed, true},
	{"relaxed and acquire", NULL, NULL, relaxed_acquire, true},
	{"seq_cst", NULL, NULL, seq_cst, false},
	{"fences", NULL, NULL, fences, false},
	{"fence and acquire", NULL, NULL, fence_and_acquire, false},
	{"fence after the store", NULL, NULL, fence_too_late, true},
	{"signal fence", NULL, NULL, signal_fence, true},
	{"release sequence with an update", NULL, NULL, sequence_goes_on, false},
	{"release sequence ended by a store", NULL, NULL, sequence_ends, true},
	{"volatile flag", NULL, NULL, volatile_flag, true},
	{"spin lock", NULL, NULL, spin, false},
	{"spin lock released relaxed", NULL, NULL, spin_relaxed, true},
	{"relaxed counters", NULL, NULL, counters, false},
	{"the last one writes", NULL, NULL, last_one, false},
	{"reference count", NULL, NULL, references, false},
	{"relaxed reference count", NULL, NULL, references_relaxed, true},
	{"plain and atomic", NULL, NULL, mixed, true},
	{"published pointer", NULL, NULL, pointer, false},
	{"compare-exchange that fails", NULL, NULL, failed_compare, false},
};
const size_t atomic_count = sizeof atomic_programs / sizeof *atomic_programs;
