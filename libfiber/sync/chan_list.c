/* SPDX-License-Identifier: MIT */
/*
 * chan_list.c - the channels of the process that have a buffer
 *
 * An element in a buffer may be the only pointer to an object of a garbage collector, and the buffer
 * is on the heap of the C library, where the collector does not look. So it has to find all buffers.
 *
 * A program may make a channel for each request, on all carriers at once. So there are several
 * lists, and the address of a channel selects one.
 *
 * The links are complements of addresses. A plain link would be a pointer to every channel, and nothing
 * that searches memory would find a channel that the program has lost: fibertrace leaks,
 * LeakSanitizer, valgrind.
 */
#include "sync/chan_list.h"

#include "base/compiler.h"
#include "os/spin.h"

#define SHARDS 16u

/* L under ->lock */
static struct shard {
	_Atomic uint32_t lock fib_aligned(FIB_CACHE_LINE);
	struct fib_chan_link first; /* L; zeroed before the first use */
} shards[SHARDS];

static uintptr_t hide(const struct fib_chan_link *link)
{
	return ~(uintptr_t)link;
}

static struct fib_chan_link *reveal(uintptr_t hidden)
{
	return (struct fib_chan_link *)~hidden;
}

static struct shard *shard_of(const struct fiber_chan *chan)
{
	/* The addresses of small blocks differ from here on. */
	return &shards[((uintptr_t)chan >> 5 ^ (uintptr_t)chan >> 12) % SHARDS];
}

void fib_chan_list_add(struct fiber_chan *chan)
{
	struct shard *shard = shard_of(chan);
	struct fib_chan_link *first = &shard->first;

	fib_spin_lock(&shard->lock);
	if (!first->next)
		first->next = first->prev = hide(first);
	chan->link = (struct fib_chan_link){.next = hide(first), .prev = first->prev};
	reveal(first->prev)->next = hide(&chan->link);
	first->prev = hide(&chan->link);
	fib_spin_unlock(&shard->lock);
}

void fib_chan_list_remove(struct fiber_chan *chan)
{
	struct shard *shard = shard_of(chan);

	fib_spin_lock(&shard->lock);
	reveal(chan->link.prev)->next = chan->link.next;
	reveal(chan->link.next)->prev = chan->link.prev;
	fib_spin_unlock(&shard->lock);
}

void fib_chan_list_lock(void)
{
	unsigned i;

	for (i = 0; i < SHARDS; i++)
		fib_spin_lock(&shards[i].lock);
}

bool fib_chan_list_try(void)
{
	unsigned i;

	for (i = 0; i < SHARDS; i++) {
		if (fib_spin_try(&shards[i].lock))
			continue;
		while (i-- > 0)
			fib_spin_unlock(&shards[i].lock);
		return false;
	}
	return true;
}

void fib_chan_list_unlock(void)
{
	unsigned i;

	for (i = SHARDS; i-- > 0;)
		fib_spin_unlock(&shards[i].lock);
}

int fib_chan_list_each(int (*fn)(const struct fiber_chan *chan, void *arg), void *arg)
{
	const struct fib_chan_link *at;
	unsigned i;
	int rc = 0;

	for (i = 0; i < SHARDS && rc == 0; i++) {
		if (!shards[i].first.next)
			continue;
		at = reveal(shards[i].first.next);
		for (; at != &shards[i].first && rc == 0; at = reveal(at->next))
			rc = fn(fib_container(at, struct fiber_chan, link), arg);
	}
	return rc;
}
