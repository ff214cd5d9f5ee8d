/* SPDX-License-Identifier: MIT */
/*
 * test_explore.c - what fiber_test_explore() finds, and what it does not
 *
 * Each test is a small program of its own. Its expected result follows from its code alone.
 */
#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <fiber.h>
#include <fiber/test.h>

static struct fiber_test_result result;

static int explore(fiber_test_fn *fn, void *arg, struct fiber_test_options options)
{
	options.size = sizeof options;
	memset(&result, 0, sizeof result);
	result.size = sizeof result;
	return fiber_test_explore(fn, arg, &options, &result);
}

static void expect_found(fiber_test_fn *fn, enum fiber_test_verdict verdict, const char *message)
{
	assert_int_equal(explore(fn, NULL, (struct fiber_test_options){0}), 1);
	assert_string_equal(fiber_test_verdict_name(result.verdict),
			    fiber_test_verdict_name(verdict));
	assert_non_null(strstr(result.message, message));
	assert_memory_equal(result.token, "ft1-", 4);
	assert_true(result.failed >= 1);
}

/* -- two fibers that add to a counter in two steps -- */

static int counter;

static void *add(void *arg)
{
	int seen = counter;

	fiber_test_point("between");
	counter = seen + 1;
	return arg;
}

static void two_adds(void *arg)
{
	struct fiber *a, *b;

	(void)arg;
	counter = 0;
	fiber_spawn(add, NULL, &a);
	fiber_spawn(add, NULL, &b);
	fiber_join(a, NULL, FIBER_FOREVER);
	fiber_join(b, NULL, FIBER_FOREVER);
	fiber_test_assert(counter == 2);
}

static void test_lost_update_is_found_with_file_line_and_token(void **state)
{
	(void)state;
	expect_found(two_adds, FIBER_TEST_FAILED, "counter == 2");
	assert_non_null(strstr(result.file, "test_explore.c"));
	assert_true(result.line > 0);
	assert_true(result.deviations >= 1 && result.deviations <= 3);
}

static void test_same_seed_finds_the_same_and_jobs_do_not_matter(void **state)
{
	struct fiber_test_result first;

	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		assert_int_equal(explore(two_adds, NULL, (struct fiber_test_options){.seed = seed}),
				 1);
		first = result;
		for (unsigned jobs = 1; jobs <= 4; jobs++) {
			assert_int_equal(
				explore(two_adds, NULL,
					(struct fiber_test_options){.seed = seed, .jobs = jobs}),
				1);
			assert_int_equal(result.failed, first.failed);
			assert_string_equal(result.token, first.token);
		}
	}
}

static void test_each_strategy_finds_a_lost_update(void **state)
{
	static const char *const strategies[] = {"random", "pct",   "pct:2",	  "pos",
						 "urw",	   "bound", "exhaustive", "random,pos"};

	(void)state;
	for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++)
		assert_int_equal(explore(two_adds, NULL,
					 (struct fiber_test_options){.strategy = strategies[i]}),
				 1);
}

/* -- every schedule of a program that can be counted by hand -- */

static void *one_point(void *arg)
{
	fiber_test_point("a");
	return arg;
}

/* Three fibers with one call each after their start. */
static void three(void *arg)
{
	(void)arg;
	for (int i = 0; i < 3; i++)
		fiber_spawn(one_point, NULL, NULL);
}

static void test_exhaustive_runs_every_schedule_once(void **state)
{
	uint64_t schedules;

	(void)state;
	assert_int_equal(
		explore(three, NULL, (struct fiber_test_options){.strategy = "exhaustive"}), 0);
	assert_int_equal(result.verdict, FIBER_TEST_COMPLETE);
	schedules = result.schedules;
	assert_true(schedules > 6);
	assert_int_equal(
		explore(three, NULL, (struct fiber_test_options){.strategy = "exhaustive"}), 0);
	assert_int_equal(result.schedules, schedules);
	/* Fewer preemptions leave some out. */
	assert_int_equal(
		explore(three, NULL,
			(struct fiber_test_options){.strategy = "exhaustive", .preemptions = 1}),
		0);
	assert_true(result.schedules < schedules);
	assert_int_equal(
		explore(three, NULL,
			(struct fiber_test_options){.strategy = "exhaustive", .schedules = 3}),
		0);
	assert_int_equal(result.verdict, FIBER_TEST_PASSED);
	assert_int_equal(result.schedules, 3);
}

