/* SPDX-License-Identifier: MIT */
/* test_history.c - histories that a test records are checked when the schedule ends */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static void expect_failed(fiber_test_fn *fn, void *arg, const char *message)
{
	assert_int_equal(explore(fn, arg, (struct fiber_test_options){0}), 1);
	assert_int_equal(result.verdict, FIBER_TEST_FAILED);
	assert_string_equal(result.message, message);
}

static void expect_nonlinear(fiber_test_fn *fn, void *arg)
{
	assert_int_equal(explore(fn, arg, (struct fiber_test_options){0}), 1);
	assert_int_equal(result.verdict, FIBER_TEST_NONLINEAR);
	assert_string_equal(result.message, "no order of the calls explains the history");
	assert_string_equal(result.file, "");
}

/* -- a queue, right or with a bug -- */

enum { PUT, TAKE };

struct queue {
	struct fiber_mutex lock;
	bool locks;
	int64_t value[8];
	unsigned first, n;
};

static void put(struct queue *q, int64_t value)
{
	const unsigned call = fiber_test_call(PUT, 0, value);

	if (q->locks)
		fiber_mutex_lock(&q->lock, FIBER_FOREVER);
	q->value[q->first + q->n] = value;
	fiber_test_point("put");
	q->n++;
	if (q->locks)
		fiber_mutex_unlock(&q->lock);
	fiber_test_return(call, 0);
}

static void take(struct queue *q)
{
	const unsigned call = fiber_test_call(TAKE, 0, 0);
	int64_t value = -1;

	if (q->locks)
		fiber_mutex_lock(&q->lock, FIBER_FOREVER);
	if (q->n) {
		value = q->value[q->first];
		fiber_test_point("take");
		q->first++;
		q->n--;
	}
	if (q->locks)
		fiber_mutex_unlock(&q->lock);
	fiber_test_return(call, value);
}

struct state {
	int64_t n, value[8];
};

static bool step(void *state, const struct fiber_test_call *call)
{
	struct state *s = state;
	int64_t value = -1;

	if (call->op == PUT) {
		s->value[s->n++] = call->arg;
		return true;
	}
	if (s->n) {
		value = s->value[0];
		memmove(s->value, s->value + 1, 7 * sizeof *s->value);
		s->n--;
	}
	return !call->end || call->result == value;
}

static int print(const struct fiber_test_call *call, char *text, size_t size)
{
	if (call->op == PUT)
		return snprintf(text, size, "put(%d)\n", (int)call->arg);
	if (!call->end)
		return snprintf(text, size, "take()");
	return snprintf(text, size, "take() = %d", (int)call->result);
}

static const struct fiber_test_model model = {sizeof model, sizeof(struct state), NULL, step, print,
					      false};

static void *take_one(void *arg)
{
	take(arg);
	return NULL;
}

/* arg: whether it locks */
static void use_queue(void *arg)
{
	struct queue q = {.locks = *(const bool *)arg};
	struct fiber *a, *b;

	fiber_test_history(&model);
	put(&q, 1);
	put(&q, 2);
	fiber_spawn(take_one, &q, &a);
	fiber_spawn(take_one, &q, &b);
	fiber_join(a, NULL, FIBER_FOREVER);
	fiber_join(b, NULL, FIBER_FOREVER);
	take(&q);
}

static bool yes = true, no = false;

static void test_queue_with_a_lock_is_linear_in_every_schedule(void **state)
{
	(void)state;
	assert_int_equal(
		explore(use_queue, &yes,
			(struct fiber_test_options){.strategy = "exhaustive", .preemptions = 2}),
		0);
	assert_int_equal(result.verdict, FIBER_TEST_COMPLETE);
	assert_true(result.schedules > 100);
}

static void test_queue_without_a_lock_is_nonlinear_with_every_strategy(void **state)
{
	static const char *const strategies[] = {"random", "pct",   "pos",
						 "urw",	   "bound", "exhaustive"};

	(void)state;
	for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
		assert_int_equal(explore(use_queue, &no,
					 (struct fiber_test_options){.strategy = strategies[i]}),
				 1);
		assert_int_equal(result.verdict, FIBER_TEST_NONLINEAR);
	}
	expect_nonlinear(use_queue, &no);
	assert_true(result.deviations >= 1 && result.deviations <= 3);
}

/* -- calls that have not returned -- */

static void *put_without_an_end(void *arg)
{
	fiber_test_call(PUT, 0, 5);
	return arg;
}

/* Take 5 before or after it is put: with a result of *arg. */
static void take_during_a_put(void *arg)
{
	unsigned call;

	fiber_test_history(&model);
	fiber_spawn(put_without_an_end, NULL, NULL);
	fiber_test_settle();
	call = fiber_test_call(TAKE, 0, 0);
	fiber_test_return(call, *(const int *)arg);
}

