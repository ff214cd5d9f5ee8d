/* SPDX-License-Identifier: MIT */
/* test_park.c - a fiber's calls about itself; an unpark token is kept, at most one */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>

#include "base/rand.h"
#include "tests/harness/watchdog.h"
#include "tests/unit/sched/carriers.h"
#include "tests/unit/sched/misuse.h"

#define SECOND INT64_C(1000000000)
#define HOUR   (3600 * SECOND)

static void *token_is_kept(void *arg)
{
	struct fiber *me = fiber_self();

	(void)arg;
	must(fiber_unpark(me) == 0);
	must(fiber_unpark(me) == 0);
	must(fiber_park(FIBER_FOREVER) == 0);
	/* Two tokens count as one. */
	must(fiber_park(fiber_now() - 1) == -ETIMEDOUT);
	/* A token is used even with an expired deadline. */
	must(fiber_unpark(me) == 0);
	must(fiber_park(0) == 0);
	must(fiber_park(0) == -ETIMEDOUT);
	return NULL;
}

static void test_park_keeps_one_token(void **state)
{
	(void)state;
	prove(1, token_is_kept, NULL);
}

static void *until_deadline(void *arg)
{
	int64_t deadline = fiber_after(2000000);

	(void)arg;
	must(fiber_park(deadline) == -ETIMEDOUT);
	must(fiber_now() >= deadline);
	must(!fiber_self()->timers);
	must(fiber_park(INT64_MIN) == -ETIMEDOUT);
	must(fiber_park(-1) == -ETIMEDOUT);
	return NULL;
}

static void test_park_ends_at_its_deadline(void **state)
{
	(void)state;
	prove(1, until_deadline, NULL);
}

static void *unparks(void *arg)
{
	fiber_unpark(arg);
	return NULL;
}

static void *woken_early(void *arg)
{
	(void)arg;
	must(fiber_spawn(unparks, fiber_self(), NULL) == 0);
	must(fiber_park(fiber_after(HOUR)) == 0);
	/* The timer was removed with the wait. */
	must(!fiber_self()->timers);
	must(fib_load(&fib_carrier_self()->timers.nearest) == INT64_MAX);
	return NULL;
}

static void test_park_is_ended_by_unpark_and_takes_its_timer_along(void **state)
{
	(void)state;
	prove(1, woken_early, NULL);
}

static void *pinned(void *arg)
{
	(void)arg;
	must(fiber_can_yield());
	fiber_pin();
	fiber_pin();
	must(!fiber_can_yield());
	must(fiber_yield() == -EPERM);
	must(fiber_park(FIBER_FOREVER) == -EPERM);
	fiber_unpark(fiber_self());
	must(fiber_park(FIBER_FOREVER) == -EPERM);
	fiber_unpin();
	must(fiber_yield() == -EPERM);
	fiber_unpin();
	must(fiber_can_yield());
	must(fiber_yield() == 0);
	must(fiber_park(FIBER_FOREVER) == 0); /* the token is still there */
	return NULL;
}

static void test_park_and_yield_are_refused_while_pinned(void **state)
{
	(void)state;
	prove(1, pinned, NULL);
}

static void test_park_and_yield_are_refused_outside_a_fiber(void **state)
{
	(void)state;
	assert_null(fiber_self());
	assert_null(fiber_runtime_self());
	assert_false(fiber_can_yield());
	assert_int_equal(fiber_yield(), -EPERM);
	assert_int_equal(fiber_park(FIBER_FOREVER), -EPERM);
	fiber_pin();
	fiber_unpin();
	fiber_unpin(); /* no effect here */
}

static void *self_is_me(void *arg)
{
	struct fiber **ret = arg;

	*ret = fiber_self();
	return NULL;
}

static void test_park_self_is_the_running_fiber(void **state)
{
	struct fib_sched s;
	struct fiber *f, *seen = NULL;

	(void)state;
	carriers_start(&s, 2);
	f = carriers_spawn(&s, "self", self_is_me, &seen);
	assert_int_equal(fiber_join(f, NULL, FIBER_FOREVER), 0);
	assert_ptr_equal(f, seen);
	carriers_stop(&s);
}

static void *sleeps(void *arg)
{
	int64_t until = fiber_after(3000000);

	(void)arg;
	must(fiber_sleep(3000000) == 0);
	must(fiber_now() >= until);
	must(fiber_sleep(0) == 0);
	must(fiber_sleep(-5) == 0);
	must(fiber_sleep_until(0) == 0);
	must(fiber_sleep_until(fiber_now()) == 0);
	return NULL;
}

static void test_sleep_lasts_until_its_deadline(void **state)
{
	(void)state;
	prove(1, sleeps, NULL);
	/* The same in a plain thread. */
	assert_null(sleeps(NULL));
}

static void *sleeper(void *arg)
{
	int64_t until = fiber_after((int64_t)(uintptr_t)arg * 100000);

	must(fiber_sleep_until(until) == 0);
	must(fiber_now() >= until);
	return NULL;
}

static void *many_sleep(void *arg)
{
	struct fiber_result result;
	struct fiber *f[50];
	uintptr_t i;

	(void)arg;
	for (i = 0; i < 50; i++)
		must(fiber_spawn(sleeper, (void *)(i * 7 % 50), &f[i]) == 0);
	for (i = 0; i < 50; i++) {
		must(fiber_join(f[i], &result, FIBER_FOREVER) == 0);
		must(!result.value);
	}
	return NULL;
}

static void test_sleep_ends_for_everybody(void **state)
{
	(void)state;
	prove(1, many_sleep, NULL);
	prove(3, many_sleep, NULL);
}

/* -- no wake-up is lost between a parking fiber and those that unpark it -- */

