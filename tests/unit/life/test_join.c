/* SPDX-License-Identifier: MIT */
/* test_join.c - a fiber's end reaches its joiner once; then its record is free */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "tests/harness/watchdog.h"
#include "tests/unit/sched/carriers.h"
#include "tests/unit/sched/misuse.h"

static void *returns(void *arg)
{
	return arg;
}

static void *exits(void *arg)
{
	fiber_exit(arg);
}

static void *fails(void *arg)
{
	fiber_fail((int)(intptr_t)arg, arg ? "disk %d is %s" : NULL, 7, "full");
}

static void *parks(void *arg)
{
	fiber_park(FIBER_FOREVER);
	return arg;
}

static void *joins_all_kinds(void *arg)
{
	struct fiber_result r = {0};
	struct fiber *f;

	(void)arg;
	must(fiber_spawn(returns, (void *)5, &f) == 0);
	must(fiber_join(f, &r, FIBER_FOREVER) == 0);
	must(r.value == (void *)5 && r.error == 0);
	must(fiber_spawn(exits, (void *)6, &f) == 0);
	must(fiber_join(f, &r, FIBER_FOREVER) == 0);
	must(r.value == (void *)6 && r.error == 0);
	must(fiber_spawn(fails, (void *)-ENOSPC, &f) == 0);
	must(fiber_join(f, &r, FIBER_FOREVER) == 0);
	must(r.value == NULL && r.error == -ENOSPC);
	must(fiber_spawn(fails, (void *)0, &f) == 0);
	must(fiber_join(f, &r, FIBER_FOREVER) == 0);
	must(r.error == -EINVAL);
	return NULL;
}

static void test_join_gives_what_the_fiber_returned_or_failed_with(void **state)
{
	(void)state;
	prove(1, joins_all_kinds, NULL);
	prove(2, joins_all_kinds, NULL);
}

static void *joins_late(void *arg)
{
	struct fiber_result r;
	struct fiber *f;

	(void)arg;
	must(fiber_spawn(fails, (void *)-ENOSPC, &f) == 0);
	fiber_yield();
	/* Dead, and the tools can still show it until it is joined. */
	must(fiber_state(f) == FIBER_DEAD);
	must(fiber_id(f) != 0);
	must(!strcmp(f->failure, "disk 7 is full"));
	/* No wait is needed, so any deadline will do. */
	must(fiber_join(f, &r, 0) == 0);
	must(r.error == -ENOSPC);
	must(fiber_id(f) == 0);
	return NULL;
}

static void test_join_of_a_dead_fiber_needs_no_time(void **state)
{
	(void)state;
	prove(1, joins_late, NULL);
}

static void *joins_with_deadlines(void *arg)
{
	struct fiber_result r = {(void *)1, 1};
	int64_t soon;
	struct fiber *f;

	(void)arg;
	must(fiber_spawn(parks, (void *)9, &f) == 0);
	must(fiber_join(f, &r, 0) == -ETIMEDOUT);
	must(fiber_join(f, &r, fiber_now() - 1) == -ETIMEDOUT);
	soon = fiber_after(2000000);
	must(fiber_join(f, &r, soon) == -ETIMEDOUT);
	must(fiber_now() >= soon);
	must(r.value == (void *)1 && r.error == 1); /* written on success only */
	must((fib_load(&f->life) & FIB_LIFE_JOINING) == 0);
	/* It can be joined again. */
	fiber_unpark(f);
	must(fiber_join(f, &r, FIBER_FOREVER) == 0);
	must(r.value == (void *)9 && r.error == 0);
	return NULL;
}

static void test_join_that_timed_out_can_be_tried_again(void **state)
{
	(void)state;
	prove(1, joins_with_deadlines, NULL);
	prove(2, joins_with_deadlines, NULL);
}

static void *is_joined(void *arg)
{
	struct fiber *joiner = arg;

	must(fiber_state(joiner) == FIBER_SUSPENDED);
	must(fib_load(&joiner->wait_kind) == FIB_WAIT_JOIN);
	must(joiner->wait_object == (uintptr_t)fiber_self());
	must(joiner->wait_arg == fiber_id(fiber_self()));
	return NULL;
}

