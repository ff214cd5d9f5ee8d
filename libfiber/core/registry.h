/* SPDX-License-Identifier: MIT */
/*
 * registry.h - allocation of fiber records
 *
 * The registry is the allocator: to register a fiber is to take a record, and to list fibers is to
 * walk the range. There is one registry per process, shared by all runtimes.
 */
#ifndef FIB_CORE_REGISTRY_H
#define FIB_CORE_REGISTRY_H

#include "core/record.h"
#include "layout/layout.h"

/* The exported self-description. */
extern struct fib_layout fiber_registry;

/* Write into the registry where the code of libfiber is; also done by fib_registry_init(). */
void fib_registry_publish_code(void);

/* Reserve the range and fill in fiber_registry, once. Later calls do nothing, unless the earlier
 * ones failed. Returns 0 or -ENOMEM. Any thread. */
int fib_registry_init(void);

/*
 * Take at most n records, linked through ->link, and at least one. What a wait writes into a record
 * is undefined, other fields are as the last owner left them; id is 0, seq is even. Returns 0,
 * -EAGAIN when the registry is full, or -ENOMEM. Any thread.
 */
int fib_registry_take(unsigned n, struct fiber **ret, unsigned *ret_count);

/* Give back a list of n records linked through ->link. Their ids must be 0. */
void fib_registry_give(struct fiber *first, struct fiber *last, unsigned n);

/* The number of records that are taken now, including those in caches (record_cache.h). Any
 * thread. */
uint64_t fib_registry_taken(void);

/* Take the next id: one more than the last, and unique. */
extern _Atomic uint64_t fib_registry_ids; /* last id taken */
static inline uint64_t fib_registry_next_id(void)
{
	return fib_add_relaxed(&fib_registry_ids, 1) + 1;
}

/* Take n consecutive ids and return the first. */
static inline uint64_t fib_registry_take_ids(unsigned n)
{
	return fib_add_relaxed(&fib_registry_ids, n) + 1;
}

/* Give the n ids from first on back, which were taken together and not used. Has no effect if other
 * ids were taken since. */
static inline void fib_registry_give_ids(uint64_t first, unsigned n)
{
	uint64_t last = first + n - 1;

	/* No data depends on an id that no fiber has. */
	fib_cas(&fib_registry_ids, &last, first - 1);
}

/*
 * Count a thread that is no carrier as one that does nothing until a fiber acts (enter), or no more.
 * One that waits for a fiber with a deadline, or for a descriptor, is not counted. A helper thread
 * without work is. Any thread.
 */
void fib_registry_thread_waits(bool enter);

/*
 * Publish the state of the threads that run blocking calls (fiber_layout.h). since: ns, 0: no call is
 * queued. Calls do not overlap.
 */
void fib_registry_offload(uint32_t threads, uint32_t queued, int64_t since);

/* Publish how many events the recording in progress has lost; 0: none, or there is no recording. */
void fib_registry_recording_lost(uint64_t events);

/* From now on a carrier in an idle hook may wake fibers too: the count is unknown, which is 0. */
void fib_registry_hooked(void);

/* Lock the free list and the process' name: while the name is set, and while the process forks. */
void fib_registry_lock(void);
void fib_registry_unlock(void);

/* In a forked child, under that lock: drop the fibers of the parent; every record is free. */
void fib_registry_forget(void);

/* The coarse clock: ns of CLOCK_MONOTONIC, at most about a millisecond old while a fiber runs. It
 * never goes back: setting an earlier time has no effect. */
extern _Atomic int64_t fib_coarse_clock;
static inline int64_t fib_coarse_now(void)
{
	return fib_load(&fib_coarse_clock);
}

void fib_coarse_set(int64_t now);

/* The number of records that can be read; record i is fib_registry_at(i). Records are never
 * unmapped. */
uint64_t fib_registry_committed(void);
struct fiber *fib_registry_at(uint64_t i);

#endif