static unsigned chosen[4];

static void choose(void *arg)
{
	(void)arg;
	chosen[fiber_test_choose(4, "door")]++;
	fiber_test_assert(fiber_test_choose(1, "alone") == 0);
	fiber_test_assert(fiber_test_choose(4, "door") < 4);
}

static void test_choose_is_explored(void **state)
{
	(void)state;
	assert_int_equal(
		explore(choose, NULL, (struct fiber_test_options){.strategy = "exhaustive"}), 0);
	assert_int_equal(result.verdict, FIBER_TEST_COMPLETE);
	assert_int_equal(result.schedules, 16);
	assert_int_equal(fiber_test_choose(9, "outside"), 0);
	assert_false(fiber_test_running());
}

/* -- ways to fail -- */

static void *fails_assert(void *arg)
{
	assert(arg != NULL);
	return arg;
}

static void in_another_fiber(void *arg)
{
	struct fiber *f;

	(void)arg;
	fiber_spawn(fails_assert, NULL, &f);
	fiber_join(f, NULL, FIBER_FOREVER);
}

static void of_cmocka(void *arg)
{
	(void)arg;
	assert_int_equal(fiber_self() != NULL, 7);
}

static volatile uintptr_t nowhere = 8;

static void crash(void *arg)
{
	(void)arg;
	*(volatile int *)nowhere = 1;
}

static void leave(void *arg)
{
	(void)arg;
	_exit(5);
}

static void *lock_twice(void *arg)
{
	static struct fiber_mutex m;

	memset(&m, 0, sizeof m);
	fiber_mutex_lock(&m, FIBER_FOREVER);
	fiber_join(arg, NULL, FIBER_FOREVER);
	return NULL;
}

static void join_each_other(void *arg)
{
	(void)arg;
	lock_twice(fiber_self());
}

static void *wait_for_ever(void *arg)
{
	fiber_park(FIBER_FOREVER);
	return arg;
}

static void leave_one(void *arg)
{
	(void)arg;
	fiber_spawn(wait_for_ever, NULL, NULL);
}

static void park(void *arg)
{
	(void)arg;
	fiber_park(FIBER_FOREVER);
}

static void *other(void *arg)
{
	while (!*(volatile int *)arg)
		fiber_yield();
	return NULL;
}

static void spin(void *arg)
{
	int never = 0;
	struct fiber *a, *b;

	(void)arg;
	fiber_spawn(other, &never, &a);
	fiber_spawn(other, &never, &b);
	fiber_join(a, NULL, FIBER_FOREVER);
	fiber_join(b, NULL, FIBER_FOREVER);
}

static void hang(void *arg)
{
	(void)arg;
	for (;;)
		usleep(1000);
}

static void test_verdict_of_each_way_to_fail(void **state)
{
	(void)state;
	expect_found(in_another_fiber, FIBER_TEST_FAILED, "arg != ");
	expect_found(of_cmocka, FIBER_TEST_FAILED, "0x1 != 0x7");
	assert_non_null(strstr(result.file, "test_explore.c"));
	expect_found(crash, FIBER_TEST_CRASHED, "signal 11");
	expect_found(leave, FIBER_TEST_FAILED, "exit(5)");
	expect_found(leave_one, FIBER_TEST_LEAK, "1 fiber is left");
	expect_found(park, FIBER_TEST_DEADLOCK, "1 fiber waits");
	expect_found(spin, FIBER_TEST_LIVELOCK, "20000 choices");
	expect_found(join_each_other, FIBER_TEST_FAILED, "fiber_join");
	assert_int_equal(explore(hang, NULL, (struct fiber_test_options){.hang_limit = 200000000}),
			 1);
	assert_int_equal(result.verdict, FIBER_TEST_HUNG);
}

