/* SPDX-License-Identifier: MIT */
/* test_background.c - background fibers delay no finish, and exit whatever they are doing */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include <fiber.h>

#include "core/registry.h"
#include "life/spawn.h"
#include "sched/sched.h"
#include "tests/harness/watchdog.h"

#define MS INT64_C(1000000)

static struct fiber_runtime *start(unsigned carriers)
{
	const struct fiber_runtime_options o = {
		.size = sizeof o, .carriers = carriers, .control_path = ""};
	struct fiber_runtime *rt = NULL;

	assert_int_equal(fiber_runtime_start(&o, &rt), 0);
	return rt;
}

static struct fiber *background(struct fiber_runtime *rt, fiber_fn *fn, void *arg)
{
	const struct fiber_attr attr = {.size = sizeof attr, .flags = FIBER_BACKGROUND};
	struct fiber *fiber = NULL;

	assert_int_equal(fiber_runtime_spawn(rt, &attr, fn, arg, &fiber), 0);
	return fiber;
}

static void await_suspended(struct fiber *fiber)
{
	while (fiber_state(fiber) != FIBER_SUSPENDED)
		sched_yield();
}

static int join(struct fiber *fiber, void *value)
{
	struct fiber_result r = {NULL, 1};

	assert_int_equal(fiber_join(fiber, &r, 0), 0);
	if (value)
		assert_ptr_equal(r.value, value);
	return r.error;
}

static void *park(void *arg)
{
	return fiber_park(FIBER_FOREVER) == -ECANCELED ? arg : NULL;
}

static void test_background_fiber_is_told_and_ends_by_itself(void **state)
{
	struct fiber_runtime *rt = start(1);
	struct fiber *f = background(rt, park, rt);

	(void)state;
	await_suspended(f);
	assert_true(fiber_runtime_done(rt));
	assert_int_equal(fiber_runtime_finish(rt, FIBER_FOREVER), 0);
	assert_int_equal(join(f, rt), -ECANCELED);
}

static void test_background_fiber_that_has_ended_before_is_as_any_other(void **state)
{
	struct fiber_runtime *rt = start(1);
	struct fiber *f = background(rt, park, rt);
	struct fiber_result r = {NULL, 1};

	(void)state;
	fiber_cancel(f);
	assert_int_equal(fiber_join(f, &r, FIBER_FOREVER), 0);
	assert_ptr_equal(r.value, rt);
	assert_int_equal(fiber_runtime_finish(rt, FIBER_FOREVER), 0);
}

/* -- loops that check no result -- */

struct stubborn {
	struct fiber_mutex held, wanted;
	struct fiber_cond cond;
	struct fiber_sem sem;
	struct fiber_chan *chan;
	struct fiber_timer *timer;
	struct fiber *parked;
	int pipe[2];
	_Atomic unsigned handlers;
};

static void handler(void *arg)
{
	fib_add(&((struct stubborn *)arg)->handlers, 1);
}

#define LOOP(name, call)                    \
	static void *loop_##name(void *arg) \
	{                                   \
		struct stubborn *s = arg;   \
                                            \
		fiber_at_exit(handler, s);  \
		for (;;) {                  \
			call;               \
		}                           \
		return NULL;                \
	}
LOOP(yield, (void)s; fiber_yield())
LOOP(sleep, (void)s; fiber_sleep(MS / 10))
LOOP(long_sleep, (void)s; fiber_sleep_until(FIBER_FOREVER))
LOOP(park, (void)s; fiber_park(FIBER_FOREVER))
LOOP(mutex, fiber_mutex_lock(&s->held, FIBER_FOREVER))
LOOP(sem, fiber_sem_wait(&s->sem, FIBER_FOREVER))
LOOP(chan, fiber_chan_recv(s->chan, &(char){0}, FIBER_FOREVER))
LOOP(timer, fiber_timer_wait(s->timer, NULL, FIBER_FOREVER))
LOOP(read, fiber_read(s->pipe[0], &(char){0}, 1, FIBER_FOREVER))
LOOP(join, {
	if (!s->parked)
		fiber_park(FIBER_FOREVER);
	else if (fiber_join(s->parked, NULL, FIBER_FOREVER) == 0)
		s->parked = NULL;
})
LOOP(deadline, fiber_sem_wait(&s->sem, fiber_after(MS / 20)))
LOOP(cond, {
	fiber_mutex_lock(&s->wanted, FIBER_FOREVER);
	fiber_cond_wait(&s->cond, &s->wanted, FIBER_FOREVER);
	fiber_mutex_unlock(&s->wanted);
})

