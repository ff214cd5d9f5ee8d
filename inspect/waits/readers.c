/* SPDX-License-Identifier: MIT */
/*
 * readers.c - find the readers of the rwlocks that fibers wait for
 *
 * A lock may be released by another fiber than the one that took it. Then the row of the latter
 * still has the lock. So what the rows say is compared with the lock: there must not be more
 * readers than the lock counts, and if there are as many, the XOR of their marks must be the lock's.
 * Otherwise all readers of that lock are unknown.
 *
 * If the rows lack exactly one reader, its mark remains of the XOR. The mark is its number times an
 * odd factor, so the number can be computed: it is a plain thread, a fiber that has exited, or one
 * with more read locks than its record has room for. A number that no thread and no fiber can have
 * shows that the XOR was wrong.
 */
#include "inspect/waits/readers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layout/layout.h"

#define THREADS_MOST 4194304u /* Linux has no larger thread id */

struct lock {
	struct ins_read_lock lock;
	uint32_t left;	/* XOR, without the marks of the known ones */
	uint64_t slots; /* how many slots of rows have it */
	size_t first;	/* its first fiber in `fibers` */
	int64_t age;	/* of the writer's wait */
};

struct ins_readers {
	struct lock *locks; /* by object */
	size_t count;
	size_t *fibers;
};

void ins_readers_free(struct ins_readers *readers)
{
	if (!readers)
		return;
	free(readers->locks);
	free(readers->fibers);
	free(readers);
}

static int by_object(const void *a, const void *b)
{
	const struct lock *x = a, *y = b;

	if (x->lock.object != y->lock.object)
		return x->lock.object < y->lock.object ? -1 : 1;
	return 0;
}

static struct lock *lock_at(const struct ins_readers *r, uint64_t object)
{
	const struct lock key = {.lock = {.object = object}};

	if (!r->count || !object)
		return NULL;
	return bsearch(&key, r->locks, r->count, sizeof key, by_object);
}

static bool waits_for_readers(const struct fib_row *row)
{
	return fib_row_may_be_read(row->wait_kind) && row->wait_object && row->readers &&
	       !row->holder;
}

/* The locks that are waited for, each once. */
static int gather(struct ins_readers *r, struct ins_table *table)
{
	const size_t n = ins_table_count(table);
	struct ins_fiber fiber;
	size_t i, k = 0;

	r->locks = calloc(n + 1, sizeof *r->locks);
	if (!r->locks)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		ins_table_get(table, i, &fiber);
		if (!waits_for_readers(&fiber.row))
			continue;
		r->locks[r->count++] = (struct lock){
			.lock = {.object = fiber.row.wait_object,
				 .total = fiber.row.readers & FIB_READERS_COUNT,
				 .writer = SIZE_MAX},
			.left = (uint32_t)(fiber.row.readers >> FIB_READERS_MARK),
		};
	}
	if (r->count)
		qsort(r->locks, r->count, sizeof *r->locks, by_object);
	for (i = 0; i < r->count; i++)
		if (!k || by_object(&r->locks[k - 1], &r->locks[i]) != 0)
			r->locks[k++] = r->locks[i];
	r->count = k;
	return 0;
}

/* Note what row i says: which locks it reads, and whether it waits to write one. */
static void note(struct ins_readers *r, size_t i, const struct fib_row *row, size_t *slots)
{
	struct lock *lock;
	unsigned k;

	for (k = 0; k < FIB_ROW_READS; k++) {
		lock = lock_at(r, row->reads[k]);
		if (!lock)
			continue;
		lock->left ^= fib_readers_mark(row->id);
		lock->slots++;
		(*slots)++;
	}
	if (row->wait_kind != FIB_WAIT_RWLOCK_WRITE || !waits_for_readers(row))
		return;
	lock = lock_at(r, row->wait_object);
	if (lock->lock.writer == SIZE_MAX || row->age > lock->age) {
		lock->lock.writer = i;
		lock->age = row->age;
	}
}

/* Write fiber i behind those that are known of each lock that it reads. Once, if it reads twice. */
static void list(struct ins_readers *r, size_t i, const struct fib_row *row)
{
	unsigned k;

	for (k = 0; k < FIB_ROW_READS; k++) {
		struct lock *lock = lock_at(r, row->reads[k]);
		size_t *end;

		if (!lock)
			continue;
		end = r->fibers + lock->first + lock->lock.count;
		if (lock->lock.count && end[-1] == i)
			continue;
		*end = i;
		lock->lock.count++;
	}
}

/* The inverse of an odd number modulo 2^32: each step doubles the correct bits (Newton). */
static uint32_t inverse(uint32_t odd)
{
	uint32_t x = odd;
	int i;

	for (i = 0; i < 5; i++)
		x *= 2 - odd * x;
	return x;
}

