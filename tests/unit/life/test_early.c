/* SPDX-License-Identifier: MIT */
/* test_early.c - fiber_exit and fiber_fail end a fiber from inside nested functions */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "tests/harness/watchdog.h"
#include "tests/unit/sched/carriers.h"

static fib_noinline void exits_below(void *value)
{
	fiber_exit(value);
}

static void *exits(void *arg)
{
	exits_below((void *)7);
	return arg;
}

static void *fails(void *arg)
{
	fiber_fail((int)(intptr_t)arg, "shelf %d is empty", 3);
}

static void *ends_all_kinds(void *arg)
{
	struct fiber_result r = {0};
	struct fiber *f;

	(void)arg;
	must(fiber_spawn(exits, NULL, &f) == 0);
	must(fiber_join(f, &r, FIBER_FOREVER) == 0);
	must(r.value == (void *)7 && r.error == 0);
	must(fiber_spawn(fails, (void *)(intptr_t)EIO, &f) == 0);
	fiber_yield();
	must(!strcmp(f->failure, "shelf 3 is empty"));
	must(fiber_join(f, &r, FIBER_FOREVER) == 0);
	must(r.error == -EIO);
	must(fiber_spawn(fails, NULL, &f) == 0);
	must(fiber_join(f, &r, FIBER_FOREVER) == 0);
	must(r.error == -EINVAL);
	return NULL;
}

static void test_early_end_gives_a_value_or_a_negative_error(void **state)
{
	(void)state;
	prove(1, ends_all_kinds, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_early_end_gives_a_value_or_a_negative_error),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (fib_registry_init() < 0)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
