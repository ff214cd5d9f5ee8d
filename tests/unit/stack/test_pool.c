/* SPDX-License-Identifier: MIT */
/*
 * test_pool.c - stacks are guarded, as large as requested, unshared, and given back
 *
 * A guard is tested in two ways: the kernel copies from it and returns EFAULT, and a child touches
 * it and dies. The other tests do not depend on how a guard is made.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "os/os.h"
#include "stack/pool.h"
#include "tests/harness/child.h"
#include "tests/harness/watchdog.h"

#define MANY	40000u /* more than the possible number of guards that split mappings */
#define THREADS 3u
#define ROUNDS	20000u
#define SECOND	INT64_C(1000000000)

/* Sizes that no other test of this file uses, so that their classes are unused. */
#define FRESH_LIFO   (32u << 10)
#define FRESH_COLOUR (128u << 10)
#define FRESH_TRIM   (1u << 20)
#define FRESH_LIMIT  (64u << 20)

static struct harness_child child;

static bool readable(const char *at)
{
	char byte;

	return fib_os_peek((uint64_t)(uintptr_t)at, &byte, 1) == 0;
}

static bool guarded(const struct fib_stack *s)
{
	const char *low = s->low;

	return readable(low) && !readable(low - 1) && !readable(low - FIB_STACK_GUARD / 2) &&
	       !readable(low - FIB_STACK_GUARD);
}

/* -- sizes -- */

static void test_stack_has_at_least_the_size_asked_for(void **state)
{
	static const size_t sizes[][2] = {
		{0, FIB_STACK_MIN},
		{1, FIB_STACK_MIN},
		{FIB_STACK_MIN, FIB_STACK_MIN},
		{FIB_STACK_MIN + 1, 2 * FIB_STACK_MIN},
		{FIB_STACK_DEFAULT, FIB_STACK_DEFAULT},
		{(size_t)3 << 20, (size_t)4 << 20},
		{(size_t)17 << 20, (size_t)32 << 20}, /* larger than a slab */
		{FIB_STACK_MAX, FIB_STACK_MAX},
	};
	struct fib_stack s;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		assert_int_equal(fib_stack_take(NULL, sizes[i][0], &s), 0);
		assert_int_equal(s.size, sizes[i][1]);
		assert_int_equal((uintptr_t)s.low % 4096, 0);
		assert_true(guarded(&s));
		((char *)s.low)[0] = 1;
		((char *)s.low)[s.size - 1] = 1;
		fib_stack_give(NULL, &s);
	}
	assert_int_equal(fib_stack_take(NULL, FIB_STACK_MAX + 1, &s), -EINVAL);
	assert_int_equal(fib_stack_take(NULL, SIZE_MAX, &s), -EINVAL);
}

static void test_stack_of_the_callers_memory_is_only_described(void **state)
{
	static char memory[FIB_STACK_MIN];
	struct fib_stack_cache cache = {0};
	struct fib_stack s;

	(void)state;
	assert_int_equal(fib_stack_foreign(memory, sizeof memory - 1, &s), -EINVAL);
	assert_int_equal(fib_stack_foreign(memory, sizeof memory, &s), 0);
	assert_ptr_equal(s.low, memory);
	assert_int_equal(fib_stack_usable(&s), sizeof memory);
	memset(memory, 0x77, sizeof memory);
	fib_stack_give(&cache, &s);
	fib_stack_give(NULL, &s);
	assert_int_equal(cache.count, 0);
	assert_int_equal(memory[sizeof memory - 1], 0x77);
}

/* -- guards -- */

static int touch(void *arg)
{
	*(volatile char *)arg = 1;
	return 0;
}

static void test_stack_guard_kills_whoever_touches_it(void **state)
{
	struct fib_stack s;
	char *low;

	(void)state;
	assert_int_equal(fib_stack_take(NULL, FIB_STACK_DEFAULT, &s), 0);
	low = s.low;
	harness_child(touch, low, 20, &child);
	assert_int_equal(child.code, 0);
	harness_child(touch, low - 1, 20, &child);
	assert_int_equal(child.signal, SIGSEGV);
	harness_child(touch, low - FIB_STACK_GUARD, 20, &child);
	assert_int_equal(child.signal, SIGSEGV);
	fib_stack_give(NULL, &s);
}

static int take_locked(void *arg)
{
	struct rlimit limit;
	struct fib_stack s;

	(void)arg;
	if (mlockall(MCL_FUTURE) < 0)
		return 77;
	/* A separate class: its slab is mapped now and locked. */
	if (fib_stack_take(NULL, (size_t)2 << 20, &s) < 0)
		return getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur < 64 << 20 ? 77 : 1;
	return guarded(&s) ? 0 : 2;
}

static void test_stack_of_locked_memory_is_guarded_too(void **state)
{
	(void)state;
	harness_child(take_locked, NULL, 20, &child);
	if (child.code == 77) {
		print_message("# no right to lock memory here\n");
		skip();
	}
	assert_int_equal(child.signal, 0);
	assert_int_equal(child.code, 0);
}

