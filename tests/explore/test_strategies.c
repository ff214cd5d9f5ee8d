/* SPDX-License-Identifier: MIT */
/*
 * test_strategies.c - the strategies have the distributions that they promise
 *
 * A shape says what fibers do: fiber "a" is the test, a letter of a fiber's actions spawns that
 * fiber, "." is a point, "y" a yield. No fiber waits for another one, so the interleavings of their
 * steps can be listed without libfiber-test (shape.h). Each schedule leaves its interleaving, and
 * their frequencies are compared with the promise. Seeds are fixed, so a test always has the same
 * outcome.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include <fiber.h>
#include <fiber/test.h>

#include "strategy/strategy.h"
#include "tests/explore/shape.h"

#define LEARNING 2u /* the schedule from which strategies learn is run twice, and seen too */

static const struct shape twins = {3, {"bc", ".", "."}};
static const struct shape lengths = {3, {"bc", "", "..."}};
static const struct shape nested = {3, {"b.", "c.", ""}};

/* How often each interleaving was seen; shared with the processes that run the schedules. */
static struct seen {
	unsigned counts[SHAPE_MOST];
	unsigned strange; /* not in the list */
} * seen;

/* -- running a shape -- */

static const struct shape *running;
static struct interleavings all; /* of the running shape */
static char text[SHAPE_STEPS];	 /* the steps of this schedule */
static char letters[][2] = {"a", "b", "c", "d", "e", "f"};

static void log_step(void *letter)
{
	strncat(text, letter, 1);
}

static void *act(void *letter)
{
	const char *action = running->actions[*(const char *)letter - 'a'];

	fiber_at_exit(log_step, letter);
	log_step(letter);
	for (; *action; action++) {
		if (*action == '.')
			fiber_test_point("point");
		else if (*action == 'y')
			fiber_yield();
		else
			fiber_spawn(act, letters[*action - 'a'], NULL);
		log_step(letter);
	}
	return NULL;
}

static void run_shape(void *arg)
{
	(void)arg;
	act(letters[0]);
}

static void prepare(void *arg)
{
	(void)arg;
	text[0] = 0;
}

static void count_interleaving(void *arg)
{
	const int i = interleaving_find(&all, text);

	(void)arg;
	if (i < 0)
		seen->strange++;
	else
		seen->counts[i]++;
}

/* Explore without a finding. finish: sees the steps of each schedule in text. */
static struct fiber_test_result explore(const struct shape *shape, const char *strategy,
					uint64_t schedules, void (*finish)(void *))
{
	const struct fiber_test_options options = {.size = sizeof options,
						   .strategy = strategy,
						   .schedules = schedules,
						   .time_limit = -1,
						   .prepare = prepare,
						   .finish = finish};
	struct fiber_test_result result = {.size = sizeof result};

	running = shape;
	memset(seen, 0, sizeof *seen);
	assert_int_equal(fiber_test_explore(run_shape, NULL, &options, &result), 0);
	assert_int_equal(seen->strange, 0);
	return result;
}

/*
 * Pearson's test: the square of how many standard deviations chi-square is from its mean. It is
 * above RARE with one of about 1,000 seeds if the probabilities are right.
 */
#define RARE 16

static double deviation_of(const double probability[], unsigned n, unsigned schedules)
{
	const double freedom = n - 1;
	double chi = 0, expected;
	unsigned i;

	for (i = 0; i < n; i++) {
		expected = probability[i] * schedules;
		assert_true(expected >= 5);
		chi += (seen->counts[i] - expected) * (seen->counts[i] - expected) / expected;
	}
	return (chi - freedom) * (chi - freedom) / (2 * freedom);
}

static double deviation_from(const struct shape *shape, const char *strategy, bool uniform)
{
	static double probability[SHAPE_MOST];
	const unsigned schedules = 40000;
	unsigned i;

	shape_list(shape, &all);
	for (i = 0; i < all.n; i++)
		probability[i] = uniform ? 1.0 / all.n : all.probability[i];
	explore(shape, strategy, schedules, count_interleaving);
	return deviation_of(probability, all.n, schedules + LEARNING);
}