/* -- time -- */

static int64_t woken[3];

static void *sleeper(void *arg)
{
	const int64_t hours = (int64_t)(intptr_t)arg;

	fiber_sleep(hours * 3600 * 1000000000);
	woken[hours - 1] = fiber_now();
	return NULL;
}

static void sleep_for_hours(void *arg)
{
	struct fiber *f[3];

	(void)arg;
	fiber_test_assert(fiber_now() == 1000000000);
	for (intptr_t i = 0; i < 3; i++)
		fiber_spawn(sleeper, (void *)(i + 1), &f[i]);
	for (int i = 0; i < 3; i++)
		fiber_join(f[i], NULL, FIBER_FOREVER);
	for (int i = 0; i < 3; i++)
		fiber_test_assert(woken[i] == (i + 1) * INT64_C(3600000000000) + 1000000000);
}

static void test_hours_of_sleep_pass_at_once(void **state)
{
	(void)state;
	assert_int_equal(explore(sleep_for_hours, NULL, (struct fiber_test_options){.slack = -1}),
			 0);
}

/* A deadline that passes while a fiber could run is found within the slack only. */
static void *answer(void *arg)
{
	fiber_test_point("answers");
	fiber_event_set(arg);
	return NULL;
}

static int64_t deadline;

static void ask(void *arg)
{
	struct fiber_event e = {0};
	struct fiber *f;
	int rc;

	(void)arg;
	fiber_spawn(answer, &e, &f);
	rc = fiber_event_wait(&e, fiber_after(deadline));
	fiber_join(f, NULL, FIBER_FOREVER);
	fiber_test_assert(rc == 0);
}

static void test_short_deadline_may_pass_and_a_long_one_does_not(void **state)
{
	(void)state;
	deadline = 50000000;
	expect_found(ask, FIBER_TEST_FAILED, "rc == 0");
	deadline = 5000000000;
	assert_int_equal(explore(ask, NULL, (struct fiber_test_options){0}), 0);
	deadline = 50000000;
	assert_int_equal(explore(ask, NULL, (struct fiber_test_options){.slack = -1}), 0);
}

/* -- what must not be found -- */

static void *locker(void *arg)
{
	struct fiber_mutex *m = arg;

	for (int i = 0; i < 3; i++) {
		if (fiber_mutex_trylock(m) < 0)
			fiber_mutex_lock(m, fiber_after(1000));
		else
			fiber_mutex_unlock(m);
	}
	if (fiber_mutex_trylock(m) == 0)
		fiber_mutex_unlock(m);
	return NULL;
}

static void *background(void *arg)
{
	while (fiber_sleep(1000) == 0)
		;
	return arg;
}

static void *pinned(void *arg)
{
	struct fiber_event *e = arg;

	fiber_pin();
	fiber_test_assert(fiber_event_wait(e, FIBER_FOREVER) == 0);
	fiber_unpin();
	return NULL;
}

static void innocent(void *arg)
{
	const struct fiber_attr attr = {.size = sizeof attr, .flags = FIBER_BACKGROUND};
	struct fiber_event e = {0};
	struct fiber *f;
	int pipes[2];
	char byte = 0;

	(void)arg;
	fiber_spawn_attr(&attr, background, NULL, NULL);
	fiber_spawn(pinned, &e, &f);
	fiber_sleep(5000);
	fiber_event_set(&e);
	fiber_join(f, NULL, FIBER_FOREVER);
	fiber_test_assert(pipe(pipes) == 0);
	fiber_test_assert(fiber_write(pipes[1], "x", 1, FIBER_FOREVER) == 1);
	fiber_test_assert(fiber_read(pipes[0], &byte, 1, FIBER_FOREVER) == 1);
	fiber_close(pipes[0]);
	fiber_close(pipes[1]);
	fiber_test_settle();
}

