/* SPDX-License-Identifier: MIT */
/*
 * locals.c - fiber-local values: indexes, and the values of one fiber or plain thread
 *
 * The values are in 8 chunks of 16, 32, ... 2048, which together have FLS_MAXIMUM_AVAILABLE places. A
 * chunk is allocated at the first store into it and stays until the values are released. So a value
 * never moves, and its fiber reads it without the lock.
 *
 * All values of the process are in a list, because FlsFree() takes one out of each. The lock protects
 * the list, the table of indexes, and the addition of a chunk. It is not held while a callback runs: a
 * callback may use FLS, delete fibers or never return, and the process can exit meanwhile. A value is
 * taken with an exchange, so that of two threads that end it, one calls the callback.
 *
 * An index that is being freed is not allocated again before the last callback has returned.
 */
#include "locals.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define CHUNKS 8u
#define FIRST  16u /* places of the first chunk */
#define BATCH  64u /* values that are taken at a time */

_Static_assert(FIRST *((1u << CHUNKS) - 1) == FLS_MAXIMUM_AVAILABLE, "fiber/win32.h");

struct fib_win32_locals {
	void **chunks[CHUNKS];		     /* written by its thread under the lock */
	struct fib_win32_locals *next, **at; /* L: the list, and the pointer to this one */
};

enum use { FREE, USED, ENDING };

static struct {
	pthread_mutex_t lock;
	struct fib_win32_locals *first; /* L */
	struct {
		PFLS_CALLBACK_FUNCTION callback; /* L */
		uint8_t use;			 /* L to write, A to read: enum use */
		uint8_t stale; /* A: a value was stored while the index was free */
	} index[FLS_MAXIMUM_AVAILABLE];
} fls = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A fork copies the lock, which no other thread of the child would release. */
static void lock(void)
{
	pthread_mutex_lock(&fls.lock);
}

static void unlock(void)
{
	pthread_mutex_unlock(&fls.lock);
}

__attribute__((constructor)) static void follow_forks(void)
{
	pthread_atfork(lock, unlock, unlock);
}

/* The chunk of an index, and its place in it. */
static unsigned chunk_of(uint32_t index, unsigned *ret_place)
{
	const unsigned chunk = 27u - (unsigned)__builtin_clz(index + FIRST);

	*ret_place = index + FIRST - (FIRST << chunk);
	return chunk;
}

/* Where the value at the index is, or NULL without a chunk. */
static void **place(struct fib_win32_locals *locals, uint32_t index)
{
	unsigned at;
	const unsigned chunk = chunk_of(index, &at);

	return locals->chunks[chunk] ? &locals->chunks[chunk][at] : NULL;
}

/* Take the value out. */
static void *take(struct fib_win32_locals *locals, uint32_t index)
{
	void **at = place(locals, index);

	return at ? __atomic_exchange_n(at, NULL, __ATOMIC_ACQ_REL) : NULL;
}

bool fib_win32_index_valid(uint32_t index)
{
	return index != 0 && index < FLS_MAXIMUM_AVAILABLE;
}

uint32_t fib_win32_index_alloc(PFLS_CALLBACK_FUNCTION callback)
{
	struct fib_win32_locals *locals;
	uint32_t i = 1;

	lock();
	while (i < FLS_MAXIMUM_AVAILABLE && fls.index[i].use != FREE)
		i++;
	if (i < FLS_MAXIMUM_AVAILABLE) {
		if (__atomic_exchange_n(&fls.index[i].stale, 0, __ATOMIC_RELAXED))
			for (locals = fls.first; locals; locals = locals->next)
				take(locals, i);
		fls.index[i].callback = callback;
		__atomic_store_n(&fls.index[i].use, USED, __ATOMIC_RELAXED);
	}
	unlock();
	return i < FLS_MAXIMUM_AVAILABLE ? i : 0;
}