#define WAKES 20000u
static _Atomic unsigned given;

static void *follows(void *arg)
{
	int rc;

	(void)arg;
	while (fib_load(&given) < WAKES) {
		rc = fiber_park(fiber_after((int64_t)(fib_load(&given) % 8) * 5000));
		must(rc == 0 || rc == -ETIMEDOUT);
		must(!fiber_self()->timers);
	}
	return NULL;
}

static void unparked_by_a_thread(unsigned carriers, fiber_fn *fn)
{
	struct fiber_result result = {0};
	struct fib_sched s;
	struct fiber *f;
	unsigned i;

	fib_store(&given, 0);
	carriers_start(&s, carriers);
	f = carriers_spawn(&s, "follower", fn, NULL);
	for (i = 1; i <= WAKES; i++) {
		fib_store(&given, i);
		fiber_unpark(f);
	}
	assert_int_equal(fiber_join(f, &result, FIBER_FOREVER), 0);
	assert_null(result.value);
	carriers_stop(&s);
}

static void test_unpark_from_a_thread_is_never_lost(void **state)
{
	(void)state;
	unparked_by_a_thread(1, follows);
	unparked_by_a_thread(2, follows);
}

/* Announce the park, and then park. The only answer comes at that moment. */
static void *asks(void *arg)
{
	unsigned i;

	for (i = 1; i <= WAKES; i++) {
		fib_store_release(&given, i);
		must(fiber_park(FIBER_FOREVER) == 0);
	}
	return arg;
}

static void test_unpark_at_the_moment_of_parking_is_never_lost(void **state)
{
	struct fiber_result result = {0};
	uint64_t seed = 3;
	struct fib_sched s;
	struct fiber *f;
	unsigned i, n;

	(void)state;
	fib_store(&given, 0);
	carriers_start(&s, 1);
	f = carriers_spawn(&s, "asker", asks, NULL);
	for (i = 1; i <= WAKES; i++) {
		for (n = 1; fib_load_acquire(&given) != i; n++)
			n % 256 ? fib_relax() : fib_os_yield();
		for (n = fib_rand_below(&seed, 40); n; n--)
			(void)fib_load(&given);
		fiber_unpark(f);
	}
	assert_int_equal(fiber_join(f, &result, FIBER_FOREVER), 0);
	assert_null(result.value);
	carriers_stop(&s);
}

static struct fiber *_Atomic players[2];

static void *plays(void *arg)
{
	uintptr_t me = (uintptr_t)arg;
	struct fiber *other;
	unsigned i;

	while (!(other = fib_load_acquire(&players[!me])))
		fiber_yield();
	for (i = 0; i < WAKES; i++) {
		if (me)
			must(fiber_park(FIBER_FOREVER) == 0);
		fiber_unpark(other);
		if (!me)
			must(fiber_park(FIBER_FOREVER) == 0);
	}
	return NULL;
}

static void test_unpark_between_carriers_is_never_lost(void **state)
{
	struct fiber_result result = {0};
	unsigned carriers;
	uintptr_t i;

	(void)state;
	for (carriers = 1; carriers <= 4; carriers *= 2) {
		struct fib_sched s;
		struct fiber *f[2];

		carriers_start(&s, carriers);
		/* Reset both entries before either fiber looks for the other. */
		for (i = 0; i < 2; i++)
			fib_store(&players[i], NULL);
		for (i = 0; i < 2; i++)
			f[i] = carriers_spawn(&s, "player", plays, (void *)i);
		for (i = 0; i < 2; i++)
			fib_store_release(&players[i], f[i]);
		for (i = 0; i < 2; i++) {
			assert_int_equal(fiber_join(f[i], &result, FIBER_FOREVER), 0);
			assert_null(result.value);
		}
		carriers_stop(&s);
	}
}

static void *unpins(void *arg)
{
	fiber_set_name(fiber_self(), "loose");
	fiber_unpin();
	return arg;
}

static void *pins_for_ever(void *arg)
{
	fiber_set_name(fiber_self(), "nailed");
	for (;;)
		fiber_pin();
	return arg;
}

static void unpin_too_often(void)
{
	carriers_run(1, unpins, NULL);
}

static void pin_too_often(void)
{
	carriers_run(1, pins_for_ever, NULL);
}

static const struct misuse misuses[] = {
	{"unpin", unpin_too_often},
	{"pin", pin_too_often},
};

static void test_unpin_of_what_is_not_pinned_aborts_with_one_line(void **state)
{
	(void)state;
	assert_misuse("unpin", "libfiber: fiber_unpin: fiber [0-9]* \"loose\" is not pinned");
	assert_misuse("pin", "libfiber: fiber_pin: fiber [0-9]* \"nailed\" is pinned 65535 times");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_park_keeps_one_token),
		cmocka_unit_test(test_park_ends_at_its_deadline),
		cmocka_unit_test(test_park_is_ended_by_unpark_and_takes_its_timer_along),
		cmocka_unit_test(test_park_and_yield_are_refused_while_pinned),
		cmocka_unit_test(test_park_and_yield_are_refused_outside_a_fiber),
		cmocka_unit_test(test_park_self_is_the_running_fiber),
		cmocka_unit_test(test_sleep_lasts_until_its_deadline),
		cmocka_unit_test(test_sleep_ends_for_everybody),
		cmocka_unit_test(test_unpark_from_a_thread_is_never_lost),
		cmocka_unit_test(test_unpark_at_the_moment_of_parking_is_never_lost),
		cmocka_unit_test(test_unpark_between_carriers_is_never_lost),
		cmocka_unit_test(test_unpin_of_what_is_not_pinned_aborts_with_one_line),
	};

	if (argc > 1)
		return misuse_main(misuses, fib_countof(misuses), argv[1]);
	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