/* -- random, urw -- */

static void test_random_is_uniform_at_each_choice(void **state)
{
	(void)state;
	assert_true(deviation_from(&twins, "random", false) < RARE);
	assert_true(deviation_from(&nested, "random", false) < RARE);
	/* The test can fail: random is not uniform over interleavings. */
	assert_true(deviation_from(&twins, "random", true) > 100 * RARE);
}

static void test_urw_is_uniform_over_interleavings(void **state)
{
	(void)state;
	assert_true(deviation_from(&twins, "urw", true) < RARE);
	assert_true(deviation_from(&lengths, "urw", true) < RARE);
	assert_true(deviation_from(&nested, "urw", true) < RARE);
}

static void choose_twice(void *arg)
{
	const unsigned a = fiber_test_choose(5, "of five");

	(void)arg;
	seen->counts[3 * a + fiber_test_choose(3, "of three")]++;
}

/* Strategy `i` of the portfolio; NULL: it has fewer. */
static const char *of_portfolio(unsigned i)
{
	static struct fib_strategies portfolio;
	static char name[32];
	const char *why;

	assert_int_equal(fib_strategies_parse("portfolio", &portfolio, &why), 0);
	fib_strategies_name(&portfolio, i + 1, name, sizeof name);
	return i < portfolio.n ? name : NULL;
}

static void test_choose_is_uniform_in_each_strategy_of_the_portfolio(void **state)
{
	struct fiber_test_options options = {.size = sizeof options, .schedules = 10000};
	struct fiber_test_result result = {.size = sizeof result};
	double probability[15];
	unsigned i;

	(void)state;
	for (i = 0; i < 15; i++)
		probability[i] = 1.0 / 15;
	for (i = 0; (options.strategy = of_portfolio(i)); i++) {
		memset(seen, 0, sizeof *seen);
		assert_int_equal(fiber_test_explore(choose_twice, NULL, &options, &result), 0);
		assert_true(deviation_of(probability, 15, 10000 + LEARNING) < RARE);
	}
	assert_true(i >= 4);
}

/* -- pct -- */

/* The place of step n of a fiber in text. */
static size_t place_of(char letter, unsigned n)
{
	size_t i;

	for (i = 0; text[i]; i++)
		if (text[i] == letter && n-- == 0)
			break;
	return i;
}

/* The first `depth` of these constraints make a bug of that depth. */
static const struct constraint {
	char before;
	unsigned before_step;
	char after;
	unsigned after_step;
} constraints[] = {{'b', 1, 'c', 1}, {'c', 1, 'b', 2}, {'b', 2, 'c', 2}, {'c', 2, 'b', 3}};

static unsigned depth;

static void count_bug(void *arg)
{
	const struct constraint *c;

	(void)arg;
	for (c = constraints; c < constraints + depth; c++)
		if (place_of(c->before, c->before_step) > place_of(c->after, c->after_step))
			return;
	seen->counts[0]++;
}

static void test_pct_finds_a_bug_of_depth_d_as_often_as_promised(void **state)
{
	static const struct shape shapes[] = {{3, {"bc", "..", ".."}},
					      {3, {".bc", "..", "...."}},
					      {5, {"bdec", "..", "..", ".", "."}}};
	char strategy[8];
	double promised;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		promised = 10000.0 / shapes[i].fibers;
		for (depth = 1; depth <= 4; depth++) {
			snprintf(strategy, sizeof strategy, "pct:%u", depth);
			explore(&shapes[i], strategy, 10000, count_bug);
			assert_true(seen->counts[0] >= promised);
			promised /= shape_steps(&shapes[i]);
		}
	}
}

static void count_alternation(void *arg)
{
	const char *b = strchr(text, 'b');

	(void)arg;
	seen->counts[0]++;
	/* "b" is interrupted by "c". */
	seen->counts[1] += strchr(strchr(b, 'c') ? strchr(b, 'c') : b + strlen(b), 'b') != NULL;
	seen->counts[2] += b < strchr(text, 'c');
}