/* Take at most BATCH values at the index out of all fibers, and return their number. */
static unsigned take_some(uint32_t index, void *values[BATCH])
{
	struct fib_win32_locals *locals;
	unsigned n = 0;

	lock();
	for (locals = fls.first; locals && n < BATCH; locals = locals->next) {
		values[n] = take(locals, index);
		n += values[n] != NULL;
	}
	unlock();
	return n;
}

bool fib_win32_index_free(uint32_t index)
{
	PFLS_CALLBACK_FUNCTION callback = NULL;
	void *values[BATCH];
	unsigned i, n;
	bool used;

	if (!fib_win32_index_valid(index))
		return false;
	lock();
	used = fls.index[index].use == USED;
	if (used) {
		callback = fls.index[index].callback;
		__atomic_store_n(&fls.index[index].use, ENDING, __ATOMIC_RELAXED);
	}
	unlock();
	if (!used)
		return false;
	do {
		n = take_some(index, values);
		for (i = 0; callback && i < n; i++)
			callback(values[i]);
	} while (n == BATCH);
	lock();
	__atomic_store_n(&fls.index[index].use, FREE, __ATOMIC_RELAXED);
	unlock();
	return true;
}

void *fib_win32_locals_get(struct fib_win32_locals *locals, uint32_t index)
{
	void **at = place(locals, index);

	return at ? __atomic_load_n(at, __ATOMIC_RELAXED) : NULL;
}

static struct fib_win32_locals *make(void)
{
	struct fib_win32_locals *locals = calloc(1, sizeof *locals);

	if (!locals)
		return NULL;
	lock();
	locals->next = fls.first;
	locals->at = &fls.first;
	if (fls.first)
		fls.first->at = &locals->next;
	fls.first = locals;
	unlock();
	return locals;
}

static int add_chunk(struct fib_win32_locals *locals, unsigned chunk)
{
	void **values = calloc((size_t)FIRST << chunk, sizeof *values);

	if (!values)
		return -ENOMEM;
	lock();
	locals->chunks[chunk] = values;
	unlock();
	return 0;
}

int fib_win32_locals_set(struct fib_win32_locals **locals, uint32_t index, void *value)
{
	unsigned at;
	const unsigned chunk = chunk_of(index, &at);

	if (!*locals)
		*locals = make();
	if (!*locals || (!(*locals)->chunks[chunk] && add_chunk(*locals, chunk) < 0))
		return -ENOMEM;
	if (__atomic_load_n(&fls.index[index].use, __ATOMIC_RELAXED) != USED)
		__atomic_store_n(&fls.index[index].stale, 1, __ATOMIC_RELAXED);
	/* What the value points to is visible to the thread that frees the index. */
	__atomic_store_n(&(*locals)->chunks[chunk][at], value, __ATOMIC_RELEASE);
	return 0;
}

/* Take the value and its callback. */
static void *take_with(struct fib_win32_locals *locals, uint32_t index,
		       PFLS_CALLBACK_FUNCTION *ret_callback)
{
	void *value;

	lock();
	*ret_callback = fls.index[index].use == FREE ? NULL : fls.index[index].callback;
	value = take(locals, index);
	unlock();
	return value;
}

void fib_win32_locals_finish(struct fib_win32_locals *locals)
{
	PFLS_CALLBACK_FUNCTION callback;
	uint32_t index;
	void *value;

	for (index = 1; index < FLS_MAXIMUM_AVAILABLE; index++) {
		if (!fib_win32_locals_get(locals, index))
			continue;
		value = take_with(locals, index, &callback);
		if (value && callback)
			callback(value);
	}
}

void fib_win32_locals_free(struct fib_win32_locals *locals)
{
	unsigned i;

	if (!locals)
		return;
	lock();
	*locals->at = locals->next;
	if (locals->next)
		locals->next->at = locals->at;
	unlock();
	for (i = 0; i < CHUNKS; i++)
		free(locals->chunks[i]);
	free(locals);
}
