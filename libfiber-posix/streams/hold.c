/* SPDX-License-Identifier: MIT */
/*
 * hold.c - which fiber has the lock of a stream
 *
 * The C library's lock of a stream records the thread. Two fibers of a carrier are one thread: both
 * would have it, and one that blocks for it stops the carrier. So a fiber takes two locks, in this
 * order: a mutex of fibers, which this file keeps for the stream, and the C library's. The first one
 * excludes fibers and parks them. The second one excludes plain threads, which know no other. A fiber
 * stays on its carrier, or is a thread of its own to the C library (FIBER_OWN_TLS). So who unlocks is
 * who has locked, and what the fiber calls in the C library meanwhile locks it again.
 *
 * A fiber cannot park for the C library's lock: a thread unlocks it inside the C library. So the fiber
 * tries, yields, and tries again every 1 to 8 ms. A thread that waits for a fiber sleeps as it always
 * does, and is woken by the C library.
 *
 * A call for a file on a disk never parks. It takes the C library's lock alone, by a try. The try fails
 * if another thread has the lock, so a fiber of another carrier too. A fiber of the same carrier is
 * found in the table of held streams. While no stream is held, this is one load.
 *
 * A stream is in the table while a fiber has it or waits for it. An entry is used again for another
 * stream, and never freed. The owner is the number of the fiber, which no other fiber gets. A fiber that
 * exits with the lock leaves the stream locked, as a thread does.
 */
#include "streams/hold.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/fiber.h>
#include <fiber/posix.h>
#include <fiber/sync.h>
#include <fiber/time.h>

#include "call/hints.h"
#include "call/lock.h"
#include "call/park.h"
#include "system/native.h"
#include "system/streams.h"
#include "system/system.h"
#include "threads/owner.h"

#define BUCKETS 64
#define YIELDS	10

/* L under the bucket's lock */
struct hold {
	FILE *stream;	   /* L */
	uint64_t owner;	   /* L: 0, or the fiber that has the mutex */
	unsigned depth;	   /* L: how often it has locked */
	unsigned users;	   /* L: fibers that have the mutex or wait for it */
	struct hold *next; /* L */
	struct fiber_mutex mutex;
};

static struct bucket {
	pthread_mutex_t lock;
	struct hold *held, *spare;
} buckets[BUCKETS];

static unsigned holds; /* A: entries in all buckets */

/* In the child of a fork the C library has unlocked all streams. */
static void forget(void)
{
	memset(buckets, 0, sizeof buckets);
	holds = 0;
}

__attribute__((constructor)) static void start(void)
{
	pthread_atfork(NULL, NULL, forget);
}

static struct bucket *lock_bucket(const FILE *stream)
{
	struct bucket *const b = &buckets[((uintptr_t)stream >> 4) * 0x9e3779b1u % BUCKETS];

	fpx_native.pthread_mutex_lock(&b->lock);
	return b;
}

static void unlock_bucket(struct bucket *b)
{
	fpx_native.pthread_mutex_unlock(&b->lock);
}

static uint64_t self(void)
{
	return fpx_fiber_id(fiber_self());
}

static struct hold *find(const struct bucket *b, const FILE *stream)
{
	struct hold *h = b->held;

	while (h && h->stream != stream)
		h = h->next;
	return h;
}

/* Never NULL: flockfile(3) has no error, and libfiber ends the program likewise. */
static struct hold *make(struct bucket *b, FILE *stream)
{
	struct hold *h = b->spare;

	if (h)
		b->spare = h->next;
	else if (!(h = calloc(1, sizeof *h)))
		abort();
	snprintf(h->mutex.name, sizeof h->mutex.name, "stream %d", fileno_unlocked(stream));
	h->stream = stream;
	h->next = b->held;
	b->held = h;
	__atomic_fetch_add(&holds, 1, __ATOMIC_RELAXED);
	return h;
}

/* A fiber has left. The caller has the bucket. */
static void put(struct bucket *b, struct hold *h)
{
	struct hold **at = &b->held;

	if (--h->users)
		return;
	while (*at != h)
		at = &(*at)->next;
	*at = h->next;
	h->next = b->spare;
	b->spare = h;
	__atomic_fetch_sub(&holds, 1, __ATOMIC_RELAXED);
}

/* Whether another fiber than the caller has the stream. */
static bool is_taken(const FILE *stream)
{
	struct bucket *b;
	struct hold *h;
	bool taken;

	if (!__atomic_load_n(&holds, __ATOMIC_RELAXED))
		return false;
	b = lock_bucket(stream);
	h = find(b, stream);
	taken = h && h->owner != self();
	unlock_bucket(b);
	return taken;
}

bool fpx_holds_any(void)
{
	const struct hold *h = NULL;
	size_t i;

	for (i = 0; i < BUCKETS && !h && __atomic_load_n(&holds, __ATOMIC_RELAXED); i++) {
		fpx_native.pthread_mutex_lock(&buckets[i].lock);
		for (h = buckets[i].held; h && h->owner != self(); h = h->next)
			;
		unlock_bucket(&buckets[i]);
	}
	return h != NULL;
}

