/* SPDX-License-Identifier: MIT */
/*
 * values.c - pthread_getspecific(3) in fibers without thread-locals of their own
 *
 * To the C library the fibers of a carrier are one thread. So their values are in a table of each
 * fiber, which is the fiber-local value of one key of libfiber. The table is indexed by the number of
 * the key, and has the use of the number beside the value (keys.h). libfiber calls the destructor of
 * its key when the fiber ends, in whatever way. That one calls the destructors of the values.
 *
 * A key that was made without calling this library stays the C library's: its values are the thread's.
 *
 * The child of a fork has the fiber that called fork() as its only thread. So the C library gets the
 * fiber's values for that thread, in place of those of the carrier. A key under which the fiber has
 * no value has none there.
 */
#include "threads/values.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/fiber.h>

#include "system/native.h"
#include "threads/keys.h"
#include "threads/thread.h"

#define LEAST 8u /* values of the smallest table */

struct value {
	uint64_t use; /* of the key; 0: none was set */
	void *value;
};

struct values {
	unsigned count;
	struct value at[];
};

static fiber_key_t table_key; /* I */

static struct values *table(void)
{
	return fiber_getspecific(table_key);
}

bool fpx_value_kept(pthread_key_t key)
{
	return fpx_key_use(key) && table_key;
}

/* -- get and set -- */

static void *get(const struct values *values, pthread_key_t key)
{
	return values && key < values->count && values->at[key].use == fpx_key_use(key)
		       ? values->at[key].value
		       : NULL;
}

void *fpx_value(pthread_key_t key)
{
	return get(table(), key);
}

/* Make the table large enough. NULL: no memory. */
static struct values *grow(struct values *before, pthread_key_t key)
{
	const unsigned filled = before ? before->count : 0;
	unsigned count = LEAST;
	struct values *more;

	while (count <= key)
		count *= 2;
	more = malloc(sizeof *more + count * sizeof more->at[0]);
	if (!more)
		return NULL;
	more->count = count;
	if (filled)
		memcpy(more->at, before->at, filled * sizeof more->at[0]);
	memset(&more->at[filled], 0, (count - filled) * sizeof more->at[0]);
	if (fiber_setspecific(table_key, more) < 0) {
		free(more);
		return NULL;
	}
	free(before);
	return more;
}

int fpx_value_set(pthread_key_t key, const void *value)
{
	const int error = errno;
	struct values *values = table();

	if (!values || key >= values->count) {
		if (!value)
			return 0;
		values = grow(values, key);
		errno = error;
		if (!values)
			return ENOMEM;
	}
	values->at[key] = (struct value){fpx_key_use(key), (void *)(uintptr_t)value};
	/* The fiber owns the table. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
	return 0;
}

/* -- the end of a fiber -- */

/* Returns whether there was a value, whose destructor may have set others. */
static bool end_one(struct value *v, pthread_key_t key)
{
	void (*destroy)(void *) = v->value ? fpx_key_destructor(key, v->use) : NULL;
	void *const value = v->value;

	v->value = NULL;
	if (destroy)
		destroy(value);
	return destroy != NULL;
}

/* A destructor may get and set values, so that the table grows. It may wait. */
static void end(void *arg)
{
	bool again = true;

	if (fiber_setspecific(table_key, arg) < 0)
		return; /* no fiber: not reached */
	for (int round = 0; again && round < PTHREAD_DESTRUCTOR_ITERATIONS; round++) {
		again = false;
		for (pthread_key_t key = 0; key < table()->count; key++)
			again |= end_one(&table()->at[key], key);
	}
	arg = table();
	fiber_setspecific(table_key, NULL);
	free(arg);
}

/* -- forks -- */

/* Of the caller of fork(). Initial-exec: the library is never loaded later than the program. */
static __thread struct {
	bool fiber;
	const struct values *values;
} forks __attribute__((tls_model("initial-exec")));

static void before_fork(void)
{
	forks.fiber = fiber_self() && !fpx_own_tls;
	forks.values = forks.fiber ? table() : NULL;
}

/* libfiber's handler may have run: then the caller is no fiber any more. */
static void become_thread(void)
{
	const unsigned n = forks.fiber ? fpx_keys_most() : 0;

	for (pthread_key_t key = 0; key < n; key++)
		if (fpx_key_use(key))
			fpx_native.pthread_setspecific(key, get(forks.values, key));
}

__attribute__((constructor(102))) static void start(void)
{
	if (fiber_key_create(&table_key, end) == 0)
		pthread_atfork(before_fork, NULL, become_thread);
}
