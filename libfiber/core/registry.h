/* SPDX-License-Identifier: MIT */
/*
 * registry.h - where fiber records come from
 *
 * The registry is the allocator: to register a fiber is to take a record, to list fibers is to
 * walk the range. One per process, shared by all runtimes.
 */
#ifndef FIB_CORE_REGISTRY_H
#define FIB_CORE_REGISTRY_H

#include "core/record.h"
#include "layout/layout.h"

/* The exported self-description. */
extern struct fib_layout fiber_registry;

/* Reserve the range and fill in fiber_registry, once; later calls return the first one's result.
 * 0, -ENOMEM. Any thread. */
int fib_registry_init(void);

/*
 * Take n records, linked through ->link, or as many as there are; at least one. Fields are as
 * the last owner left them, id is 0, seq even. 0, -EAGAIN when the registry is full, -ENOMEM. Any thread.
 */
int fib_registry_take(unsigned n, struct fiber **ret, unsigned *ret_count);

/* Give back a list of n records linked through ->link; ids are already 0. */
void fib_registry_give(struct fiber *first, struct fiber *last, unsigned n);

/* How many records are taken at this moment, those among them that a cache keeps (record_cache.h). Any thread. */
uint64_t fib_registry_taken(void);

/* An id that nobody else gets, one more than the last one. */
extern _Atomic uint64_t fib_registry_ids; /* given out */
static inline uint64_t fib_registry_next_id(void)
{
	return fib_add_relaxed(&fib_registry_ids, 1) + 1;
}

/* n of them that follow each other: the first one. */
static inline uint64_t fib_registry_take_ids(unsigned n)
{
	return fib_add_relaxed(&fib_registry_ids, n) + 1;
}

/* Keep others out of the free list and the process' name: while it is set, while the process forks. */
void fib_registry_lock(void);
void fib_registry_unlock(void);

/* In a forked child, under that lock: the fibers of the parent are the parent's; every record is free. */
void fib_registry_forget(void);

/* The coarse clock: ns of CLOCK_MONOTONIC, at most about a millisecond old while something runs. It
 * never goes back: a time before the one it shows is ignored. */
extern _Atomic int64_t fib_coarse_clock;
static inline int64_t fib_coarse_now(void)
{
	return fib_load(&fib_coarse_clock);
}

void fib_coarse_set(int64_t now);

/* How many records exist; record i is fib_registry_at(i). Records are never unmapped. */
uint64_t fib_registry_committed(void);
struct fiber *fib_registry_at(uint64_t i);

#endif