static void test_call_that_has_not_returned_may_have_happened_or_not(void **state)
{
	int taken = 5, nothing = -1, other = 6;

	(void)state;
	assert_int_equal(explore(take_during_a_put, &taken, (struct fiber_test_options){0}), 0);
	assert_int_equal(explore(take_during_a_put, &nothing, (struct fiber_test_options){0}), 0);
	expect_nonlinear(take_during_a_put, &other);
}

/* The first take began before the put: it may only happen after it. */
static void takes_without_an_end(void *arg)
{
	unsigned call;

	fiber_test_history(&model);
	fiber_test_call(TAKE, 0, 0);
	call = fiber_test_call(PUT, 0, 5);
	fiber_test_return(call, 0);
	call = fiber_test_call(TAKE, 0, 0);
	fiber_test_return(call, *(const int *)arg);
}

static void test_pending_take_may_have_the_item(void **state)
{
	int taken = 5, nothing = -1;

	(void)state;
	assert_int_equal(explore(takes_without_an_end, &taken, (struct fiber_test_options){0}), 0);
	assert_int_equal(explore(takes_without_an_end, &nothing, (struct fiber_test_options){0}),
			 0);
}

/* -- calls are choices -- */

static void *call_and_return(void *arg)
{
	unsigned *overlaps = arg;
	const unsigned call = fiber_test_call(PUT, 0, 1);

	++*overlaps;
	fiber_test_return(call, 0);
	--*overlaps;
	return NULL;
}

static void *look(void *arg)
{
	if (*(const unsigned *)arg)
		fiber_test_reached("between");
	return NULL;
}

static void one_call(void *arg)
{
	unsigned overlaps = 0;
	struct fiber *a, *b;

	(void)arg;
	fiber_test_history(&model);
	fiber_spawn(call_and_return, &overlaps, &a);
	fiber_spawn(look, &overlaps, &b);
	fiber_join(a, NULL, FIBER_FOREVER);
	fiber_join(b, NULL, FIBER_FOREVER);
}

static void test_another_fiber_may_run_between_call_and_return(void **state)
{
	static const char *const reach[] = {"between", NULL};

	(void)state;
	assert_int_equal(explore(one_call, NULL, (struct fiber_test_options){.reach = reach}), 0);
}

/* -- several histories, prepare and finish -- */

static void call_at_once(unsigned op, int64_t arg, int64_t value)
{
	fiber_test_return(fiber_test_call(op, 0, arg), value);
}

/* Each begins with an empty queue; the last one has a take of *arg. */
static void three_histories(void *arg)
{
	unsigned late;

	fiber_test_history(&model);
	call_at_once(PUT, 1, 0);
	late = fiber_test_call(TAKE, 0, 0);
	fiber_test_history(&model);
	call_at_once(TAKE, 0, -1);
	fiber_test_return(late, 1);
	fiber_test_history(&model);
	call_at_once(PUT, 3, 0);
	call_at_once(TAKE, 0, *(const int *)arg);
}

static void test_each_history_is_checked_by_itself(void **state)
{
	int right = 3, wrong = 1;

	(void)state;
	assert_int_equal(explore(three_histories, &right, (struct fiber_test_options){0}), 0);
	expect_nonlinear(three_histories, &wrong);
}

static void begin_with_an_item(void *arg)
{
	(void)arg;
	fiber_test_history(&model);
	call_at_once(PUT, 9, 0);
}

static void take_it(void *arg)
{
	call_at_once(TAKE, 0, *(const int *)arg);
}

static void test_history_may_begin_in_prepare(void **state)
{
	int right = 9, wrong = 8;

	(void)state;
	assert_int_equal(explore(take_it, &right,
				 (struct fiber_test_options){.prepare = begin_with_an_item}),
			 0);
	assert_int_equal(explore(take_it, &wrong,
				 (struct fiber_test_options){.prepare = begin_with_an_item}),
			 1);
	assert_int_equal(result.verdict, FIBER_TEST_NONLINEAR);
}

static void do_nothing(void *arg)
{
	(void)arg;
}

static void test_history_ends_before_finish(void **state)
{
	(void)state;
	assert_int_equal(explore(do_nothing, NULL,
				 (struct fiber_test_options){.finish = begin_with_an_item}),
			 1);
	assert_string_equal(
		result.message,
		"fiber_test_history: the test has ended and its histories were checked");
}

static void test_history_is_forgotten_with_its_schedule(void **state)
{
	int right = 9;

	/* Or the second schedule would take 9 after 9, 9 were put. */
	(void)state;
	assert_int_equal(explore(take_it, &right,
				 (struct fiber_test_options){.prepare = begin_with_an_item,
							     .schedules = 50}),
			 0);
	assert_int_equal(result.schedules, 50);
}

/* -- misuse and limits -- */

