/* SPDX-License-Identifier: MIT */
/* test_inbox.c - any thread puts, any thread takes, the oldest first */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "sched/inbox.h"
#include "tests/harness/watchdog.h"

#define PUTTERS 3u
#define TAKERS	2u
#define EACH	8000u
#define ALL	(PUTTERS * EACH)

static struct fiber *fibers; /* never run: a queue touches only their link */
static struct fib_inbox q;

static void test_inject_is_first_in_first_out(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < 1000; i++)
		fib_inbox_put(&q, &fibers[i]);
	for (i = 0; i < 500; i++)
		assert_ptr_equal(fib_inbox_take(&q), &fibers[i]);
	for (i = 0; i < 500; i++)
		fib_inbox_put(&q, &fibers[i]);
	for (i = 0; i < 1000; i++)
		assert_ptr_equal(fib_inbox_take(&q), &fibers[(i + 500) % 1000]);
	assert_null(fib_inbox_take(&q));
}

static void test_inject_knows_when_it_is_empty(void **state)
{
	(void)state;
	assert_true(fib_inbox_empty(&q));
	assert_null(fib_inbox_take(&q));
	fib_inbox_put(&q, &fibers[0]);
	assert_false(fib_inbox_empty(&q));
	assert_ptr_equal(fib_inbox_take(&q), &fibers[0]);
	assert_true(fib_inbox_empty(&q));
	/* Usable again after it was empty. */
	fib_inbox_put(&q, &fibers[1]);
	assert_ptr_equal(fib_inbox_take(&q), &fibers[1]);
	assert_null(fib_inbox_take(&q));
}

static void test_inject_forgets_what_the_link_said_before(void **state)
{
	(void)state;
	fibers[0].link = &fibers[7];
	fib_inbox_put(&q, &fibers[0]);
	assert_ptr_equal(fib_inbox_take(&q), &fibers[0]);
	assert_null(fib_inbox_take(&q));
}

static _Atomic unsigned taken[ALL];
static _Atomic unsigned taken_all, disorder;

static void *putter(void *arg)
{
	unsigned i, first = (unsigned)(uintptr_t)arg * EACH;

	for (i = 0; i < EACH; i++)
		fib_inbox_put(&q, &fibers[first + i]);
	return NULL;
}

static void *taker(void *arg)
{
	unsigned next[PUTTERS] = {0}, i;
	struct fiber *fiber;

	(void)arg;
	while (fib_load(&taken_all) < ALL) {
		fiber = fib_inbox_take(&q);
		if (!fiber) {
			sched_yield();
			continue;
		}
		i = (unsigned)(fiber - fibers);
		fib_add_relaxed(&taken[i], 1);
		fib_add_relaxed(&taken_all, 1);
		/* The fibers that one thread put come in that thread's order. */
		if (i % EACH < next[i / EACH])
			fib_add_relaxed(&disorder, 1);
		next[i / EACH] = i % EACH;
	}
	return NULL;
}

static void test_inject_loses_nothing_between_threads(void **state)
{
	pthread_t threads[PUTTERS + TAKERS];
	unsigned i, wrong = 0;

	(void)state;
	for (i = 0; i < PUTTERS + TAKERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, i < PUTTERS ? putter : taker,
						(void *)(uintptr_t)i),
				 0);
	for (i = 0; i < PUTTERS + TAKERS; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < ALL; i++)
		wrong += fib_load(&taken[i]) != 1;
	assert_int_equal(wrong, 0);
	assert_int_equal(fib_load(&disorder), 0);
	assert_true(fib_inbox_empty(&q));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inject_is_first_in_first_out),
		cmocka_unit_test(test_inject_knows_when_it_is_empty),
		cmocka_unit_test(test_inject_forgets_what_the_link_said_before),
		cmocka_unit_test(test_inject_loses_nothing_between_threads),
	};
	int rc;

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	fibers = aligned_alloc(FIB_CACHE_LINE, ALL * sizeof *fibers);
	if (!fibers)
		return 1;
	memset(fibers, 0, ALL * sizeof *fibers);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	free(fibers);
	return rc;
}