/* Without changes of priorities a fiber that yields goes on if its priority is the highest. */
static void test_pct_lowers_no_priority_at_a_yield(void **state)
{
	static const struct shape yields = {3, {"bc", "yyy", "yyy"}};

	(void)state;
	explore(&yields, "pct:1", 1000, count_alternation);
	/* Two of them are the learning schedule, which is random. */
	assert_true(seen->counts[1] <= LEARNING);
	assert_true(seen->counts[2] > 300 && seen->counts[2] < 700);
}

/* -- exhaustive, bound -- */

static void test_exhaustive_runs_each_interleaving_once(void **state)
{
	static const struct shape shapes[] = {{3, {"bc", ".", "."}},
					      {3, {"bc", "", "..."}},
					      {3, {"b.", "c.", ""}},
					      {4, {"bcd", "", "", ""}}};
	struct fiber_test_result result;
	unsigned i, k, once;

	(void)state;
	for (i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		shape_list(&shapes[i], &all);
		result = explore(&shapes[i], "exhaustive", 0, count_interleaving);
		assert_int_equal(result.verdict, FIBER_TEST_COMPLETE);
		assert_int_equal(result.schedules, all.n);
		for (k = once = 0; k < all.n; k++) {
			assert_in_range(seen->counts[k], 1, 1 + LEARNING);
			once += seen->counts[k] == 1;
		}
		assert_int_equal(once, all.n - 1); /* but for the learning schedule */
		result = explore(&shapes[i], "bound", 0, count_interleaving);
		assert_int_equal(result.verdict, FIBER_TEST_COMPLETE);
		for (k = 0; k < all.n; k++)
			assert_true(seen->counts[k] >= 1);
	}
}

/* -- no fiber is starved for ever -- */

static void *spin(void *arg)
{
	const _Atomic bool *flag = arg;

	while (!*flag)
		fiber_yield();
	return NULL;
}

static void *set(void *arg)
{
	_Atomic bool *flag = arg;

	fiber_test_point("set");
	*flag = true;
	return NULL;
}

static void set_flag_beside_spinners(void *arg)
{
	_Atomic bool flag = false;
	struct fiber *fibers[3];
	unsigned i;

	(void)arg;
	for (i = 0; i < 3; i++)
		fiber_spawn(i < 2 ? spin : set, &flag, &fibers[i]);
	for (i = 0; i < 3; i++)
		fiber_join(fibers[i], NULL, FIBER_FOREVER);
}

static unsigned longest_with(const char *strategy)
{
	const struct fiber_test_options options = {
		.size = sizeof options, .strategy = strategy, .schedules = 300, .steps = 1000};
	struct fiber_test_result result = {.size = sizeof result};

	assert_int_equal(fiber_test_explore(set_flag_beside_spinners, NULL, &options, &result), 0);
	return result.choices;
}

static void test_no_strategy_starves_a_fiber_for_ever(void **state)
{
	/* These do, for the first quarter of the steps. */
	static const char *const unfair[] = {"pct:1", "pct:3", "pct:20", "bound", "exhaustive"};
	unsigned i;

	(void)state;
	for (i = 0; of_portfolio(i); i++)
		assert_in_range(longest_with(of_portfolio(i)), 4, 999);
	for (i = 0; i < sizeof unfair / sizeof *unfair; i++)
		assert_in_range(longest_with(unfair[i]), 250, 999);
}

static unsigned points; /* of each of the two fibers */

static void *make_points(void *letter)
{
	unsigned i;

	for (i = 0; i < points; i++) {
		fiber_test_point("point");
		log_step(letter);
	}
	return NULL;
}

static void run_points(void *arg)
{
	(void)arg;
	fiber_spawn(make_points, letters[1], NULL);
	fiber_spawn(make_points, letters[2], NULL);
}

/* The order of some choices that are random. */
static void count_tail(void *arg)
{
	unsigned i, tail = 0;

	(void)arg;
	for (i = 16; i < 24; i++)
		tail = 2 * tail + (text[i] == 'b');
	seen->counts[tail]++;
}