static void wrong_number(void *arg)
{
	fiber_test_history(&model);
	call_at_once(PUT, 1, 0);
	fiber_test_return(*(const unsigned *)arg, 0);
}

static void call_without_a_history(void *arg)
{
	(void)arg;
	fiber_test_call(PUT, 0, 1);
}

static void begin_history(void *arg)
{
	fiber_test_history(arg);
}

static void test_misuse_fails_the_schedule_in_plain_words(void **state)
{
	struct fiber_test_model small = model, no_step = model, large = model;
	unsigned none = 0, next = 2, again = 1;

	(void)state;
	small.size = sizeof small.size;
	no_step.step = NULL;
	large.state_size = (1u << 20) + 1;
	expect_failed(wrong_number, &none, "fiber_test_return: no call has the number 0");
	expect_failed(wrong_number, &next, "fiber_test_return: no call has the number 2");
	expect_failed(wrong_number, &again, "fiber_test_return: call 1 has returned already");
	expect_failed(call_without_a_history, NULL,
		      "fiber_test_call: no history has begun; call fiber_test_history() first");
	expect_failed(begin_history, NULL, "fiber_test_history: the model is NULL");
	expect_failed(begin_history, &no_step, "fiber_test_history: the model has no step");
	expect_failed(begin_history, &small,
		      "fiber_test_history: the model has a wrong size; set size to sizeof(struct "
		      "fiber_test_model)");
	expect_failed(begin_history, &large,
		      "fiber_test_history: the model has a state of more than 1 MiB");
}

static void many_calls(void *arg)
{
	unsigned i;

	fiber_test_history(&model);
	for (i = 0; i < *(const unsigned *)arg; i++)
		call_at_once(TAKE, 0, -1);
}

static void many_histories(void *arg)
{
	unsigned i;

	for (i = 0; i < *(const unsigned *)arg; i++)
		fiber_test_history(&model);
}

static void test_limits_fail_the_schedule_in_plain_words(void **state)
{
	unsigned calls = 10000, too_many_calls = 10001, histories = 64, too_many_histories = 65;

	(void)state;
	assert_int_equal(explore(many_calls, &calls, (struct fiber_test_options){.schedules = 1}),
			 0);
	expect_failed(many_calls, &too_many_calls,
		      "fiber_test_call: more than 10000 calls in a schedule");
	assert_int_equal(
		explore(many_histories, &histories, (struct fiber_test_options){.schedules = 1}),
		0);
	expect_failed(many_histories, &too_many_histories,
		      "fiber_test_history: more than 64 histories in a schedule");
}

/* A state of 1 MiB that is different after each set of calls. */
static bool large_step(void *state, const struct fiber_test_call *call)
{
	*(int64_t *)state |= call->arg;
	return !call->end || call->result == 0;
}

static void large_search(void *arg)
{
	const struct fiber_test_model large = {sizeof large, 1u << 20, NULL,
					       large_step,   NULL,     false};
	unsigned calls[12], i;

	(void)arg;
	fiber_test_history(&large);
	for (i = 0; i < 12; i++)
		calls[i] = fiber_test_call(0, 0, 1 << i);
	for (i = 0; i < 12; i++)
		fiber_test_return(calls[i], 0);
	fiber_test_return(fiber_test_call(0, 0, 0), 1);
}

static void test_search_that_reaches_its_limits_is_no_pass(void **state)
{
	(void)state;
	expect_failed(large_search, NULL,
		      "the search for an order of the calls exceeds its limits: record fewer "
		      "calls, or use by_key; see fiber_test_linearizable(3)");
}

static void test_outside_a_schedule_nothing_is_recorded(void **state)
{
	(void)state;
	fiber_test_history(NULL);
	assert_int_equal(fiber_test_call(PUT, 0, 1), 0);
	fiber_test_return(17, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queue_with_a_lock_is_linear_in_every_schedule),
		cmocka_unit_test(test_queue_without_a_lock_is_nonlinear_with_every_strategy),
		cmocka_unit_test(test_call_that_has_not_returned_may_have_happened_or_not),
		cmocka_unit_test(test_pending_take_may_have_the_item),
		cmocka_unit_test(test_another_fiber_may_run_between_call_and_return),
		cmocka_unit_test(test_each_history_is_checked_by_itself),
		cmocka_unit_test(test_history_may_begin_in_prepare),
		cmocka_unit_test(test_history_ends_before_finish),
		cmocka_unit_test(test_history_is_forgotten_with_its_schedule),
		cmocka_unit_test(test_misuse_fails_the_schedule_in_plain_words),
		cmocka_unit_test(test_limits_fail_the_schedule_in_plain_words),
		cmocka_unit_test(test_search_that_reaches_its_limits_is_no_pass),
		cmocka_unit_test(test_outside_a_schedule_nothing_is_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
