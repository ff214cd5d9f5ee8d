/* SPDX-License-Identifier: MIT */
/* test_assume.c - fiber_test_assume(): schedules that are dropped and not counted */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include <fiber.h>
#include <fiber/test.h>

#include "explore/explore.h"
#include "explore/settings.h"

static struct fiber_test_result result;
static uint64_t dropped;

static int explore(fiber_test_fn *fn, void *arg, struct fiber_test_options options)
{
	struct fib_outcome outcome;
	int rc;

	options.size = sizeof options;
	rc = fib_explore(fn, arg, &options, &outcome);
	result = outcome.result;
	dropped = outcome.dropped;
	fib_outcome_free(&outcome);
	return rc;
}

/* -- what is dropped -- */

static void one_of_four_is_dropped(void *arg)
{
	(void)arg;
	fiber_test_assume(fiber_test_choose(4, "value") != 1);
}

static void test_dropped_schedule_is_not_counted(void **state)
{
	(void)state;
	fiber_test_assume(false); /* outside: nothing */
	assert_int_equal(explore(one_of_four_is_dropped, NULL,
				 (struct fiber_test_options){.strategy = "exhaustive"}),
			 0);
	assert_int_equal(result.verdict, FIBER_TEST_COMPLETE);
	assert_int_equal(result.schedules, 3);
	assert_int_equal(dropped, 1);
}

static void *assume_in_fiber(void *arg)
{
	fiber_test_assume(fiber_test_choose(4, "value") != 3);
	return arg;
}

/* It is the last of the tree that is dropped. */
static void another_fiber_drops(void *arg)
{
	struct fiber *fiber;

	(void)arg;
	fiber_spawn(assume_in_fiber, NULL, &fiber);
	fiber_join(fiber, NULL, FIBER_FOREVER);
}

static void test_any_fiber_drops_and_the_last_path_too(void **state)
{
	uint64_t orders;

	(void)state;
	assert_int_equal(explore(another_fiber_drops, NULL,
				 (struct fiber_test_options){.strategy = "exhaustive"}),
			 0);
	assert_int_equal(result.verdict, FIBER_TEST_COMPLETE);
	orders = result.schedules / 3;
	assert_int_equal(result.schedules, 3 * orders);
	assert_in_range(dropped, 1, orders);
}

static unsigned value;

static void choose_value(void *arg)
{
	(void)arg;
	value = fiber_test_choose(4, "value");
}

static void drop_in_finish(void *arg)
{
	(void)arg;
	fiber_test_assume(value != 2);
}

static void test_finish_drops(void **state)
{
	(void)state;
	assert_int_equal(explore(choose_value, NULL,
				 (struct fiber_test_options){.strategy = "exhaustive",
							     .finish = drop_in_finish}),
			 0);
	assert_int_equal(result.verdict, FIBER_TEST_COMPLETE);
	assert_int_equal(result.schedules, 3);
}

/* -- the search goes on behind a dropped path -- */

static char text[16];
static bool drops;     /* or count */
static unsigned first; /* of the letters */
static unsigned *good;

static void *log_twice(void *letter)
{
	strncat(text, letter, 1);
	fiber_test_point("between");
	strncat(text, letter, 1);
	return NULL;
}

/* Fibers a, b, c, or two of them; the schedules in which "c" comes before the first "b" are not wanted. */
static void some_fibers(void *arg)
{
	static char letters[][2] = {"a", "b", "c"};
	struct fiber *f[3];
	unsigned i;

	(void)arg;
	text[0] = 0;
	for (i = first; i < 3; i++)
		fiber_spawn(log_twice, letters[i], &f[i]);
	for (i = first; i < 3; i++) {
		fiber_join(f[i], NULL, FIBER_FOREVER);
		if (drops)
			fiber_test_assume(
				!strchr(text, 'c') ||
				(strchr(text, 'b') && strchr(text, 'b') < strchr(text, 'c')));
	}
}

static void count_good(void *arg)
{
	(void)arg;
	*good += strchr(text, 'b') < strchr(text, 'c');
}

static void expect_those_that_are_not_dropped(const char *strategy, unsigned preemptions,
					      unsigned flags)
{
	struct fiber_test_options o = {.strategy = strategy,
				       .preemptions = preemptions,
				       .time_limit = -1,
				       .flags = flags,
				       .finish = count_good};
	uint64_t all;
	unsigned wanted;

	drops = false;
	*good = 0;
	o.flags = 0;
	assert_int_equal(explore(some_fibers, NULL, o), 0);
	assert_int_equal(result.verdict, FIBER_TEST_COMPLETE);
	all = result.schedules;
	wanted = *good - 2; /* the first schedule, which is run twice, is a good one */
	drops = true;
	*good = 0;
	o.flags = flags;
	assert_int_equal(explore(some_fibers, NULL, o), 0);
	assert_int_equal(result.verdict, FIBER_TEST_COMPLETE);
	assert_true(dropped > 0 && wanted > 0);
	assert_true(result.schedules + dropped <= all);
	if (result.schedules != wanted && result.schedules != wanted + 2)
		fail_msg("%s: %llu schedules, not %u or %u", strategy,
			 (unsigned long long)result.schedules, wanted, wanted + 2);
	assert_true(*good >= result.schedules);
}