static void try_locks(void *arg)
{
	struct fiber_mutex m = {0};
	struct fiber *f;

	(void)arg;
	(void)locker;
	fiber_spawn(fails_assert, &m, &f);
	fiber_join(f, NULL, FIBER_FOREVER);
}

static void test_timed_pinned_and_background_waits_are_no_findings(void **state)
{
	(void)state;
	assert_int_equal(explore(innocent, NULL, (struct fiber_test_options){.schedules = 200}), 0);
	assert_int_equal(explore(try_locks, NULL, (struct fiber_test_options){0}), 0);
	assert_int_equal(result.verdict, FIBER_TEST_PASSED);
	assert_int_equal(result.schedules, 2000);
}

/* -- settling -- */

static void *take_turns(void *arg)
{
	unsigned *turns = arg;

	for (unsigned i = 0; i < 3; i++) {
		fiber_yield();
		++*turns;
	}
	return NULL;
}

static void settle_once(void *arg)
{
	unsigned turns = 0;

	(void)arg;
	fiber_spawn(take_turns, &turns, NULL);
	fiber_spawn(take_turns, &turns, NULL);
	fiber_test_settle();
	fiber_test_assert(turns == 6);
}

static void *settle_too(void *arg)
{
	fiber_test_settle();
	return arg;
}

static void settle_together(void *arg)
{
	unsigned turns = 0;

	fiber_spawn(settle_too, NULL, NULL);
	fiber_spawn(take_turns, &turns, NULL);
	fiber_test_settle();
	fiber_test_assert(turns == 3);
	fiber_test_settle();
	(void)arg;
}

static void test_who_settles_waits_for_all_others_also_in_the_first_schedule(void **state)
{
	const struct fiber_test_options every = {.strategy = "exhaustive"};

	(void)state;
	assert_int_equal(explore(settle_once, NULL, every), 0);
	assert_int_equal(result.verdict, FIBER_TEST_COMPLETE);
	assert_in_range(result.choices, 5, 20);
	assert_int_equal(explore(settle_together, NULL, every), 0);
	assert_int_equal(result.verdict, FIBER_TEST_COMPLETE);
	assert_int_equal(explore(settle_together, NULL, (struct fiber_test_options){0}), 0);
}

/* -- ids in messages -- */

static void *unlock_it(void *mutex)
{
	fiber_mutex_unlock(mutex);
	return NULL;
}

/* Not in the first schedule: ids have counted on by then. */
static void unlock_by_another(void *arg)
{
	struct fiber_mutex mutex = {.waiters = {0}};
	struct fiber *f;

	(void)arg;
	fiber_mutex_lock(&mutex, FIBER_FOREVER);
	if (fiber_test_choose(3, "misuse") == 2) {
		fiber_spawn(unlock_it, &mutex, &f);
		fiber_join(f, NULL, FIBER_FOREVER);
	}
	fiber_mutex_unlock(&mutex);
}

static void test_message_with_ids_is_the_same_in_a_fresh_process(void **state)
{
	(void)state;
	assert_int_equal(explore(unlock_by_another, NULL,
				 (struct fiber_test_options){.strategy = "exhaustive", .seed = 3}),
			 1);
	assert_true(result.failed > 1);
	assert_int_equal(result.deviations, 1);
	assert_non_null(strstr(result.message, "is unlocked by fiber"));
}

/* -- options -- */

static int kept = 1;

static void keep(void *arg)
{
	(void)arg;
	fiber_test_assert(kept++ == 1);
	fiber_test_reached("here");
}