static void test_random_choices_after_a_quarter_of_the_steps_differ(void **state)
{
	const struct fiber_test_options options = {.size = sizeof options,
						   .strategy = "pct:1",
						   .schedules = 100,
						   .steps = 60, /* random after 15 */
						   .prepare = prepare,
						   .finish = count_tail};
	struct fiber_test_result result = {.size = sizeof result};
	unsigned i, different = 0;

	(void)state;
	points = 20;
	memset(seen, 0, sizeof *seen);
	assert_int_equal(fiber_test_explore(run_points, NULL, &options, &result), 0);
	for (i = 0; i < 256; i++)
		different += seen->counts[i] != 0;
	assert_true(different > 40);
}

/* What is random is not searched. */
static void test_exhaustive_ends_with_schedules_longer_than_it_searches(void **state)
{
	const struct fiber_test_options options = {.size = sizeof options,
						   .strategy = "exhaustive",
						   .schedules = 100000,
						   .steps = 40, /* random after 10 */
						   .prepare = prepare};
	struct fiber_test_result result = {.size = sizeof result};

	(void)state;
	points = 8;
	assert_int_equal(fiber_test_explore(run_points, NULL, &options, &result), 0);
	assert_int_equal(result.verdict, FIBER_TEST_PASSED);
	assert_in_range(result.schedules, 1000, 99999);
}

/* One schedule of three choices, of 5, 4 and 3 alternatives. Returns whether there is a next one. */
static bool run_made_up(const struct fib_strategies *s, uint64_t number, bool goes_on)
{
	struct fib_step steps[3];
	unsigned i;

	fib_strategies_begin(s, 1, number);
	for (i = 0; i < 3; i++) {
		const uint32_t numbers[5] = {1, 2, 3, 4, 5};
		const struct fib_choice choice = {.kind = goes_on ? FIB_CHOICE_RUN
								  : FIB_CHOICE_CHOOSE,
						  .n = 5 - i,
						  .step = i,
						  .numbers = numbers,
						  .goes_on = goes_on};

		steps[i] = (struct fib_step){(uint8_t)choice.kind, goes_on, (uint16_t)choice.n,
					     (uint16_t)fib_strategies_choose(NULL, &choice)};
	}
	return fib_strategies_end(s, steps, 3);
}

static void test_exhaustive_knows_which_part_was_run(void **state)
{
	struct fib_strategies s;
	const char *why;
	uint64_t number;
	double before = 0;

	(void)state;
	assert_int_equal(fib_strategies_parse("exhaustive", &s, &why), 0);
	fib_exhaustive_limit(0);
	for (number = 1; run_made_up(&s, number, false); number++)
		assert_in_range((uint64_t)(fib_strategies_done(&s) * 60 + 0.5), number, number);
	assert_int_equal(number, 60);
	/* At most one preemption: 1 + 4 + 3 + 2 schedules; the parts are not equally large. */
	fib_exhaustive_limit(1);
	for (number = 1; run_made_up(&s, number, true); number++) {
		assert_true(fib_strategies_done(&s) > before && fib_strategies_done(&s) < 1);
		before = fib_strategies_done(&s);
	}
	assert_int_equal(number, 10);
	fib_exhaustive_limit(0);
	assert_int_equal(fib_strategies_parse("bound", &s, &why), 0);
	assert_true(fib_strategies_done(&s) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_is_uniform_at_each_choice),
		cmocka_unit_test(test_urw_is_uniform_over_interleavings),
		cmocka_unit_test(test_choose_is_uniform_in_each_strategy_of_the_portfolio),
		cmocka_unit_test(test_pct_finds_a_bug_of_depth_d_as_often_as_promised),
		cmocka_unit_test(test_pct_lowers_no_priority_at_a_yield),
		cmocka_unit_test(test_exhaustive_runs_each_interleaving_once),
		cmocka_unit_test(test_no_strategy_starves_a_fiber_for_ever),
		cmocka_unit_test(test_random_choices_after_a_quarter_of_the_steps_differ),
		cmocka_unit_test(test_exhaustive_ends_with_schedules_longer_than_it_searches),
		cmocka_unit_test(test_exhaustive_knows_which_part_was_run),
	};

	seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (seen == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