static int take_many(void *arg)
{
	static struct fib_stack all[MANY];
	unsigned i;

	(void)arg;
	for (i = 0; i < MANY; i++) {
		int rc = fib_stack_take(NULL, FIB_STACK_MIN, &all[i]);

		if (rc < 0)
			return rc == -ENOMEM ? 77 : 1;
	}
	/* Every stack has a guard. */
	for (i = 0; i < MANY; i++)
		if (!guarded(&all[i]))
			return 2;
	return 0;
}

static void test_stack_guards_outnumber_the_mappings_a_process_may_have(void **state)
{
	(void)state;
	harness_child(take_many, NULL, 60, &child);
	if (child.code == 77) {
		print_message("# this kernel has no guards inside a mapping; it was refused\n");
		skip();
	}
	assert_int_equal(child.signal, 0);
	assert_int_equal(child.code, 0);
}

/* -- reuse -- */

static void test_stack_given_last_is_taken_first(void **state)
{
	struct fib_stack_cache cache = {0};
	struct fib_stack s[3], again;
	int i, round;

	(void)state;
	for (round = 0; round < 2; round++) {
		struct fib_stack_cache *c = round ? &cache : NULL;

		for (i = 0; i < 3; i++)
			assert_int_equal(fib_stack_take(c, FRESH_LIFO, &s[i]), 0);
		for (i = 0; i < 3; i++)
			fib_stack_give(c, &s[i]);
		for (i = 2; i >= 0; i--) {
			assert_int_equal(fib_stack_take(c, FRESH_LIFO - 1, &again), 0);
			assert_memory_equal(&again, &s[i], sizeof again);
		}
		for (i = 0; i < 3; i++)
			fib_stack_give(c, &s[i]);
	}
	fib_stack_flush(&cache);
}

static void test_stack_cache_that_is_full_or_changes_its_size_gives_to_the_pool(void **state)
{
	struct fib_stack_cache mine = {0}, other = {0};
	struct fib_stack s[FIB_STACK_CACHE + 1], t, got;
	unsigned i, found = 0;

	(void)state;
	for (i = 0; i <= FIB_STACK_CACHE; i++)
		assert_int_equal(fib_stack_take(&mine, FRESH_LIFO, &s[i]), 0);
	for (i = 0; i <= FIB_STACK_CACHE; i++)
		fib_stack_give(&mine, &s[i]);
	assert_in_range(mine.count, 1, FIB_STACK_CACHE);
	assert_int_equal(fib_stack_take(NULL, 2 * FRESH_LIFO, &t), 0);
	fib_stack_give(&mine, &t);
	assert_int_equal(mine.count, 1);
	/* The cache has stacks, but none of this size. */
	assert_int_equal(fib_stack_take(&mine, FIB_STACK_DEFAULT, &got), 0);
	assert_int_equal(got.size, FIB_STACK_DEFAULT);
	fib_stack_give(NULL, &got);
	fib_stack_flush(&mine);
	assert_int_equal(mine.count, 0);
	/* Another cache gets all of the flushed stacks. */
	for (i = 0; i <= FIB_STACK_CACHE; i++) {
		assert_int_equal(fib_stack_take(&other, FRESH_LIFO, &got), 0);
		for (unsigned k = 0; k <= FIB_STACK_CACHE; k++)
			found += got.low == s[k].low;
	}
	assert_int_equal(found, FIB_STACK_CACHE + 1);
	for (i = 0; i <= FIB_STACK_CACHE; i++)
		fib_stack_give(NULL, &s[i]);
}

static void *use(void *arg)
{
	struct fib_stack_cache cache = {0};
	uintptr_t me = (uintptr_t)arg, wrong = 0;
	struct fib_stack held[8];
	unsigned i, k;

	for (i = 0; i < ROUNDS; i++) {
		unsigned n = 1 + (i + (unsigned)me) % 8;

		for (k = 0; k < n; k++) {
			if (fib_stack_take(i % 3 ? &cache : NULL, FIB_STACK_DEFAULT << k % 2,
					   &held[k]) < 0)
				return (void *)UINTPTR_MAX;
			*(uintptr_t *)held[k].low = me * ROUNDS + i;
		}
		for (k = 0; k < n; k++) {
			wrong += *(uintptr_t *)held[k].low != me * ROUNDS + i;
			fib_stack_give(i % 3 ? &cache : NULL, &held[k]);
		}
		if (i % 64 == 0)
			fib_stack_trim(fib_os_now() + i * SECOND);
	}
	fib_stack_flush(&cache);
	return (void *)wrong;
}

static void test_stack_has_one_owner_among_threads(void **state)
{
	pthread_t threads[THREADS];
	uintptr_t i, wrong = 0;
	void *result;

	(void)state;
	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, use, (void *)(i + 1));
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &result);
		wrong += (uintptr_t)result;
	}
	assert_int_equal(wrong, 0);
}

