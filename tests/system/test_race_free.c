/* SPDX-License-Identifier: MIT */
/*
 * test_race_free.c - a waiter may free the object as soon as its wait succeeded
 *
 * Objects need no destroy call, so the last user frees them: the thread that a post has woken, or
 * the last one to release a mutex. The other side must not access the object any more. Only a
 * sanitizer sees such an access; without one this test proves that nothing hangs and no wake-up is
 * lost.
 */
#include "carriers.h"

#include <pthread.h>

#define ROUNDS 4000

/* -- a semaphore: the waiter frees it, the other side posts -- */

static struct fiber_sem *_Atomic handed; /* NULL: none to post */

static void *post_rounds(void *arg)
{
	size_t i;

	(void)arg;
	for (i = 0; i < carriers_scale(ROUNDS); i++) {
		struct fiber_sem *sem;

		while (!(sem = handed))
			carriers_pause();
		handed = NULL;
		fiber_sem_post(sem);
	}
	return NULL;
}

static void *wait_rounds(void *pin)
{
	size_t i;

	for (i = 0; i < carriers_scale(ROUNDS); i++) {
		struct fiber_sem *const sem = calloc(1, sizeof(*sem));

		handed = sem;
		if (pin)
			fiber_pin();
		fiber_sem_wait(sem, FIBER_FOREVER);
		if (pin)
			fiber_unpin();
		free(sem);
	}
	return NULL;
}

static void test_sem_may_be_freed_by_the_thread_that_waited(void **state)
{
	pthread_t poster;

	(void)state;
	assert_int_equal(pthread_create(&poster, NULL, post_rounds, NULL), 0);
	wait_rounds(NULL);
	assert_int_equal(pthread_join(poster, NULL), 0);
}

static void test_sem_may_be_freed_by_the_fiber_that_waited(void **state)
{
	pthread_t poster;

	(void)state;
	assert_int_equal(pthread_create(&poster, NULL, post_rounds, NULL), 0);
	carriers_run(wait_rounds, NULL);
	assert_int_equal(pthread_join(poster, NULL), 0);
}

static void test_sem_may_be_freed_by_the_pinned_fiber_that_waited(void **state)
{
	struct fiber_runtime_options options = carriers_options();
	pthread_t poster;

	(void)state;
	options.pinned_policy = FIBER_PINNED_SILENT;
	assert_int_equal(pthread_create(&poster, NULL, post_rounds, NULL), 0);
	assert_int_equal(fiber_run(wait_rounds, &options, &options, NULL), 0);
	assert_int_equal(pthread_join(poster, NULL), 0);
}

/* -- a mutex: the last one to drop its reference frees it -- */

struct counted {
	struct fiber_mutex mutex;
	unsigned users; /* under mutex */
	unsigned done;	/* uses so far, under mutex */
};

static void give_back(struct counted *c)
{
	bool last;

	fiber_mutex_lock(&c->mutex, FIBER_FOREVER);
	last = --c->users == 0;
	fiber_mutex_unlock(&c->mutex);
	if (last)
		free(c);
}

/* Some of the locks time out, so that an unlock finds an announced waiter that has left. */
static void *use_and_give_back(void *arg)
{
	struct counted *const c = arg;
	unsigned i;

	for (i = 0; i < 8; i++) {
		const int64_t deadline = i % 2 ? fiber_after(1000) : FIBER_FOREVER;

		if (fiber_mutex_lock(&c->mutex, deadline) == 0) {
			c->done++;
			fiber_mutex_unlock(&c->mutex);
		}
	}
	give_back(c);
	return NULL;
}

static struct counted *counted_new(unsigned users)
{
	struct counted *const c = calloc(1, sizeof(*c));

	c->users = users;
	return c;
}

static void test_mutex_may_be_freed_by_the_last_thread_that_unlocks_it(void **state)
{
	size_t i, k;

	(void)state;
	for (i = 0; i < 300; i++) {
		struct counted *const c = counted_new(3);
		pthread_t threads[2];

		for (k = 0; k < COUNT(threads); k++)
			assert_int_equal(pthread_create(&threads[k], NULL, use_and_give_back, c),
					 0);
		use_and_give_back(c);
		for (k = 0; k < COUNT(threads); k++)
			assert_int_equal(pthread_join(threads[k], NULL), 0);
	}
}

static void *users_in_fibers(void *arg)
{
	size_t i, k;

	for (i = 0; i < 600; i++) {
		struct counted *const c = counted_new(4);
		struct fiber *fibers[4];

		for (k = 0; k < COUNT(fibers); k++)
			fiber_spawn(use_and_give_back, c, &fibers[k]);
		for (k = 0; k < COUNT(fibers); k++)
			fiber_join(fibers[k], NULL, FIBER_FOREVER);
	}
	return arg;
}

static void test_mutex_may_be_freed_by_the_last_fiber_that_unlocks_it(void **state)
{
	(void)state;
	carriers_run(users_in_fibers, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sem_may_be_freed_by_the_thread_that_waited),
		cmocka_unit_test(test_sem_may_be_freed_by_the_fiber_that_waited),
		cmocka_unit_test(test_sem_may_be_freed_by_the_pinned_fiber_that_waited),
		cmocka_unit_test(test_mutex_may_be_freed_by_the_last_thread_that_unlocks_it),
		cmocka_unit_test(test_mutex_may_be_freed_by_the_last_fiber_that_unlocks_it),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests_name("race: free", tests, NULL, NULL);
}
