/* SPDX-License-Identifier: MIT */
/*
 * labels.c - labels that can be read while they change
 *
 * Labels are few and seldom set, so a fiber's record contains only a pointer to a block of labels,
 * which is NULL in most records. Blocks are never unmapped, like records, so a reader with an old
 * pointer reads valid memory. They are reused, so the reader checks the owner (layout.h has the
 * rule).
 *
 * A reader may inspect a process that was stopped, or died, in the middle of a change, and then
 * never sees the end of the change. So valid text is never changed in place: the other one of two
 * texts is written, and the generation says which one is valid (pairs: labels.generation).
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
	((size_t)FIB_LAYOUT_LABELS - 2) /* the list's end, and a NUL for a reader with a cut copy */

_Static_assert(sizeof(struct fib_layout_labels) == 512, "blocks fill their chunks");

/* A block without an owner; its text holds the link to the next one. */
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

/* Map a chunk. Put all its blocks into the pool except the one that is returned. */
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

/* Make text[generation % 2] of the next generation valid. */
static void publish(struct fib_layout_labels *l)
{
	/* label: labels.generation -- the text is written before its generation. */
	fib_publish(&l->generation, l->generation + 1);
	/* pairs: labels.generation -- a reader that still reads the text that is written next sees
	 * the new generation. */
	fib_fence_release();
}

/* Copy a label to text + at, if there is room. Returns the new length, or ROOM + 1. */
static size_t append(char *text, size_t at, const char *key, const char *value)
{
	size_t k = strlen(key) + 1, v = strlen(value) + 1;

	if (at > ROOM || k + v > ROOM - at)
		return ROOM + 1;
	memcpy(text + at, key, k);
	memcpy(text + at + k, value, v);
	return at + k + v;
}

/* Copy the labels in `from` to `to` with one changed, in its place or at the end. Returns false
 * without room. */
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

/* Take an empty block for a new owner. */
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
	/* The next owner's first text is the other one, so this one may be overwritten now. */
	publish(l);
	give(block, block);
}