static void test_stack_tops_are_coloured_and_keep_their_colour(void **state)
{
	struct fib_stack s[16], again;
	unsigned i, k;

	(void)state;
	for (i = 0; i < 16; i++) {
		assert_int_equal(fib_stack_take(NULL, FRESH_COLOUR, &s[i]), 0);
		assert_true(s[i].colour < 4096);
		assert_int_equal(fib_stack_usable(&s[i]), s[i].size - s[i].colour);
		/* Each colour is in a different cache set. */
		for (k = 0; k < i; k++)
			assert_int_not_equal(s[i].colour / 64, s[k].colour / 64);
	}
	fib_stack_give(NULL, &s[5]);
	assert_int_equal(fib_stack_take(NULL, FRESH_COLOUR, &again), 0);
	assert_int_equal(again.colour, s[5].colour);
	for (i = 0; i < 16; i++)
		fib_stack_give(NULL, &s[i]);
}

/* -- returning memory to the system -- */

static int64_t used(const struct fib_stack *s)
{
	return fib_os_high_water((uint64_t)(uintptr_t)s->low, s->size);
}

static void test_stack_idle_for_a_period_loses_its_pages_and_nothing_else(void **state)
{
	int64_t now = fib_os_now() + 2 * ROUNDS * SECOND;
	struct fib_stack busy, idle, again;

	(void)state;
	assert_int_equal(fib_stack_take(NULL, FRESH_TRIM, &idle), 0);
	assert_int_equal(fib_stack_take(NULL, FRESH_TRIM, &busy), 0);
	memset(idle.low, 0x5a, idle.size);
	memset(busy.low, 0x5a, busy.size);
	assert_int_equal(used(&idle), idle.size);
	fib_stack_give(NULL, &idle);
	fib_stack_give(NULL, &busy);
	fib_stack_trim(now);
	assert_int_equal(used(&idle), idle.size); /* not idle for long yet */
	fib_stack_trim(now + SECOND / 2);	  /* too soon to look again */
	assert_int_equal(used(&idle), idle.size);
	assert_int_equal(fib_stack_take(NULL, FRESH_TRIM, &again), 0);
	assert_ptr_equal(again.low, busy.low);
	fib_stack_give(NULL, &again);
	fib_stack_trim(now + SECOND);
	assert_int_equal(used(&busy), busy.size); /* it was used in between */
	assert_true(used(&idle) <= 2 * (int64_t)fib_os_page_size());

	assert_int_equal(fib_stack_take(NULL, FRESH_TRIM, &again), 0);
	assert_ptr_equal(again.low, busy.low); /* warm stacks come first */
	assert_int_equal(fib_stack_take(NULL, FRESH_TRIM, &again), 0);
	assert_ptr_equal(again.low, idle.low);
	assert_int_equal(*(char *)idle.low, 0);
	assert_true(guarded(&again));
	fib_stack_give(NULL, &busy);
	fib_stack_give(NULL, &idle);
}

static int take_without_space(void *arg)
{
	struct fib_stack s, t, kept;
	int i;

	(void)arg;
	if (fib_stack_take(NULL, FIB_STACK_DEFAULT, &kept) < 0)
		return 1;
	fib_stack_give(NULL, &kept);
	harness_limit_space(1 << 20);
	for (i = 0; i < 3; i++)
		if (fib_stack_take(NULL, FRESH_LIMIT, &s) != -ENOMEM)
			return 2;
	/* The existing stacks still work. */
	if (fib_stack_take(NULL, FIB_STACK_DEFAULT, &t) < 0 || t.low != kept.low)
		return 3;
	harness_limit_space(SIZE_MAX);
	if (fib_stack_take(NULL, FRESH_LIMIT, &s) < 0 || s.size != FRESH_LIMIT || !guarded(&s))
		return 4;
	return 0;
}

static void test_stack_without_address_space_is_an_error_and_leaves_the_pool_whole(void **state)
{
	(void)state;
	harness_child(take_without_space, NULL, 20, &child);
	assert_int_equal(child.signal, 0);
	assert_int_equal(child.code, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stack_has_at_least_the_size_asked_for),
		cmocka_unit_test(test_stack_of_the_callers_memory_is_only_described),
		cmocka_unit_test(test_stack_guard_kills_whoever_touches_it),
		cmocka_unit_test(test_stack_of_locked_memory_is_guarded_too),
		cmocka_unit_test(test_stack_guards_outnumber_the_mappings_a_process_may_have),
		cmocka_unit_test(test_stack_given_last_is_taken_first),
		cmocka_unit_test(
			test_stack_cache_that_is_full_or_changes_its_size_gives_to_the_pool),
		cmocka_unit_test(test_stack_has_one_owner_among_threads),
		cmocka_unit_test(test_stack_tops_are_coloured_and_keep_their_colour),
		cmocka_unit_test(test_stack_idle_for_a_period_loses_its_pages_and_nothing_else),
		cmocka_unit_test(
			test_stack_without_address_space_is_an_error_and_leaves_the_pool_whole),
	};

	harness_watchdog(100);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