static void *joins(void *arg)
{
	struct fiber_result r;
	struct fiber *f;

	(void)arg;
	must(fiber_spawn(is_joined, fiber_self(), &f) == 0);
	must(fiber_join(f, &r, FIBER_FOREVER) == 0);
	return r.value;
}

static void test_join_records_whom_it_waits_for(void **state)
{
	(void)state;
	prove(1, joins, NULL);
}

static void test_join_from_a_thread(void **state)
{
	struct fiber_result r = {0};
	struct fib_sched s;
	struct fiber *f;

	(void)state;
	carriers_start(&s, 1);
	f = carriers_spawn(&s, "parked", parks, (void *)3);
	assert_int_equal(fiber_join(f, &r, 0), -ETIMEDOUT);
	assert_int_equal(fiber_join(f, &r, fiber_after(2000000)), -ETIMEDOUT);
	fiber_unpark(f);
	assert_int_equal(fiber_join(f, &r, FIBER_FOREVER), 0);
	assert_ptr_equal(r.value, (void *)3);
	carriers_stop(&s);
}

static void *detaches(void *arg)
{
	unsigned fibers = carriers_fibers();
	struct fiber *f;

	(void)arg;
	must(fiber_spawn(parks, NULL, &f) == 0);
	must(fiber_detach(f) == 0); /* before its end */
	fiber_yield();
	fiber_unpark(f);
	fiber_yield();
	must(carriers_fibers() == fibers);
	must(fiber_spawn(returns, NULL, &f) == 0);
	fiber_yield();
	must(carriers_fibers() == fibers + 1);
	must(fiber_detach(f) == 0); /* after it */
	must(carriers_fibers() == fibers);
	must(fiber_create(NULL, returns, NULL, &f) == 0);
	must(fiber_detach(f) == 0); /* before it ran */
	must(carriers_fibers() == fibers);
	return NULL;
}

static void test_detach_frees_a_fiber_at_its_end_or_at_once(void **state)
{
	(void)state;
	prove(1, detaches, NULL);
}

/* -- an end and a join meet at every possible moment -- */

#define MEETINGS 4000u

static void *ends_some_time(void *arg)
{
	unsigned i;

	for (i = 0; i < (uintptr_t)arg % 4; i++)
		fiber_yield();
	return arg;
}

static void *meets(void *arg)
{
	struct fiber_result r;
	struct fiber *f;
	uintptr_t i;
	int rc;

	for (i = 0; i < MEETINGS; i++) {
		must(fiber_spawn(ends_some_time, (void *)i, &f) == 0);
		if (i % 3 == 0)
			fiber_yield();
		if (i % 5 == 0) {
			must(fiber_detach(f) == 0);
			continue;
		}
		rc = i % 2 ? 0 : fiber_join(f, &r, fiber_after(1000));
		must(rc == 0 || rc == -ETIMEDOUT);
		if (i % 2 || rc < 0)
			must(fiber_join(f, &r, FIBER_FOREVER) == 0);
		must(r.value == (void *)i);
	}
	return arg;
}

static void *meets_as_a_thread(void *arg)
{
	struct fiber_result r;
	uintptr_t i;

	for (i = 0; i < MEETINGS / 4; i++) {
		struct fiber *f = carriers_spawn(arg, "met", ends_some_time, (void *)i);

		while (fiber_join(f, &r, fiber_after(1000)) < 0)
			;
		must(r.value == (void *)i);
	}
	return NULL;
}

static void test_join_and_end_meet_and_nothing_is_lost(void **state)
{
	unsigned fibers = carriers_fibers(), i;
	struct fiber_result r;
	struct fib_sched s;
	struct fiber *f[2];
	pthread_t thread;
	void *broken;

	(void)state;
	carriers_start(&s, 2);
	assert_int_equal(pthread_create(&thread, NULL, meets_as_a_thread, &s), 0);
	for (i = 0; i < 2; i++)
		f[i] = carriers_spawn(&s, "meets", meets, NULL);
	for (i = 0; i < 2; i++) {
		assert_int_equal(fiber_join(f[i], &r, FIBER_FOREVER), 0);
		assert_null(r.value);
	}
	pthread_join(thread, &broken);
	assert_null(broken);
	carriers_stop(&s);
	assert_int_equal(carriers_fibers(), fibers);
}