static bool never(void *arg)
{
	(void)arg;
	return false;
}
LOOP(predicate, fiber_wait_until(never, s, FIBER_FOREVER))

static void *nap(void *arg)
{
	usleep(1000);
	return arg;
}
LOOP(offload, fiber_block(nap, s, NULL, FIBER_FOREVER))

static void *hold(void *arg)
{
	struct stubborn *s = arg;

	fiber_at_exit(handler, s);
	fiber_mutex_lock(&s->held, FIBER_FOREVER);
	for (;;)
		fiber_sleep(MS);
	return NULL;
}

static fiber_fn *const loops[] = {hold,		  loop_yield,	loop_sleep, loop_long_sleep,
				  loop_park,	  loop_mutex,	loop_sem,   loop_chan,
				  loop_timer,	  loop_read,	loop_join,  loop_cond,
				  loop_predicate, loop_offload, loop_yield, loop_deadline};

static void end_stubborn(unsigned carriers)
{
	struct fiber_runtime *rt = start(carriers);
	struct stubborn s = {0};
	struct fiber *f[fib_countof(loops)];
	size_t i;

	assert_int_equal(pipe(s.pipe), 0);
	assert_int_equal(fiber_chan_new(1, 0, &s.chan), 0);
	assert_int_equal(fiber_timer_new(&s.timer), 0);
	fiber_timer_arm(s.timer, fiber_after(MS), MS);
	s.parked = background(rt, park, rt);
	for (i = 0; i < fib_countof(loops); i++) {
		f[i] = background(rt, loops[i], &s);
		/* loop_mutex must find the mutex held: otherwise it would lock its own mutex
		 * twice. */
		while (loops[i] == hold && !fib_load(&s.held.owner))
			sched_yield();
	}
	for (i = 2; i < 11; i++)
		while (fiber_state(f[i]) == FIBER_CREATED)
			sched_yield();
	assert_true(fiber_runtime_done(rt));
	assert_int_equal(fiber_runtime_finish(rt, FIBER_FOREVER), 0);
	for (i = 0; i < fib_countof(loops); i++)
		assert_int_equal(join(f[i], NULL), -ECANCELED);
	if (s.parked)
		join(s.parked, NULL);
	/* A fiber that never started has no handler; these fibers had started. */
	assert_true(fib_load(&s.handlers) > 0);
	/* No queue has a waiter: everything can be used and released. */
	assert_null(s.held.waiters.head);
	assert_null(s.wanted.waiters.head);
	assert_null(s.cond.waiters.head);
	assert_null(s.sem.waiters.head);
	fiber_timer_free(s.timer);
	assert_int_equal(fiber_chan_send(s.chan, "", 0), -ETIMEDOUT);
	fiber_chan_unref(s.chan);
	fiber_close(s.pipe[0]);
	fiber_close(s.pipe[1]);
}

static void test_background_fibers_that_look_at_no_result_end_too(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++)
		end_stubborn(1);
	for (int i = 0; i < 10; i++)
		end_stubborn(3);
}

/* -- while the runtime is closing -- */

static void *make_more(void *arg)
{
	const struct fiber_attr attr = {.size = sizeof attr,
					.flags = FIBER_BACKGROUND | FIBER_DETACHED};
	_Atomic unsigned *made = arg;
	int rc;

	while ((rc = fiber_spawn_attr(&attr, make_more, arg, NULL)) == 0) {
		fib_add(made, 1);
		fiber_sleep(20000);
	}
	return (void *)(intptr_t)rc;
}