static void test_search_goes_on_behind_what_is_dropped(void **state)
{
	(void)state;
	first = 0;
	expect_those_that_are_not_dropped("exhaustive", 1, 0);
	expect_those_that_are_not_dropped("exhaustive", 1, FIBER_TEST_ISOLATE);
	first = 1;
	expect_those_that_are_not_dropped("exhaustive", 0, 0);
	expect_those_that_are_not_dropped("bound", 0, 0);
}

/* -- numbers -- */

static void even_only(void *arg)
{
	const unsigned a = fiber_test_choose(10, "a");

	another_fiber_drops(NULL);
	fiber_test_assume(a % 2 == 0);
	if (arg)
		fiber_test_assert(a != 4);
}

static void test_numbers_of_schedules_are_the_same_for_any_jobs(void **state)
{
	uint64_t schedules = 0, failed = 0;
	unsigned jobs;
	bool isolated;

	(void)state;
	for (jobs = 1; jobs <= 3; jobs++) {
		for (isolated = false;; isolated = true) {
			struct fiber_test_options o = {.schedules = 300,
						       .jobs = jobs,
						       .flags = isolated ? FIBER_TEST_ISOLATE : 0};

			assert_int_equal(explore(even_only, NULL, o), 0);
			assert_int_equal(result.schedules + dropped, 300);
			assert_true(dropped > 100 && result.schedules > 50);
			schedules = schedules ? schedules : result.schedules;
			assert_int_equal(result.schedules, schedules);
			assert_int_equal(explore(even_only, "fails", o), 1);
			assert_int_equal(result.verdict, FIBER_TEST_FAILED);
			assert_true(result.failed > 1);
			failed = failed ? failed : result.failed;
			assert_int_equal(result.failed, failed);
			if (isolated)
				break;
		}
	}
}

/* The schedule from which strategies learn is dropped with some of these seeds. */
static void test_first_schedule_may_be_dropped(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 20; seed++) {
		struct fiber_test_options o = {.schedules = 60, .seed = seed};

		assert_int_equal(explore(even_only, NULL, o), 0);
		assert_int_equal(result.schedules + dropped, 60);
	}
}

static void test_keep_going_goes_on_behind_both(void **state)
{
	(void)state;
	assert_int_equal(explore(even_only, "fails",
				 (struct fiber_test_options){.schedules = 300,
							     .flags = FIBER_TEST_KEEP_GOING}),
			 1);
	assert_true(dropped > 100);
	assert_true(result.schedules > 50 && result.schedules + dropped < 300);
}

/* -- faults -- */

static void second_fault_is_not_wanted(void *arg)
{
	fiber_test_fault("first");
	fiber_test_assume(!fiber_test_fault("second"));
	fiber_test_assert(!fiber_test_fault("third") || !arg);
}

static void test_each_fault_goes_on_behind_a_dropped_one(void **state)
{
	struct fiber_test_options o = {.strategy = "each-fault", .faults = FIBER_TEST_FAULT_ALL};

	(void)state;
	assert_int_equal(explore(second_fault_is_not_wanted, NULL, o), 0);
	assert_int_equal(result.schedules, 4); /* none, the first, the third, no other one */
	assert_int_equal(dropped, 1);
	assert_int_equal(explore(second_fault_is_not_wanted, "fails", o), 1);
	assert_int_equal(result.failed, 4);
}

/* -- all of them -- */

static void drop(void *arg)
{
	fiber_test_choose(3, "value");
	fiber_test_fault("fault");
	fiber_test_assume(false);
	(void)arg;
}

static void test_test_that_drops_all_ends_and_says_it(void **state)
{
	static const char *const strategies[] = {NULL, "exhaustive", "bound", "each-fault", "surw"};
	static const char *const reach[] = {"never", NULL};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof strategies / sizeof *strategies; i++) {
		struct fiber_test_options o = {.strategy = strategies[i],
					       .schedules = 50,
					       .jobs = 1 + i % 2,
					       .flags = i == 4 ? FIBER_TEST_ISOLATE : 0,
					       .reach = reach};

		assert_int_equal(explore(drop, NULL, o), 1);
		assert_int_equal(result.verdict, FIBER_TEST_UNREACHED);
		assert_int_equal(result.schedules, 0);
		assert_non_null(strstr(result.message, "fiber_test_assume() dropped every "
						       "schedule: "));
		assert_string_equal(result.token, "");
	}
	assert_non_null(strstr(result.message, ": 50 of 50"));
}