/* A pinned fiber whose policy refuses waits has no other way than to try. */
static void take_mutex(struct hold *h)
{
	const bool blocks = !fpx_parks();

	fiber_cancel_mask();
	if (blocks)
		fiber_pin();
	while (fiber_mutex_lock(&h->mutex, FIBER_FOREVER) < 0)
		fpx_system.sched_yield();
	if (blocks)
		fiber_unpin();
	fiber_cancel_unmask();
}

/* Join the fibers of the stream's entry. Returns NULL if the caller has the stream now. */
static struct hold *join(FILE *stream)
{
	struct bucket *const b = lock_bucket(stream);
	struct hold *h = find(b, stream);

	if (h && h->owner == self()) {
		h->depth++;
		unlock_bucket(b);
		return NULL;
	}
	if (!h) {
		h = make(b, stream);
		if (fiber_mutex_trylock(&h->mutex) == 0) {
			h->owner = self();
			h->depth = h->users = 1;
			unlock_bucket(b);
			return NULL;
		}
	}
	h->users++;
	unlock_bucket(b);
	return h;
}

static void take(FILE *stream)
{
	struct hold *const h = join(stream);
	struct bucket *b;

	if (!h)
		return;
	take_mutex(h);
	b = lock_bucket(stream);
	h->owner = self();
	h->depth = 1;
	unlock_bucket(b);
}

/* The C library's lock. */
static void take_lock(FILE *stream)
{
	int64_t rest = 0;
	int tries = 0;

	if (fpx_streams.ftrylockfile(stream) == 0)
		return;
	if (!fpx_parks()) {
		fpx_streams.flockfile(stream);
		return;
	}
	fiber_cancel_mask();
	while (fpx_streams.ftrylockfile(stream) != 0) {
		if (tries++ < YIELDS)
			fiber_yield();
		else if (fpx_rest(&rest) < 0)
			fpx_system.sched_yield();
	}
	fiber_cancel_unmask();
}

void fpx_hold(FILE *stream)
{
	const int before = errno;

	take(stream);
	take_lock(stream);
	errno = before;
}

/* Let the next fiber in. all: however often the caller has locked. */
static void give(FILE *stream, bool all)
{
	struct bucket *b = lock_bucket(stream);
	struct hold *const h = find(b, stream);
	const bool last = h && h->owner == self() && (--h->depth == 0 || all);

	if (last)
		h->owner = 0;
	unlock_bucket(b);
	if (!last)
		return;
	fiber_mutex_unlock(&h->mutex);
	lock_bucket(stream);
	put(b, h);
	unlock_bucket(b);
}

void fpx_unlock_to_free(FILE *stream)
{
	struct bucket *const b = lock_bucket(stream);
	const struct hold *const h = find(b, stream);
	unsigned depth = h && h->owner == self() ? h->depth : 0;

	unlock_bucket(b);
	while (depth--)
		fpx_streams.funlockfile(stream);
}

void fpx_drop(FILE *stream)
{
	give(stream, true);
}

void fpx_release(FILE *stream)
{
	const int before = errno;

	fpx_streams.funlockfile(stream);
	give(stream, false);
	errno = before;
}

bool fpx_try_hold(FILE *stream)
{
	if (is_taken(stream))
		return false;
	take(stream);
	if (fpx_streams.ftrylockfile(stream) == 0)
		return true;
	give(stream, false);
	return false;
}

/* A stream of open_memstream(3) has 0 in its field. */
int fpx_stream_fd(FILE *stream)
{
	const int before = errno, fd = fileno_unlocked(stream);

	errno = before;
	return fd;
}

/* Streams of characters wider than a byte are the C library's. */
static bool waits(FILE *stream)
{
	const int fd = fpx_stream_fd(stream);

	return fd >= 0 && stream->_mode <= 0 && !fpx_on_disk(fd);
}

struct fpx_use fpx_unlocked(FILE *stream)
{
	return (struct fpx_use){.waits = fpx_parks() && waits(stream)};
}

struct fpx_use fpx_enter(FILE *stream)
{
	const int fd = fpx_stream_fd(stream);

	if (__fsetlocking(stream, FSETLOCKING_QUERY) == FSETLOCKING_BYCALLER)
		return fpx_unlocked(stream);
	fpx_parks();
	/* The functions of a stream without a descriptor are the program's, and may park. */
	if (fd >= 0 && fpx_on_disk(fd) && !is_taken(stream) &&
	    fpx_streams.ftrylockfile(stream) == 0)
		return (struct fpx_use){.locked = true};
	fpx_hold(stream);
	return (struct fpx_use){.held = true, .waits = waits(stream)};
}

void fpx_leave(FILE *stream, struct fpx_use use)
{
	if (use.held)
		fpx_release(stream);
	else if (use.locked)
		fpx_streams.funlockfile(stream);
}
