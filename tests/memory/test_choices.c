/* SPDX-License-Identifier: MIT */
/* test_choices.c - which accesses are choices, and what is said of a race */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "programs.h"

#define LOOPS 500

static struct fiber_test_result result;

static int explore(fiber_test_fn *fn, struct fiber_test_options options)
{
	options.size = sizeof options;
	result = (struct fiber_test_result){.size = sizeof result};
	return fiber_test_explore(fn, NULL, &options, &result);
}

/* -- plain counter++ -- */

static void *add(void *arg)
{
	data++;
	return arg;
}

/* data is zero at the start, and no fiber touches it before the two. */
static void lose(void *arg)
{
	(void)arg;
	run_both(add, add);
	fiber_test_assert(data == 2);
	data = 0;
}

static void test_plain_increment_loses_an_update(void **state)
{
	(void)state;
	assert_int_equal(explore(lose, (struct fiber_test_options){.flags = FIBER_TEST_NO_RACES}),
			 1);
	assert_int_equal(result.verdict, FIBER_TEST_FAILED);
	assert_string_equal(result.message, "data == 2");
	assert_int_equal(result.deviations, 1);
}

static void test_race_is_found_before_its_effect(void **state)
{
	(void)state;
	assert_int_equal(explore(lose, (struct fiber_test_options){0}), 1);
	assert_int_equal(result.verdict, FIBER_TEST_RACE);
	assert_int_equal(result.deviations, 0);
}

static void *add_atomically(void *arg)
{
	int seen = atomic_load((_Atomic int *)(uintptr_t)&other);

	atomic_store((_Atomic int *)(uintptr_t)&other, seen + 1);
	return arg;
}

static void lose_atomically(void *arg)
{
	(void)arg;
	other = 0;
	run_both(add_atomically, add_atomically);
	fiber_test_assert(other == 2);
}

static void test_atomic_load_and_store_lose_an_update(void **state)
{
	(void)state;
	assert_int_equal(explore(lose_atomically, (struct fiber_test_options){0}), 1);
	assert_int_equal(result.verdict, FIBER_TEST_FAILED);
	assert_string_equal(result.message, "other == 2");
}

/* -- memory that one fiber alone uses -- */

static int privates[2][LOOPS];

static void *use_own(int *own)
{
	int locals[LOOPS], *heap = malloc(sizeof locals), i, sum = 0;

	if (!heap)
		return NULL;
	for (i = 0; i < LOOPS; i++)
		locals[i] = heap[i] = own[i] = i;
	for (i = 0; i < LOOPS; i++)
		sum += locals[i] + heap[i] + own[i];
	free(heap);
	return sum ? own : NULL;
}

static void *use_first(void *arg)
{
	use_own(privates[0]);
	return arg;
}

static void *use_second(void *arg)
{
	use_own(privates[1]);
	return arg;
}

static void use_privates(void *arg)
{
	(void)arg;
	run_both(use_first, use_second);
}

static void *nothing(void *arg)
{
	return arg;
}

static void use_nothing(void *arg)
{
	(void)arg;
	run_both(nothing, nothing);
}

static void test_memory_of_one_fiber_is_no_choice(void **state)
{
	unsigned longest;

	(void)state;
	assert_int_equal(explore(use_nothing, (struct fiber_test_options){.schedules = 50}), 0);
	longest = result.choices;
	assert_int_equal(explore(use_privates, (struct fiber_test_options){.schedules = 50}), 0);
	assert_int_equal(result.choices, longest);
}

/* -- every schedule -- */

static void *lock_and_add(void *arg)
{
	fiber_mutex_lock(&o.mutex, FIBER_FOREVER);
	data++;
	fiber_mutex_unlock(&o.mutex);
	return arg;
}

static void add_locked(void *arg)
{
	(void)arg;
	data = 0;
	run_both(lock_and_add, lock_and_add);
	fiber_test_assert(data == 2);
}

static void test_exhaustive_visits_every_order_of_accesses(void **state)
{
	const struct fiber_test_options all = {.strategy = "exhaustive", .preemptions = 2};

	(void)state;
	assert_int_equal(explore(add_locked, all), 0);
	assert_int_equal(result.verdict, FIBER_TEST_COMPLETE);
}

/* -- what is said -- */

static void *add_under_a(void *arg)
{
	fiber_mutex_lock(&o.mutex, FIBER_FOREVER);
	data++;
	fiber_mutex_unlock(&o.mutex);
	return arg;
}

static void *read_under_b(void *arg)
{
	int seen;

	fiber_mutex_lock(&o.mutex2, FIBER_FOREVER);
	seen = data;
	fiber_mutex_unlock(&o.mutex2);
	return seen ? arg : NULL;
}

static void use_two_locks(void *arg)
{
	(void)arg;
	fiber_object_name(&o.mutex, "a");
	fiber_object_name(&o.mutex2, "b");
	run_both(add_under_a, read_under_b);
}