/* What only dropped schedules reach is not reached. */
static void reach_and_drop(void *arg)
{
	(void)arg;
	if (fiber_test_choose(2, "value")) {
		fiber_test_reached("dropped");
		fiber_test_assume(false);
	}
	fiber_test_reached("good");
}

static void test_dropped_schedule_reaches_nothing(void **state)
{
	static const char *const reach[] = {"good", "dropped", NULL};

	(void)state;
	assert_int_equal(
		explore(reach_and_drop, NULL,
			(struct fiber_test_options){.strategy = "exhaustive", .reach = reach}),
		1);
	assert_int_equal(result.verdict, FIBER_TEST_UNREACHED);
	assert_string_equal(result.message, "\"dropped\" was never reached");
}

/* -- replay -- */

static bool rejects;

static void fails_or_is_dropped(void *arg)
{
	const unsigned seen = fiber_test_choose(5, "value");

	(void)arg;
	fiber_test_assume(seen != 3 || !rejects);
	fiber_test_assert(seen != 3);
}

/* In a child: its exit status; what it wrote to stderr is in text. */
static int replay(const char *token, char output[1024])
{
	const char *why;
	int ends[2], status;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDERR_FILENO);
		fib_setting_set("replay", token, &why);
		explore(fails_or_is_dropped, NULL, (struct fiber_test_options){0});
		_exit(77);
	}
	close(ends[1]);
	while ((got = read(ends[0], output + n, 1023 - n)) > 0)
		n += (size_t)got;
	output[n] = 0;
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_replay_of_a_dropped_schedule_says_it_in_one_line(void **state)
{
	char output[1024];

	(void)state;
	assert_int_equal(explore(fails_or_is_dropped, NULL, (struct fiber_test_options){0}), 1);
	assert_int_equal(replay(result.token, output), 1);
	assert_non_null(strstr(output, "fiber-test: test: failed: seen != 3\n"));
	rejects = true;
	assert_int_equal(replay(result.token, output), 0);
	assert_string_equal(output, "fiber-test: test: fiber_test_assume() drops the schedule of "
				    "the token after 1 choice\n");
}

/* More deviations than a token holds: its seed and number, from which a replay learns again. */
static void many_choices(void *arg)
{
	const unsigned bad = fiber_test_choose(2, "drop");
	unsigned i, sum = 0;

	for (i = 0; i < 90; i++)
		sum += fiber_test_choose(2, "bit");
	fiber_test_assume(!bad);
	fiber_test_assert(sum < 48 || !arg);
}

static void test_numbered_token_is_replayed_where_the_first_schedule_is_dropped(void **state)
{
	uint64_t seed;
	unsigned numbered = 0;

	(void)state;
	for (seed = 1; seed <= 12; seed++) {
		struct fiber_test_options o = {.seed = seed, .strategy = "surw"};
		const char *why;
		int status;
		pid_t pid;

		assert_int_equal(fib_setting_set("minimize", "0", &why), 0);
		assert_int_equal(explore(many_choices, "fails", o), 1);
		numbered += result.token[9] == '1';
		fflush(NULL);
		pid = fork();
		if (pid == 0) {
			assert_non_null(freopen("/dev/null", "w", stderr));
			fib_setting_set("replay", result.token, &why);
			explore(many_choices, "fails", o);
			_exit(77);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(WEXITSTATUS(status), 1);
	}
	fib_setting_set("minimize", "1", &(const char *){NULL});
	assert_true(numbered > 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dropped_schedule_is_not_counted),
		cmocka_unit_test(test_any_fiber_drops_and_the_last_path_too),
		cmocka_unit_test(test_finish_drops),
		cmocka_unit_test(test_search_goes_on_behind_what_is_dropped),
		cmocka_unit_test(test_numbers_of_schedules_are_the_same_for_any_jobs),
		cmocka_unit_test(test_first_schedule_may_be_dropped),
		cmocka_unit_test(test_keep_going_goes_on_behind_both),
		cmocka_unit_test(test_each_fault_goes_on_behind_a_dropped_one),
		cmocka_unit_test(test_test_that_drops_all_ends_and_says_it),
		cmocka_unit_test(test_dropped_schedule_reaches_nothing),
		cmocka_unit_test(test_replay_of_a_dropped_schedule_says_it_in_one_line),
		cmocka_unit_test(
			test_numbered_token_is_replayed_where_the_first_schedule_is_dropped),
	};

	good = mmap(NULL, sizeof *good, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (good == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