/* The one whose mark is left, or 0 if none can have it. */
static uint64_t only_other(uint32_t left, uint64_t last_id)
{
	const uint32_t v = left * inverse(FIB_READERS_FACTOR), who = v >> 1;

	if (!who)
		return 0;
	if (v & 1)
		return who <= THREADS_MOST ? FIB_HOLDER_THREAD | who : 0;
	/* With more ids than a mark can tell apart it may be another fiber. */
	return who <= last_id && last_id <= UINT32_MAX >> 1 ? who : 0;
}

/*
 * A thread as the rows have it. Locks have its number in the pid namespace of the process. If a row
 * shows that this is another one than ours, only a row translates a number; 0: unknown.
 */
static uint64_t translated(struct ins_table *table, uint64_t who)
{
	const uint64_t inner = who & ~FIB_HOLDER_THREAD;
	const size_t n = ins_table_count(table);
	struct ins_fiber fiber;
	bool foreign = false;
	size_t i;

	if (!(who & FIB_HOLDER_THREAD))
		return who;
	for (i = n; i-- > 0;) {
		ins_table_get(table, i, &fiber);
		/* Threads come last. */
		if (!(fiber.row.id & FIB_HOLDER_THREAD))
			break;
		if (fiber.row.record == inner)
			return fiber.row.id;
		foreign |=
			fiber.row.record && fiber.row.record != (fiber.row.id & ~FIB_HOLDER_THREAD);
	}
	return foreign ? 0 : who;
}

/* List fiber `at` in its place. It is listed already if it reads the lock more often than its row says. */
static void insert(size_t *fibers, size_t *count, size_t at)
{
	size_t k = *count;

	while (k && fibers[k - 1] > at)
		k--;
	if (k && fibers[k - 1] == at)
		return;
	memmove(fibers + k + 1, fibers + k, (*count - k) * sizeof *fibers);
	fibers[k] = at;
	++*count;
}

/* Compare the lock with what the rows say. Room for one more fiber is at the end of its list. */
static void settle(struct ins_readers *r, struct lock *lock, struct ins_table *table,
		   uint64_t last_id)
{
	struct ins_read_lock *l = &lock->lock;
	bool wrong = lock->slots > l->total || (lock->slots == l->total && lock->left);
	uint64_t other = 0;
	ssize_t at;

	if (lock->slots + 1 == l->total) {
		other = only_other(lock->left, last_id);
		wrong = !other;
	}
	l->fibers = r->fibers + lock->first;
	if (wrong) {
		l->count = 0;
		l->unknown = l->total;
		return;
	}
	other = translated(table, other);
	l->unknown = l->total - lock->slots - (other != 0);
	at = other ? ins_table_find(table, other) : -1;
	if (at >= 0)
		insert(r->fibers + lock->first, &l->count, (size_t)at);
	else
		l->other = other;
}

static int fill(struct ins_readers *r, struct ins_table *table)
{
	const size_t n = ins_table_count(table);
	struct ins_fiber fiber;
	size_t i, slots = 0, first = 0;
	uint64_t last_id = 0;

	for (i = 0; i < n; i++) {
		ins_table_get(table, i, &fiber);
		note(r, i, &fiber.row, &slots);
		if (!(fiber.row.id & FIB_HOLDER_THREAD))
			last_id = fiber.row.id;
	}
	r->fibers = calloc(slots + r->count + 1, sizeof *r->fibers);
	if (!r->fibers)
		return -ENOMEM;
	for (i = 0; i < r->count; i++) {
		r->locks[i].first = first;
		first += r->locks[i].slots + 1;
	}
	for (i = 0; i < n; i++) {
		ins_table_get(table, i, &fiber);
		list(r, i, &fiber.row);
	}
	for (i = 0; i < r->count; i++)
		settle(r, &r->locks[i], table, last_id);
	return 0;
}

int ins_readers_new(struct ins_table *table, struct ins_readers **ret)
{
	struct ins_readers *r = calloc(1, sizeof *r);
	int rc = -ENOMEM;

	*ret = NULL;
	if (!r)
		return rc;
	rc = gather(r, table);
	if (rc == 0)
		rc = fill(r, table);
	if (rc < 0)
		ins_readers_free(r);
	else
		*ret = r;
	return rc;
}

size_t ins_readers_count(const struct ins_readers *readers)
{
	return readers->count;
}

const struct ins_read_lock *ins_readers_at(const struct ins_readers *readers, size_t i)
{
	return &readers->locks[i].lock;
}

size_t ins_readers_find(const struct ins_readers *readers, const struct fib_row *row)
{
	const struct lock *lock =
		waits_for_readers(row) ? lock_at(readers, row->wait_object) : NULL;

	return lock ? (size_t)(lock - readers->locks) : SIZE_MAX;
}