static void test_memory_is_restored_and_without_it_the_test_fails(void **state)
{
	static const struct fiber_test_memory memory = {&kept, sizeof kept};
	static const char *const here[] = {"here", NULL}, *const there[] = {"there", NULL};

	(void)state;
	assert_int_equal(explore(keep, NULL,
				 (struct fiber_test_options){
					 .memory = &memory, .nmemory = 1, .reach = here}),
			 0);
	assert_int_equal(explore(keep, NULL,
				 (struct fiber_test_options){
					 .memory = &memory, .nmemory = 1, .reach = there}),
			 1);
	assert_int_equal(result.verdict, FIBER_TEST_UNREACHED);
	assert_int_equal(explore(keep, NULL, (struct fiber_test_options){0}), 1);
	assert_int_equal(kept, 1); /* of this process */
}

static void *nobody(void *arg)
{
	return arg;
}

/* The second time it spawns another fiber. */
static void unsteady(void *arg)
{
	struct fiber *f;

	(void)arg;
	for (int i = 0; i < kept; i++) {
		fiber_spawn(nobody, NULL, &f);
		fiber_test_point("p");
		fiber_join(f, NULL, FIBER_FOREVER);
	}
	kept++;
}

static void test_test_that_keeps_something_has_diverged(void **state)
{
	(void)state;
	expect_found(unsteady, FIBER_TEST_DIVERGED, "run twice");
}

static void refused(struct fiber_test_options options)
{
	assert_int_equal(explore(three, NULL, options), -EINVAL);
}

static void explore_inside(void *arg)
{
	struct fiber_test_result inner = {.size = sizeof inner};

	(void)arg;
	fiber_test_assert(fiber_test_running());
	fiber_test_assert(fiber_test_explore(three, NULL, NULL, &inner) == -EPERM);
}

static void test_options_that_make_no_sense_are_refused(void **state)
{
	struct fiber_test_options o = {.size = 1};

	(void)state;
	refused((struct fiber_test_options){.strategy = "nonsense"});
	refused((struct fiber_test_options){.strategy = "pct:0"});
	refused((struct fiber_test_options){.strategy = "pct:21"});
	refused((struct fiber_test_options){.strategy = "random:3"});
	refused((struct fiber_test_options){.strategy = "random,"});
	refused((struct fiber_test_options){.strategy = "exhaustive,random"});
	refused((struct fiber_test_options){.faults = 256});
	refused((struct fiber_test_options){.flags = 1u << 20});
	assert_int_equal(fiber_test_explore(three, NULL, &o, &result), -EINVAL);
	assert_int_equal(fiber_test_explore(NULL, NULL, NULL, &result), -EINVAL);
	assert_int_equal(explore(explore_inside, NULL, (struct fiber_test_options){.schedules = 2}),
			 0);
}

/* -- a million schedules leave nothing behind -- */

static void test_passing_test_fails_nobody(void **state)
{
	const struct fiber_test_options o = {.size = sizeof o, .name = "three", .schedules = 10};

	(void)state;
	fiber_test(three, NULL, &o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lost_update_is_found_with_file_line_and_token),
		cmocka_unit_test(test_same_seed_finds_the_same_and_jobs_do_not_matter),
		cmocka_unit_test(test_each_strategy_finds_a_lost_update),
		cmocka_unit_test(test_exhaustive_runs_every_schedule_once),
		cmocka_unit_test(test_choose_is_explored),
		cmocka_unit_test(test_verdict_of_each_way_to_fail),
		cmocka_unit_test(test_hours_of_sleep_pass_at_once),
		cmocka_unit_test(test_short_deadline_may_pass_and_a_long_one_does_not),
		cmocka_unit_test(test_timed_pinned_and_background_waits_are_no_findings),
		cmocka_unit_test(test_who_settles_waits_for_all_others_also_in_the_first_schedule),
		cmocka_unit_test(test_message_with_ids_is_the_same_in_a_fresh_process),
		cmocka_unit_test(test_memory_is_restored_and_without_it_the_test_fails),
		cmocka_unit_test(test_test_that_keeps_something_has_diverged),
		cmocka_unit_test(test_options_that_make_no_sense_are_refused),
		cmocka_unit_test(test_passing_test_fails_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
