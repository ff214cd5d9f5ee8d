/* SPDX-License-Identifier: MIT */
/*
 * test_exit.c - a fiber's exit: first handlers, then destructors, then the joiner
 *
 * Each call appends one letter to a diary, which the joiner reads.
 */
#include "carriers.h"

#include <errno.h>
#include <stdatomic.h>

#define LETTERS 128

struct diary {
	_Atomic size_t length;
	char text[LETTERS];
	fiber_key_t key; /* for tests that need a key */
	unsigned left;	 /* how often a destructor sets its value again */
	struct fiber *self;
	_Atomic bool wrong;
};

/* Called only in the fiber that exits; the joiner reads afterwards. */
static void note(struct diary *d, char letter)
{
	const size_t n = d->length++;

	if (n < LETTERS - 1)
		d->text[n] = letter;
}

static void note_a(void *d)
{
	note(d, 'a');
}

static void note_b(void *d)
{
	note(d, 'b');
}

static void note_c(void *d)
{
	note(d, 'c');
}

static void note_destroyed(void *d)
{
	note(d, 'D');
}

/* Run fn as a fiber beside others; returns how it exited. */
static struct fiber_result end_of(fiber_fn *fn, struct diary *d)
{
	struct fiber_runtime *const rt = carriers_start();
	struct fiber_result result = {NULL, 1};

	if (fiber_runtime_spawn(rt, NULL, fn, d, &d->self) < 0 ||
	    fiber_join(d->self, &result, FIBER_FOREVER) < 0)
		d->wrong = true;
	carriers_finish(rt);
	return result;
}

/* -- handlers -- */

static void add_three(struct diary *d)
{
	if (fiber_at_exit(note_a, d) || fiber_at_exit(note_b, d) || fiber_at_exit(note_c, d))
		d->wrong = true;
}

static void *returns(void *arg)
{
	add_three(arg);
	note(arg, '.');
	return (void *)1;
}

static void *exits(void *arg)
{
	add_three(arg);
	note(arg, '.');
	fiber_exit((void *)2);
}

static void *fails(void *arg)
{
	add_three(arg);
	note(arg, '.');
	fiber_fail(-EIO, "for a reason");
}

static void test_exit_handlers_run_last_first_whatever_the_way_out(void **state)
{
	fiber_fn *const ways[] = {returns, exits, fails};
	const intptr_t values[] = {1, 2, 0};

	(void)state;
	for (size_t i = 0; i < COUNT(ways); i++) {
		struct diary d = {0};
		const struct fiber_result r = end_of(ways[i], &d);

		assert_false(d.wrong);
		assert_string_equal(d.text, ".cba");
		assert_int_equal((intptr_t)r.value, values[i]);
		assert_int_equal(r.error, i == 2 ? -EIO : 0);
	}
}

static void wait_a_while(void *arg)
{
	struct diary *d = arg;

	note(d, 'w');
	for (int i = 0; i < 10; i++)
		if (fiber_yield() < 0)
			d->wrong = true;
	if (fiber_sleep(MS) < 0 || fiber_self() != d->self || fiber_state(d->self) != FIBER_RUNNING)
		d->wrong = true;
	note(d, 'W');
}

static void add_another(void *arg)
{
	struct diary *d = arg;

	note(d, 'n');
	if (fiber_at_exit(note_b, d) || fiber_at_exit(wait_a_while, d))
		d->wrong = true;
}

static void *with_handlers_that_wait(void *arg)
{
	struct diary *d = arg;

	if (fiber_at_exit(note_a, d) || fiber_at_exit(add_another, d) ||
	    fiber_at_exit(wait_a_while, d))
		d->wrong = true;
	return NULL;
}

static void test_exit_handlers_may_wait_and_add_handlers(void **state)
{
	struct diary d = {0};

	(void)state;
	end_of(with_handlers_that_wait, &d);
	assert_false(d.wrong);
	assert_string_equal(d.text, "wWnwWba");
}

/* -- exiting again inside a handler -- */

static void exit_again(void *arg)
{
	note(arg, 'x');
	fiber_exit((void *)77);
}

static void fail_again(void *arg)
{
	note(arg, 'f');
	fiber_fail(-EPIPE, "in a handler");
}

static void *exits_in_a_handler(void *arg)
{
	if (fiber_at_exit(note_a, arg) || fiber_at_exit(exit_again, arg) ||
	    fiber_at_exit(note_b, arg))
		((struct diary *)arg)->wrong = true;
	return (void *)1;
}

