/* SPDX-License-Identifier: MIT */
/* test_spawn_full.c - at the limit of fibers every way to make one fails and leaves nothing */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include <fiber.h>

#include "core/registry.h"
#include "life/live_count.h"
#include "runtime/runtime.h"
#include "tests/harness/watchdog.h"
#include "watch/tick.h"

static const struct fiber_runtime_options options = {
	.size = sizeof options, .carriers = 2, .control_path = ""};

static void *park(void *arg)
{
	fiber_park(FIBER_FOREVER);
	return arg;
}

struct full {
	struct fiber **fibers;
	uint64_t count, alive, live;
	int last, wrong;
};

static void *fill(void *arg)
{
	struct full *full = arg;
	struct fib_sched *s = &fiber_runtime_self()->sched;
	struct fiber *const mark = (struct fiber *)full;
	struct fiber *fiber = mark;
	struct fiber_group group;
	int i;

	while ((full->last = fiber_spawn(park, NULL, &full->fibers[full->count])) == 0)
		full->count++;
	full->live = fib_live_count(s);
	full->alive = fib_tick_fibers();
	fiber_group_init(&group);
	for (i = 0; i < 100; i++) {
		full->wrong += fiber_spawn(park, NULL, &fiber) != -EAGAIN;
		full->wrong += fiber_spawn(park, NULL, NULL) != -EAGAIN;
		full->wrong += fiber_create(NULL, park, NULL, &fiber) != -EAGAIN;
		full->wrong += fiber_group_spawn(&group, park, NULL) != -EAGAIN;
	}
	full->wrong += fiber != mark || fiber_group_live(&group) != 0;
	full->wrong += fib_live_count(s) != full->live || fib_tick_fibers() != full->alive;
	return NULL;
}

static void test_spawn_with_the_registry_full_is_refused_and_leaves_nothing(void **state)
{
	struct full full = {.count = 0};
	struct fiber_runtime *rt;
	struct fiber *fiber;
	uint64_t i;

	(void)state;
	assert_int_equal(fiber_runtime_start(&options, &rt), 0);
	/* Spawning the first fiber commits the first records. */
	assert_int_equal(fiber_runtime_spawn(rt, NULL, park, NULL, &fiber), 0);
	fiber_unpark(fiber);
	assert_int_equal(fiber_join(fiber, NULL, FIBER_FOREVER), 0);
	fiber_registry.capacity = fib_registry_committed();
	full.fibers = calloc(fiber_registry.capacity + 1, sizeof(struct fiber *));
	assert_non_null(full.fibers);
	assert_int_equal(fiber_runtime_spawn(rt, NULL, fill, &full, &fiber), 0);
	assert_int_equal(fiber_join(fiber, NULL, FIBER_FOREVER), 0);
	assert_int_equal(full.last, -EAGAIN);
	/* The other carrier may cache a few records. */
	assert_true(full.count > fiber_registry.capacity / 2);
	assert_int_equal(full.alive, full.count + 1);
	assert_int_equal(full.live, full.count + 1);
	assert_int_equal(full.wrong, 0);
	for (i = 0; i < full.count; i++) {
		fiber_unpark(full.fibers[i]);
		assert_int_equal(fiber_join(full.fibers[i], NULL, FIBER_FOREVER), 0);
	}
	assert_int_equal(fiber_runtime_spawn(rt, NULL, park, NULL, &fiber), 0);
	fiber_unpark(fiber);
	assert_int_equal(fiber_join(fiber, NULL, FIBER_FOREVER), 0);
	assert_int_equal(fib_tick_fibers(), 0);
	assert_int_equal(fiber_runtime_finish(rt, FIBER_FOREVER), 0);
	free(full.fibers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spawn_with_the_registry_full_is_refused_and_leaves_nothing),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
