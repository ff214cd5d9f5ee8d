/* SPDX-License-Identifier: MIT */
/*
 * labels.c - labels that can be read while they change
 *
 * Labels are few and seldom set, so a fiber's record only points to a block of them, and most records point
 * nowhere. Blocks are like records: never unmapped, so that a reader with an old pointer reads something,
 * and used again, so the reader asks whose it is (layout.h has the rule).
 *
 * A reader may look at a process that was stopped, or died, in the middle of a change, and then never sees the
 * end of it. So nothing that counts is ever changed in place: the other one of two texts is written, and
 * the generation says from when on it counts (pairs: labels.generation).
 */
#include "core/labels.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/atomic.h"
#include "os/os.h"
#include "os/spin.h"

#define CHUNK (64u << 10) /* bytes mapped at a time */
#define ROOM \
	((size_t)FIB_LAYOUT_LABELS - 2) /* the list's end, and an end for whoever reads it cut */

_Static_assert(sizeof(struct fib_layout_labels) == 512, "blocks fill their chunks");

/* A block that nobody has: its text says which is next. */
union block {
	struct fib_layout_labels labels;
	struct {
		uint64_t owner, generation;
		union block *next;
	} free;
};

static struct {
	_Atomic uint32_t lock;
	union block *free; /* L */
} pool;

void fib_labels_lock(void)
{
	fib_spin_lock(&pool.lock);
}

void fib_labels_unlock(void)
{
	fib_spin_unlock(&pool.lock);
}

static void give(union block *first, union block *last)
{
	fib_labels_lock();
	last->free.next = pool.free;
	pool.free = first;
	fib_labels_unlock();
}

/* A chunk for the pool, but for the block that is returned. */
static union block *grow(void)
{
	const size_t n = CHUNK / sizeof(union block);
	union block *at;
	void *chunk;
	size_t i;

	if (fib_os_reserve(CHUNK, &chunk) < 0)
		return NULL;
	if (fib_os_commit(chunk, CHUNK) < 0) {
		fib_os_unmap(chunk, CHUNK);
		return NULL;
	}
	at = chunk;
	for (i = 1; i < n - 1; i++)
		at[i].free.next = &at[i + 1];
	give(&at[1], &at[n - 1]);
	return at;
}

static struct fib_layout_labels *take(void)
{
	union block *block;

	fib_labels_lock();
	block = pool.free;
	if (block)
		pool.free = block->free.next;
	fib_labels_unlock();
	if (!block)
		block = grow();
	return block ? &block->labels : NULL;
}

/* From now on text[generation % 2] of the next generation counts. */
static void publish(struct fib_layout_labels *l)
{
	/* label: labels.generation -- the text is there before its number. */
	fib_publish(&l->generation, l->generation + 1);
	/* pairs: labels.generation -- whoever still reads the text that is written next sees the new number. */
	fib_fence_release();
}

/* Copy a label to text + at, if there is room. The length with it, or ROOM + 1. */
static size_t append(char *text, size_t at, const char *key, const char *value)
{
	size_t k = strlen(key) + 1, v = strlen(value) + 1;

	if (at > ROOM || k + v > ROOM - at)
		return ROOM + 1;
	memcpy(text + at, key, k);
	memcpy(text + at + k, value, v);
	return at + k + v;
}

/* Write to `to` the labels of `from` with one changed; in the place it has, or at the end. False: no room. */
static bool change(char *to, const char *from, const char *key, const char *value)
{
	bool found = false;
	size_t n = 0;

	while (*from) {
		const char *k = from, *v = k + strlen(k) + 1;
		bool this = strcmp(k, key) == 0;

		from = v + strlen(v) + 1;
		found |= this;
		if (!this)
			n = append(to, n, k, v);
		else if (value)
			n = append(to, n, k, value);
	}
	if (!found && value)
		n = append(to, n, key, value);
	if (n > ROOM)
		return false;
	memset(to + n, 0, FIB_LAYOUT_LABELS - n);
	return true;
}

static int check(const char *key, const char *value)
{
	size_t length;

	if (!key || !key[0] || strchr(key, '='))
		return -EINVAL;
	length = strlen(key);
	if (length + (value ? strlen(value) : 0) + 2 > ROOM)
		return -ENAMETOOLONG;
	return 0;
}

/* An empty block of a new owner. */
static int own(struct fib_layout_labels **labels, uint64_t id)
{
	struct fib_layout_labels *l = take();

	if (!l)
		return -ENOMEM;
	memset(l->text[(l->generation + 1) & 1], 0, FIB_LAYOUT_LABELS);
	publish(l);
	fib_publish(&l->owner, id);
	fib_publish(labels, l);
	return 0;
}

int fib_labels_set(struct fib_layout_labels **labels, uint64_t id, const char *key,
		   const char *value)
{
	struct fib_layout_labels *l;
	int rc = check(key, value);

	if (rc < 0)
		return rc;
	if (!*labels) {
		if (!value)
			return 0;
		rc = own(labels, id);
		if (rc < 0)
			return rc;
	}
	l = *labels;
	if (!change(l->text[(l->generation + 1) & 1], l->text[l->generation & 1], key, value))
		return -ENOSPC;
	publish(l);
	return 0;
}

void fib_labels_drop(struct fib_layout_labels **labels)
{
	struct fib_layout_labels *l = *labels;
	union block *block = (union block *)(void *)l;

	fib_publish(labels, NULL);
	fib_publish(&l->owner, 0);
	/* The next owner's first text is the other one: this one may be overwritten now. */
	publish(l);
	give(block, block);
}
