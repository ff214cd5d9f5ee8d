/* SPDX-License-Identifier: MIT */
/* test_cleanup.c - cleanup handlers run once, in order, before the fiber counts as ended */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "core/locals.h"
#include "life/cleanup.h"
#include "tests/harness/watchdog.h"
#include "tests/unit/sched/carriers.h"

static char seen[64]; /* written by one fiber at a time */

static void note(const char *what)
{
	strncat(seen, what, sizeof seen - strlen(seen) - 1);
}

static void say(void *arg)
{
	note(arg);
}

static void *nothing_of_its_own(void *arg)
{
	must(!fib_cleanup_needed(fiber_self()));
	must(!fiber_self()->exits && !fiber_self()->locals);
	must(fiber_getspecific(12345) == NULL);
	return arg;
}

static void test_own_is_nothing_at_first(void **state)
{
	(void)state;
	prove(1, nothing_of_its_own, NULL);
}

static void *handlers_by_hand(void *arg)
{
	struct fiber *me = fiber_self();

	must(fiber_at_exit(say, "a") == 0);
	must(fiber_at_exit(say, "b") == 0);
	must(fiber_at_exit(NULL, "c") == -EINVAL);
	must(fib_cleanup_needed(me));
	fib_cleanup_run(me);
	must(!fib_cleanup_needed(me));
	must(strcmp(seen, "ba") == 0);
	fib_cleanup_run(me);
	must(strcmp(seen, "ba") == 0);
	return arg;
}

static void test_own_handlers_run_once_the_last_first(void **state)
{
	(void)state;
	seen[0] = 0;
	prove(1, handlers_by_hand, NULL);
	assert_string_equal(seen, "ba");
}

static void destroyed(void *value)
{
	note(value);
	if (fiber_at_exit(say, "h") < 0)
		note("?");
}

static void *destructor_adds_a_handler(void *arg)
{
	fiber_key_t key[2];

	must(fiber_key_create(&key[0], destroyed) == 0);
	must(fiber_key_create(&key[1], destroyed) == 0);
	must(fiber_setspecific(key[0], "x") == 0);
	must(fiber_setspecific(key[1], "y") == 0);
	must(fiber_at_exit(say, "e") == 0);
	must(strcmp(fiber_getspecific(key[1]), "y") == 0);
	fib_cleanup_run(fiber_self());
	must(!fib_cleanup_needed(fiber_self()));
	must(fiber_getspecific(key[0]) == NULL);
	must(fiber_key_delete(key[0]) == 0);
	must(fiber_key_delete(key[1]) == 0);
	return arg;
}

static void test_own_handler_of_a_destructor_comes_right_after_it(void **state)
{
	(void)state;
	seen[0] = 0;
	prove(1, destructor_adds_a_handler, NULL);
	assert_string_equal(seen, "exhyh");
}

static void *labels_itself(void *arg)
{
	struct fiber *me = fiber_self();

	must(fiber_label("key", NULL) == 0);
	must(!me->labels);
	must(fiber_label("key", "value") == 0);
	must(me->labels && me->labels->owner == fiber_id(me));
	must(fiber_label("a=b", "value") == -EINVAL);
	*(struct fib_layout_labels **)arg = me->labels;
	return NULL;
}

static void test_own_labels_go_when_the_fiber_was_joined(void **state)
{
	struct fib_layout_labels *labels = NULL;

	(void)state;
	prove(1, labels_itself, &labels);
	assert_non_null(labels);
	/* The block is still readable, and has no owner. */
	assert_int_equal(labels->owner, 0);
	assert_int_equal(fiber_label("key", "value"), -EPERM);
}

static void test_own_calls_outside_a_fiber_are_refused(void **state)
{
	fiber_key_t key;

	(void)state;
	assert_int_equal(fiber_at_exit(say, "a"), -EPERM);
	assert_int_equal(fiber_key_create(&key, NULL), 0);
	assert_int_equal(fiber_setspecific(key, &key), -EPERM);
	assert_null(fiber_getspecific(key));
	assert_int_equal(fiber_key_delete(key), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_is_nothing_at_first),
		cmocka_unit_test(test_own_handlers_run_once_the_last_first),
		cmocka_unit_test(test_own_handler_of_a_destructor_comes_right_after_it),
		cmocka_unit_test(test_own_labels_go_when_the_fiber_was_joined),
		cmocka_unit_test(test_own_calls_outside_a_fiber_are_refused),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