/* -- misuse -- */

static struct fib_sched wronged;

static struct fiber *victim(unsigned flags)
{
	carriers_start(&wronged, 1);
	return carriers_spawn_flags(&wronged, "victim", flags, parks, NULL);
}

static void *joins_it(void *arg)
{
	fiber_join(arg, NULL, FIBER_FOREVER);
	return NULL;
}

/* Wait until the first fiber is in fiber_join. */
static void await_joiner(struct fiber *f)
{
	carriers_spawn(&wronged, "first", joins_it, f);
	while (!(fib_load(&f->life) & FIB_LIFE_JOINING))
		sched_yield();
}

static void join_twice(void)
{
	struct fiber *f = victim(0);

	await_joiner(f);
	fiber_join(f, NULL, FIBER_FOREVER);
}

static void detach_joined(void)
{
	struct fiber *f = victim(0);

	await_joiner(f);
	fiber_detach(f);
}

static void join_detached(void)
{
	fiber_join(victim(FIBER_DETACHED), NULL, FIBER_FOREVER);
}

static void detach_twice(void)
{
	struct fiber *f = victim(0);

	fiber_detach(f);
	fiber_detach(f);
}

static void *joins_self(void *arg)
{
	fiber_set_name(fiber_self(), "narcissus");
	fiber_join(fiber_self(), NULL, FIBER_FOREVER);
	return arg;
}

static void join_self(void)
{
	carriers_run(1, joins_self, NULL);
}

static void exit_outside(void)
{
	fiber_exit(NULL);
}

static void fail_outside(void)
{
	fiber_fail(-EIO, "no");
}

static const struct misuse misuses[] = {
	{"join-twice", join_twice},	  {"join-detached", join_detached},
	{"join-self", join_self},	  {"detach-twice", detach_twice},
	{"detach-joined", detach_joined}, {"exit-outside", exit_outside},
	{"fail-outside", fail_outside},
};

static void test_join_misused_aborts_with_one_line(void **state)
{
	(void)state;
	assert_misuse("join-twice", "libfiber: fiber_join: fiber [0-9]* \"victim\" is joined by "
				    "somebody else already");
	assert_misuse("join-detached", "libfiber: fiber_join: fiber [0-9]* \"victim\" is detached");
	assert_misuse("join-self", "libfiber: fiber_join: fiber [0-9]* \"narcissus\" joins itself");
}

static void test_detach_and_exit_misused_abort_with_one_line(void **state)
{
	(void)state;
	assert_misuse("detach-twice",
		      "libfiber: fiber_detach: fiber [0-9]* \"victim\" is detached already");
	assert_misuse("detach-joined",
		      "libfiber: fiber_detach: fiber [0-9]* \"victim\" is being joined");
	assert_misuse("exit-outside", "libfiber: fiber_exit called outside a fiber *");
	assert_misuse("fail-outside", "libfiber: fiber_fail called outside a fiber *");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_join_gives_what_the_fiber_returned_or_failed_with),
		cmocka_unit_test(test_join_of_a_dead_fiber_needs_no_time),
		cmocka_unit_test(test_join_that_timed_out_can_be_tried_again),
		cmocka_unit_test(test_join_records_whom_it_waits_for),
		cmocka_unit_test(test_join_from_a_thread),
		cmocka_unit_test(test_detach_frees_a_fiber_at_its_end_or_at_once),
		cmocka_unit_test(test_join_and_end_meet_and_nothing_is_lost),
		cmocka_unit_test(test_join_misused_aborts_with_one_line),
		cmocka_unit_test(test_detach_and_exit_misused_abort_with_one_line),
	};

	if (argc > 1)
		return misuse_main(misuses, fib_countof(misuses), argv[1]);
	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
