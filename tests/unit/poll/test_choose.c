/* SPDX-License-Identifier: MIT */
/* test_choose.c - how the poller is chosen, and what is printed when another one is used */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fiber.h>

#include "base/compiler.h"
#include "poll/choose.h"
#include "runtime/runtime.h"
#include "tests/harness/watchdog.h"
#include "tests/unit/service/hear.h"

static int forbidden(struct fib_poller **ret)
{
	(void)ret;
	return -EPERM;
}

static int missing(struct fib_poller **ret)
{
	(void)ret;
	return -ENOSYS;
}

static int too_many(struct fib_poller **ret)
{
	(void)ret;
	return -EMFILE;
}

static const struct fib_poller_ops ring = {.name = "ring", .open = forbidden};
static const struct fib_poller_ops gone = {.name = "gone", .open = missing};
static const struct fib_poller_ops full = {.name = "full", .open = too_many};

static struct fib_poller *poller;
static struct fib_poller_note note;

/* The name of the poller that was opened (it is closed again), or NULL. */
static const char *opened(int rc)
{
	const char *name;

	if (rc < 0)
		return NULL;
	name = poller->ops->name;
	poller->ops->close(poller);
	return name;
}

static int choose(const struct fib_poller_ops *first, const struct fib_poller_ops *second,
		  const char *wanted)
{
	const struct fib_poller_ops *const pollers[] = {first, second, &fib_poller_epoll,
							&fib_poller_poll};

	return fib_poller_choose_from(pollers, fib_countof(pollers), wanted, &poller, &note);
}

static void test_choose_takes_the_first_without_a_word(void **state)
{
	(void)state;
	assert_string_equal(opened(choose(&fib_poller_poll, &ring, NULL)), "poll");
	assert_string_equal(note.text, "");
	assert_string_equal(opened(choose(&fib_poller_epoll, &ring, "")), "epoll");
	assert_string_equal(note.text, "");
}

static void test_choose_takes_what_was_named(void **state)
{
	(void)state;
	assert_string_equal(opened(choose(&ring, &gone, "poll")), "poll");
	assert_string_equal(note.text, "");
	assert_string_equal(opened(choose(&ring, &gone, "epoll")), "epoll");
	assert_string_equal(note.text, "");
}

static void test_choose_falls_back_and_says_why(void **state)
{
	(void)state;
	assert_string_equal(opened(choose(&gone, &ring, "ring")), "epoll");
	assert_string_equal(
		note.text,
		"FIBER_POLLER=ring cannot be used here (Operation not permitted), so epoll is");
	assert_string_equal(opened(choose(&gone, &ring, NULL)), "epoll");
	assert_string_equal(note.text,
			    "gone cannot be used here (Function not implemented), so epoll is");
}

static void test_choose_tries_no_other_when_there_is_no_descriptor_left(void **state)
{
	(void)state;
	assert_int_equal(choose(&full, &ring, NULL), -EMFILE);
	assert_int_equal(choose(&ring, &full, NULL), -EMFILE);
	assert_int_equal(choose(&ring, &full, "full"), -EMFILE);
}

static void test_choose_fails_with_the_last_reason_when_nobody_can_be_used(void **state)
{
	static const struct fib_poller_ops *const none[] = {&ring, &gone};

	(void)state;
	assert_int_equal(fib_poller_choose_from(none, 2, NULL, &poller, &note), -ENOSYS);
}

static void test_choose_refuses_a_name_that_nobody_has(void **state)
{
	struct hearing h;
	int rc;

	(void)state;
	hear_begin(&h);
	rc = choose(&ring, &gone, "kqueue");
	assert_true(said(hear_end(&h), "FIBER_POLLER=kqueue: no such poller, it is one of ring, "
				       "gone, epoll, poll"));
	assert_int_equal(rc, -EINVAL);
}

static void test_choose_writes_no_name_that_a_terminal_obeys(void **state)
{
	char wanted[500] = "\x1b]0;owned\a\xc2\x9b", text[2048];
	struct hearing h;

	(void)state;
	memset(wanted + strlen(wanted), 'x', sizeof wanted - 1 - strlen(wanted));
	hear_begin(&h);
	assert_int_equal(choose(&ring, &gone, wanted), -EINVAL);
	snprintf(text, sizeof text, "%s", hear_end(&h));
	assert_true(said(text, "FIBER_POLLER=\\x1b]0;owned\\x07\\xc2\\x9bxxx"));
	assert_true(said(text, ": no such poller, it is one of ring, "));
	assert_true(strlen(text) < 200);
	assert_null(strpbrk(text, "\x1b\a\xc2\x9b"));
}

/* -- what a program sees -- */

static const char *runs(const char *setting, int *ret_rc)
{
	const struct fiber_runtime_options o = {
		.size = sizeof o, .carriers = 1, .control_path = ""};
	struct fiber_runtime *rt = NULL;
	const char *name = NULL;

	setenv("FIBER_POLLER", setting, 1);
	*ret_rc = fiber_runtime_start(&o, &rt);
	if (*ret_rc == 0) {
		name = rt->sched.poller->ops->name;
		assert_string_equal(rt->sched.poller_note.text, "");
		assert_int_equal(fiber_runtime_finish(rt, FIBER_FOREVER), 0);
	}
	unsetenv("FIBER_POLLER");
	return name;
}

static void test_choose_obeys_the_environment_when_a_runtime_starts(void **state)
{
	int rc;

	(void)state;
	assert_string_equal(runs("poll", &rc), "poll");
	assert_string_equal(runs("epoll", &rc), "epoll");
	assert_non_null(runs("", &rc));
}

static void test_choose_lets_no_runtime_start_with_a_poller_that_is_none(void **state)
{
	struct hearing h;
	const char *name;
	int rc;

	(void)state;
	hear_begin(&h);
	name = runs("select", &rc);
	assert_true(said(hear_end(&h), "FIBER_POLLER=select: no such poller, it is one of "));
	assert_null(name);
	assert_int_equal(rc, -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choose_takes_the_first_without_a_word),
		cmocka_unit_test(test_choose_takes_what_was_named),
		cmocka_unit_test(test_choose_falls_back_and_says_why),
		cmocka_unit_test(test_choose_tries_no_other_when_there_is_no_descriptor_left),
		cmocka_unit_test(test_choose_fails_with_the_last_reason_when_nobody_can_be_used),
		cmocka_unit_test(test_choose_refuses_a_name_that_nobody_has),
		cmocka_unit_test(test_choose_writes_no_name_that_a_terminal_obeys),
		cmocka_unit_test(test_choose_obeys_the_environment_when_a_runtime_starts),
		cmocka_unit_test(test_choose_lets_no_runtime_start_with_a_poller_that_is_none),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