static void test_message_has_both_places(void **state)
{
	(void)state;
	assert_int_equal(explore(use_two_locks, (struct fiber_test_options){0}), 1);
	assert_int_equal(result.verdict, FIBER_TEST_RACE);
	assert_non_null(strstr(result.message, "fiber 2 "));
	assert_non_null(strstr(result.message, "fiber 3 "));
	assert_non_null(strstr(result.message, "in add_under_a at test_choices.c:"));
	assert_non_null(strstr(result.message, "in read_under_b at test_choices.c:"));
}

static void test_same_exploration_says_the_same(void **state)
{
	struct fiber_test_result first;
	int i;

	(void)state;
	explore(use_two_locks, (struct fiber_test_options){0});
	first = result;
	for (i = 0; i < 3; i++) {
		explore(use_two_locks, (struct fiber_test_options){0});
		assert_string_equal(result.message, first.message);
		assert_string_equal(result.token, first.token);
		assert_int_equal(result.failed, first.failed);
	}
}

/* -- FIBER_TEST_DECLARED: accesses that are seen need not be announced -- */

static const struct fiber_test_options declared = {
	.strategy = "exhaustive", .flags = FIBER_TEST_DECLARED | FIBER_TEST_NO_RACES};

static void test_reduced_search_finds_what_is_seen(void **state)
{
	(void)state;
	assert_int_equal(explore(lose, declared), 1);
	assert_string_equal(result.message, "data == 2");
	assert_int_equal(explore(lose_atomically, declared), 1);
	assert_string_equal(result.message, "other == 2");
}

/* A first access is no choice of its own: it is in the step of the atomic operation before. */
static struct {
	int value;
	char apart[60];
} * late;
static int seen_late, wanted_late;
static _Atomic int own[2];

#define VARIABLES 2

static void *write_late(void *arg)
{
	int i;

	for (i = 0; i < VARIABLES; i++) {
		atomic_store(&own[0], i);
		late[i].value = 1;
	}
	return arg;
}

static void *read_late(void *arg)
{
	int i, seen = 0;

	for (i = 0; i < VARIABLES; i++) {
		atomic_store(&own[1], i);
		seen |= late[i].value << i;
	}
	seen_late = seen;
	return arg;
}

static void miss_late(void *arg)
{
	(void)arg;
	late = calloc(VARIABLES, sizeof *late);
	run_both(write_late, read_late);
	free(late);
	fiber_test_assert(seen_late != wanted_late);
}

static void count_schedules(void *arg)
{
	wanted_late = -1;
	miss_late(arg);
}

/* Each set of writes that the reader can see is seen. */
static void test_reduced_search_sees_the_first_access_to_memory(void **state)
{
	(void)state;
	for (wanted_late = 0; wanted_late < 1 << VARIABLES; wanted_late++) {
		assert_int_equal(explore(miss_late, declared), 1);
		assert_string_equal(result.message, "seen_late != wanted_late");
	}
	/* 215 if steps that touch new memory were as independent as their atomic operations. */
	assert_int_equal(explore(count_schedules, declared), 0);
	assert_int_equal(result.verdict, FIBER_TEST_COMPLETE);
	assert_true(result.schedules > 300);
}

static void *store_own(void *at)
{
	atomic_store((_Atomic int *)at, 1);
	atomic_store((_Atomic int *)at, 2);
	return NULL;
}

static void store_apart(void *arg)
{
	struct fiber *a, *b;

	(void)arg;
	fiber_spawn(store_own, (void *)(uintptr_t)&own[0], &a);
	fiber_spawn(store_own, (void *)(uintptr_t)&own[1], &b);
	fiber_join(a, NULL, FIBER_FOREVER);
	fiber_join(b, NULL, FIBER_FOREVER);
}

static void test_reduced_search_runs_fewer_schedules(void **state)
{
	struct fiber_test_options o = declared;
	uint64_t reduced;

	(void)state;
	assert_int_equal(explore(store_apart, o), 0);
	assert_int_equal(result.verdict, FIBER_TEST_COMPLETE);
	reduced = result.schedules;
	o.flags = FIBER_TEST_NO_RACES;
	assert_int_equal(explore(store_apart, o), 0);
	assert_int_equal(result.verdict, FIBER_TEST_COMPLETE);
	assert_true(reduced < result.schedules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_increment_loses_an_update),
		cmocka_unit_test(test_race_is_found_before_its_effect),
		cmocka_unit_test(test_atomic_load_and_store_lose_an_update),
		cmocka_unit_test(test_memory_of_one_fiber_is_no_choice),
		cmocka_unit_test(test_exhaustive_visits_every_order_of_accesses),
		cmocka_unit_test(test_reduced_search_finds_what_is_seen),
		cmocka_unit_test(test_reduced_search_sees_the_first_access_to_memory),
		cmocka_unit_test(test_reduced_search_runs_fewer_schedules),
		cmocka_unit_test(test_message_has_both_places),
		cmocka_unit_test(test_same_exploration_says_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
