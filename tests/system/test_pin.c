/* SPDX-License-Identifier: MIT */
/* test_pin.c - a pinned fiber stays on its carrier, and its waits follow the current policy */
#include "carriers.h"
#include "tests/harness/fibers.h"

#include <errno.h>
#include <unistd.h>

/* -- what a pinned fiber must not do -- */

struct pinned {
	int yield, park, park_with_token, after;
	bool can[4];
};

static void *try_to_leave(void *arg)
{
	struct pinned *p = arg;

	p->can[0] = fiber_can_yield();
	fiber_pin();
	p->can[1] = fiber_can_yield();
	p->yield = fiber_yield();
	p->park = fiber_park(FIBER_FOREVER);
	fiber_unpark(fiber_self());
	p->park_with_token = fiber_park(FIBER_FOREVER);
	fiber_pin();
	fiber_unpin();
	p->can[2] = fiber_can_yield();
	fiber_unpin();
	p->can[3] = fiber_can_yield();
	p->after = fiber_park(FIBER_FOREVER); /* the token is still there */
	return NULL;
}

static void test_pin_forbids_yield_and_park_until_the_last_unpin(void **state)
{
	struct pinned p = {1, 1, 1, 1, {0}};

	(void)state;
	carriers_run(try_to_leave, &p);
	assert_int_equal(p.yield, -EPERM);
	assert_int_equal(p.park, -EPERM);
	assert_int_equal(p.park_with_token, -EPERM);
	assert_int_equal(p.after, 0);
	assert_true(p.can[0] && !p.can[1] && !p.can[2] && p.can[3]);
}

static void test_pin_outside_a_fiber_has_no_effect(void **state)
{
	(void)state;
	fiber_pin();
	fiber_unpin();
	fiber_unpin();
	{
		FIBER_PINNED_SCOPE;
		assert_false(fiber_can_yield());
	}
}

/* -- scopes -- */

static bool leave_by_return(void)
{
	FIBER_PINNED_SCOPE;

	return !fiber_can_yield();
}

static bool leave_by_goto(void)
{
	bool inside;

	{
		FIBER_PINNED_SCOPE;
		inside = !fiber_can_yield();
		if (inside)
			goto out;
		inside = false;
	}
out:
	return inside && fiber_can_yield();
}

static bool leave_by_break_and_continue(void)
{
	int inside = 0, outside = 0;

	for (int i = 0; i < 4; i++) {
		outside += fiber_can_yield();
		FIBER_PINNED_SCOPE;
		inside += !fiber_can_yield();
		if (i == 1)
			continue;
		if (i == 2)
			break;
	}
	return inside == 3 && outside == 3 && fiber_can_yield();
}

static bool nest(void)
{
	bool right;

	{
		FIBER_PINNED_SCOPE;
		{
			FIBER_PINNED_SCOPE;
			fiber_pin();
			fiber_unpin();
			right = !fiber_can_yield();
		}
		right = right && !fiber_can_yield();
	}
	return right && fiber_can_yield();
}

static void *leave_scopes(void *arg)
{
	bool *right = arg;

	right[0] = leave_by_return() && fiber_can_yield();
	right[1] = leave_by_goto() && fiber_can_yield();
	right[2] = leave_by_break_and_continue() && fiber_can_yield();
	right[3] = nest() && fiber_can_yield();
	right[4] = fiber_yield() == 0;
	return NULL;
}

static void test_pin_scope_ends_with_its_block_by_any_way_out(void **state)
{
	bool right[5] = {false};

	(void)state;
	carriers_run(leave_scopes, right);
	for (int i = 0; i < 5; i++)
		assert_true(right[i]);
}

/* -- policies -- */

static struct fiber_mutex held;
static struct fiber_sem none;
static struct fiber_cond cond;

#define WAITS 6

/* Every kind of wait, pinned, with a deadline in 2 ms. */
static void wait_in_every_way(struct fiber *other, const int *pipe, int *rc)
{
	static struct fiber_mutex own;
	char byte;

	fiber_mutex_lock(&own, FIBER_FOREVER);
	FIBER_PINNED_SCOPE;
	rc[0] = fiber_sleep(2 * MS);
	rc[1] = fiber_mutex_lock(&held, fiber_after(2 * MS));
	rc[2] = fiber_sem_wait(&none, fiber_after(2 * MS));
	rc[3] = fiber_cond_wait(&cond, &own, fiber_after(2 * MS));
	rc[4] = fiber_join(other, NULL, fiber_after(2 * MS));
	rc[5] = (int)fiber_read(pipe[0], &byte, 1, fiber_after(2 * MS));
	fiber_mutex_unlock(&own);
}

struct waits {
	int rc[3][WAITS];
	enum fiber_pinned_policy set[3];
};

