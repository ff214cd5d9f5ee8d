/* SPDX-License-Identifier: MIT */
/* test_doing.c - what a fiber does that runs, in the words of a finding */
#include <errno.h>
#include <sys/syscall.h>

#include "inspect/model/running.h"
#include "inspect/why/doing.h"
#include "tests/harness/inspect/head.h"
#include "tests/harness/inspect/rows.h"

static int rc;

static int calls(struct ins_source *source, struct ins_running *ret)
{
	(void)source;
	ret->doing = INS_DOING_CALLS;
	ret->call = SYS_fsync;
	return rc;
}

static const struct ins_source_ops ops = {.running = calls};
static struct ins_source source = {.ops = &ops};
static const struct ins_look look = {.source = &source};

static const char *doing(const struct ins_fiber *fiber)
{
	static char text[64];

	return ins_why_doing(&look, fiber, text, sizeof text);
}

static void test_a_fiber_that_runs_has_words(void **state)
{
	struct ins_fiber fiber = rows_fiber(7, "it");

	(void)state;
	rc = 0;
	fiber.row.state = FIBER_RUNNING;
	assert_string_equal(doing(&fiber), "in system call fsync");
	rc = -EPERM;
	assert_string_equal(doing(&fiber), "");
}

/* Its thread is in a call of libfiber's own. */
static void test_a_fiber_that_waits_has_none_pinned_or_not(void **state)
{
	struct ins_fiber fiber = rows_fiber(7, "it");

	(void)state;
	rc = 0;
	assert_string_equal(doing(&fiber), "");
	fiber.row.state = FIBER_RUNNING;
	fiber.row.pins = 1;
	fiber.row.wait_kind = FIB_WAIT_SLEEP;
	assert_string_equal(doing(&fiber), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_fiber_that_runs_has_words),
		cmocka_unit_test(test_a_fiber_that_waits_has_none_pinned_or_not),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