static void test_background_fibers_made_while_the_runtime_closes_end(void **state)
{
	(void)state;
	for (int i = 0; i < 50; i++) {
		struct fiber_runtime *rt = start(2);
		_Atomic unsigned made = 0;
		struct fiber *f = background(rt, make_more, &made);

		while (fib_load(&made) < (unsigned)i)
			sched_yield();
		assert_int_equal(fiber_runtime_finish(rt, FIBER_FOREVER), 0);
		join(f, NULL);
	}
}

static void *refused(void *arg)
{
	struct fiber *f = NULL;

	fiber_park(FIBER_FOREVER);
	return fiber_spawn(park, NULL, &f) == -ESHUTDOWN && !f ? arg : NULL;
}

static void test_background_fiber_cannot_spawn_in_a_closed_runtime(void **state)
{
	struct fiber_runtime *rt = start(1);
	struct fiber *f = background(rt, refused, rt);

	(void)state;
	await_suspended(f);
	assert_int_equal(fiber_runtime_finish(rt, FIBER_FOREVER), 0);
	join(f, rt);
}

/* -- one that delays the finish -- */

static void *compute(void *arg)
{
	_Atomic uint32_t *over = arg;

	while (!fib_load(over))
		;
	return arg;
}

static void test_background_fiber_that_computes_holds_up_the_finish_until_its_deadline(void **state)
{
	struct fiber_runtime *rt = start(2);
	_Atomic uint32_t over = 0;
	struct fiber *f = background(rt, compute, &over);

	(void)state;
	while (fiber_state(f) != FIBER_RUNNING)
		sched_yield();
	assert_int_equal(fiber_runtime_finish(rt, fiber_after(5 * MS)), -ETIMEDOUT);
	assert_int_equal(fiber_runtime_spawn(rt, NULL, park, NULL, NULL), -ESHUTDOWN);
	fib_store(&over, 1);
	assert_int_equal(fiber_runtime_finish(rt, FIBER_FOREVER), 0);
	join(f, &over);
}

/* -- counts -- */

static void test_background_fibers_are_counted_apart(void **state)
{
	struct fiber_runtime *rt = start(1);
	const struct fiber_attr wrong = {
		.size = sizeof wrong, .flags = FIBER_BACKGROUND, .stack_size = (size_t)1 << 40};
	struct fiber *b = background(rt, park, NULL), *f = NULL;

	(void)state;
	assert_true(fiber_runtime_done(rt));
	assert_int_equal(fiber_runtime_spawn(rt, &wrong, park, NULL, &f), -EINVAL);
	assert_int_equal(fiber_runtime_spawn(rt, NULL, park, NULL, &f), 0);
	assert_false(fiber_runtime_done(rt));
	assert_int_equal(fiber_runtime_finish(rt, fiber_after(MS)), -ETIMEDOUT);
	/* Not closed yet, and not cancelled. */
	await_suspended(b);
	assert_int_equal(fib_load(&b->cancelled), 0);
	fiber_unpark(f);
	assert_int_equal(fiber_join(f, NULL, FIBER_FOREVER), 0);
	assert_int_equal(fiber_runtime_finish(rt, FIBER_FOREVER), 0);
	join(b, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_background_fiber_is_told_and_ends_by_itself),
		cmocka_unit_test(test_background_fiber_that_has_ended_before_is_as_any_other),
		cmocka_unit_test(test_background_fibers_that_look_at_no_result_end_too),
		cmocka_unit_test(test_background_fibers_made_while_the_runtime_closes_end),
		cmocka_unit_test(test_background_fiber_cannot_spawn_in_a_closed_runtime),
		cmocka_unit_test(
			test_background_fiber_that_computes_holds_up_the_finish_until_its_deadline),
		cmocka_unit_test(test_background_fibers_are_counted_apart),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