static void *wait_under_each_policy(void *arg)
{
	static const enum fiber_pinned_policy policies[] = {FIBER_PINNED_WARN, FIBER_PINNED_ERROR,
							    FIBER_PINNED_SILENT};
	struct waits *w = arg;
	struct fiber *other;
	int fds[2];

	if (pipe(fds) < 0 || fiber_spawn(harness_park, NULL, &other) < 0)
		return NULL;
	for (int i = 0; i < 3; i++) {
		fiber_set_pinned_policy(fiber_runtime_self(), policies[i]);
		w->set[i] = fiber_pinned_policy(fiber_runtime_self());
		wait_in_every_way(other, fds, w->rc[i]);
	}
	fiber_unpark(other);
	fiber_join(other, NULL, FIBER_FOREVER);
	fiber_close(fds[0]);
	fiber_close(fds[1]);
	return arg;
}

static void test_pin_policy_decides_about_every_kind_of_wait(void **state)
{
	struct waits w;

	(void)state;
	memset(&w, 0x5a, sizeof w);
	fiber_mutex_lock(&held, FIBER_FOREVER);
	assert_non_null(carriers_run(wait_under_each_policy, &w).value);
	fiber_mutex_unlock(&held);
	assert_int_equal(w.set[0], FIBER_PINNED_WARN);
	assert_int_equal(w.set[1], FIBER_PINNED_ERROR);
	assert_int_equal(w.set[2], FIBER_PINNED_SILENT);
	for (int i = 0; i < WAITS; i++) {
		assert_int_equal(w.rc[0][i], i ? -ETIMEDOUT : 0);
		assert_int_equal(w.rc[1][i], -EDEADLK);
		assert_int_equal(w.rc[2][i], i ? -ETIMEDOUT : 0);
	}
}

/* A call that need not wait is no event: it works under any policy. */
static void *do_what_needs_no_wait(void *arg)
{
	struct fiber_mutex free_mutex = {0};
	struct fiber_sem one = {0};
	struct fiber *other;
	char byte = 'x';
	int fds[2], wrong = 0;

	if (pipe(fds) < 0 || fiber_spawn(harness_park, NULL, &other) < 0)
		return NULL;
	fiber_unpark(other);
	while (fiber_state(other) != FIBER_DEAD)
		fiber_sleep(MS / 10);
	fiber_set_pinned_policy(fiber_runtime_self(), FIBER_PINNED_ERROR);
	fiber_pin();
	fiber_sem_init(&one, 1);
	wrong += fiber_mutex_lock(&free_mutex, FIBER_FOREVER) != 0;
	wrong += fiber_mutex_unlock(&free_mutex) != 0;
	wrong += fiber_sem_wait(&one, FIBER_FOREVER) != 0;
	wrong += fiber_write(fds[1], &byte, 1, FIBER_FOREVER) != 1;
	wrong += fiber_read(fds[0], &byte, 1, FIBER_FOREVER) != 1;
	wrong += fiber_sleep(0) != 0;
	wrong += fiber_sem_wait(&one, 0) != -ETIMEDOUT;
	/* The fiber's last steps may come slightly after its state has changed. */
	while (fiber_join(other, NULL, 0) == -ETIMEDOUT && carriers() > 1)
		sched_yield();
	fiber_unpin();
	fiber_close(fds[0]);
	fiber_close(fds[1]);
	return wrong ? NULL : arg;
}

static void test_pin_policy_is_not_asked_where_nothing_waits(void **state)
{
	(void)state;
	assert_non_null(carriers_run(do_what_needs_no_wait, state).value);
}

/* -- the thread stays the same -- */

struct place {
	pid_t before, after;
	int rc;
};

static void *block_pinned(void *arg)
{
	struct place *p = arg;

	fiber_pin();
	p->before = gettid(); /* the compiler may treat pthread_self() as constant */
	p->rc = fiber_sem_wait(&none, FIBER_FOREVER);
	p->after = gettid();
	fiber_unpin();
	return NULL;
}

static void test_pin_blocked_fiber_wakes_on_its_own_thread(void **state)
{
	const struct fiber_runtime_options options = {.size = sizeof options,
						      .carriers = carriers(),
						      .pinned_policy = FIBER_PINNED_SILENT,
						      .control_path = ""};
	struct fiber_runtime *rt;
	struct place p;
	struct fiber *f;

	(void)state;
	assert_int_equal(fiber_runtime_start(&options, &rt), 0);
	for (int i = 0; i < 50; i++) {
		assert_int_equal(fiber_runtime_spawn(rt, NULL, block_pinned, &p, &f), 0);
		fiber_sem_post(&none);
		assert_int_equal(fiber_join(f, NULL, FIBER_FOREVER), 0);
		assert_int_equal(p.rc, 0);
		assert_int_equal(p.before, p.after);
	}
	carriers_finish(rt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pin_forbids_yield_and_park_until_the_last_unpin),
		cmocka_unit_test(test_pin_outside_a_fiber_has_no_effect),
		cmocka_unit_test(test_pin_scope_ends_with_its_block_by_any_way_out),
		cmocka_unit_test(test_pin_policy_decides_about_every_kind_of_wait),
		cmocka_unit_test(test_pin_policy_is_not_asked_where_nothing_waits),
		cmocka_unit_test(test_pin_blocked_fiber_wakes_on_its_own_thread),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
