/* SPDX-License-Identifier: MIT */
/* test_idle_fibers.c - a fiber with FIBER_IDLE runs in a schedule when no other fiber can */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fiber.h>
#include <fiber/test.h>

#define MS   INT64_C(1000000)
#define HOUR (INT64_C(3600000) * MS)

static const struct fiber_test_options options = {.size = sizeof options, .schedules = 300};

static struct fiber *spawn_idle(fiber_fn *fn, void *arg)
{
	const struct fiber_attr attr = {.size = sizeof attr, .flags = FIBER_IDLE};
	struct fiber *fiber;

	fiber_test_assert(fiber_spawn_attr(&attr, fn, arg, &fiber) == 0);
	return fiber;
}

struct shared {
	struct fiber_event event;
	int busy, turns;
	bool over;
};

static void *clean_up(void *arg)
{
	struct shared *s = arg;

	fiber_test_assert(!s->busy);
	fiber_event_wait(&s->event, FIBER_FOREVER);
	fiber_test_assert(!s->busy);
	fiber_yield();
	s->turns++;
	return NULL;
}

static void *work(void *arg)
{
	struct shared *s = arg;

	s->busy++;
	fiber_yield();
	fiber_event_set(&s->event);
	fiber_yield();
	s->busy--;
	return NULL;
}

static void clean_up_beside_work(void *arg)
{
	struct shared s = {.turns = 0};
	struct fiber *idle, *workers[2];

	(void)arg;
	idle = spawn_idle(clean_up, &s);
	fiber_spawn(work, &s, &workers[0]);
	fiber_spawn(work, &s, &workers[1]);
	fiber_join(workers[0], NULL, FIBER_FOREVER);
	fiber_join(workers[1], NULL, FIBER_FOREVER);
	fiber_join(idle, NULL, FIBER_FOREVER);
	fiber_test_assert(s.turns == 1);
}

static void test_idle_fiber_runs_after_all_others_and_is_woken(void **state)
{
	(void)state;
	fiber_test(clean_up_beside_work, NULL, &options);
}

static void *clean_for_ever(void *arg)
{
	struct shared *s = arg;

	while (!s->over) {
		s->turns++;
		fiber_yield();
	}
	return NULL;
}

static void sleep_beside(void *arg)
{
	struct shared s = {.turns = 0};
	struct fiber *idle[2] = {spawn_idle(clean_for_ever, &s), spawn_idle(clean_for_ever, &s)};
	const int64_t start = fiber_now();

	(void)arg;
	for (int i = 0; i < 4; i++)
		fiber_sleep(HOUR);
	fiber_test_assert(fiber_now() - start >= 4 * HOUR);
	fiber_test_assert(s.turns >= 4);
	s.over = true;
	fiber_join(idle[0], NULL, FIBER_FOREVER);
	fiber_join(idle[1], NULL, FIBER_FOREVER);
}

static void test_idle_fibers_that_yield_for_ever_do_not_stop_the_clock(void **state)
{
	(void)state;
	fiber_test(sleep_beside, NULL, &options);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle_fiber_runs_after_all_others_and_is_woken),
		cmocka_unit_test(test_idle_fibers_that_yield_for_ever_do_not_stop_the_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