static void *fails_in_a_handler(void *arg)
{
	if (fiber_at_exit(note_a, arg) || fiber_at_exit(exit_again, arg) ||
	    fiber_at_exit(fail_again, arg) || fiber_at_exit(note_b, arg))
		((struct diary *)arg)->wrong = true;
	fiber_fail(-EIO, "before");
}

static void test_exit_in_a_handler_leaves_it_and_goes_on_with_the_next(void **state)
{
	struct diary d = {0}, e = {0};
	struct fiber_result r;

	(void)state;
	r = end_of(exits_in_a_handler, &d);
	assert_false(d.wrong);
	assert_string_equal(d.text, "bxa");
	assert_int_equal((intptr_t)r.value, 77);
	assert_int_equal(r.error, 0);
	/* The last error counts, and an exit does not clear it. */
	r = end_of(fails_in_a_handler, &e);
	assert_false(e.wrong);
	assert_string_equal(e.text, "bfxa");
	assert_int_equal((intptr_t)r.value, 77);
	assert_int_equal(r.error, -EPIPE);
}

/* -- values and their destructors -- */

static void look_at_the_value(void *arg)
{
	struct diary *d = arg;

	note(d, fiber_getspecific(d->key) == d ? 'v' : '-');
}

static void *with_a_value(void *arg)
{
	struct diary *d = arg;

	if (fiber_getspecific(d->key) || fiber_setspecific(d->key, d) ||
	    fiber_at_exit(look_at_the_value, d))
		d->wrong = true;
	fiber_yield();
	if (fiber_getspecific(d->key) != d)
		d->wrong = true;
	return NULL;
}

static void test_exit_handlers_come_before_destructors(void **state)
{
	struct diary d = {0};

	(void)state;
	assert_int_equal(fiber_key_create(&d.key, note_destroyed), 0);
	end_of(with_a_value, &d);
	assert_false(d.wrong);
	assert_string_equal(d.text, "vD");
	assert_int_equal(fiber_key_delete(d.key), 0);
}

static void set_again(void *arg)
{
	struct diary *d = arg;

	note(d, fiber_getspecific(d->key) ? '?' : 's');
	if (d->left && d->left--)
		if (fiber_setspecific(d->key, d) < 0)
			d->wrong = true;
	if (fiber_sleep(MS) < 0)
		d->wrong = true;
}

static void *with_a_value_that_comes_back(void *arg)
{
	struct diary *d = arg;

	if (fiber_setspecific(d->key, d) < 0)
		d->wrong = true;
	return NULL;
}

static void test_exit_destructors_may_wait_and_set_values_for_four_rounds(void **state)
{
	struct diary few = {.left = 2}, many = {.left = 100};

	(void)state;
	assert_int_equal(fiber_key_create(&few.key, set_again), 0);
	many.key = few.key;
	end_of(with_a_value_that_comes_back, &few);
	end_of(with_a_value_that_comes_back, &many);
	assert_false(few.wrong || many.wrong);
	assert_string_equal(few.text, "sss");
	assert_string_equal(many.text, "ssss");
	assert_int_equal(fiber_key_delete(few.key), 0);
}

static void exit_in_destructor(void *arg)
{
	note(arg, 'x');
	fiber_exit((void *)5);
}

static void *with_destructors_that_exit(void *arg)
{
	struct diary *d = arg;
	fiber_key_t key[6];

	for (size_t i = 0; i < COUNT(key); i++) {
		if (fiber_key_create(&key[i], i % 2 ? note_destroyed : exit_in_destructor) < 0 ||
		    fiber_setspecific(key[i], d) < 0)
			d->wrong = true;
	}
	return (void *)1;
}

static void test_exit_in_a_destructor_skips_no_other(void **state)
{
	struct diary d = {0};
	struct fiber_result r;

	(void)state;
	r = end_of(with_destructors_that_exit, &d);
	assert_false(d.wrong);
	assert_string_equal(d.text, "xDxDxD");
	assert_int_equal((intptr_t)r.value, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exit_handlers_run_last_first_whatever_the_way_out),
		cmocka_unit_test(test_exit_handlers_may_wait_and_add_handlers),
		cmocka_unit_test(test_exit_in_a_handler_leaves_it_and_goes_on_with_the_next),
		cmocka_unit_test(test_exit_handlers_come_before_destructors),
		cmocka_unit_test(test_exit_destructors_may_wait_and_set_values_for_four_rounds),
		cmocka_unit_test(test_exit_in_a_destructor_skips_no_other),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
