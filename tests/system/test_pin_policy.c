/* SPDX-License-Identifier: MIT */
/* test_pin_policy.c - pinned waits under changing policies, exits in a pinned scope, stderr */
#include "carriers.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "base/list.h"

static struct fiber_runtime *start(enum fiber_pinned_policy policy)
{
	struct fiber_runtime_options options = carriers_options();
	struct fiber_runtime *rt;

	options.pinned_policy = policy;
	assert_int_equal(fiber_runtime_start(&options, &rt), 0);
	return rt;
}

/* -- the policy changes while every carrier is blocked by a pinned fiber -- */

#define MANY 4

static struct {
	struct fiber_sem gate;
	_Atomic int first[MANY], second[MANY];
} nailed;

/* Count the waiters without the semaphore's internal lock; none leaves. */
__attribute__((noinline, no_sanitize("thread"))) static unsigned queued(void)
{
	struct fib_list *link = *(void *volatile *)&nailed.gate.waiters.head;
	unsigned n = 0;

	for (; link; link = *(struct fib_list *volatile *)&link->next)
		n++;
	return n;
}

static void *wait_twice(void *arg)
{
	const size_t i = (size_t)arg;

	FIBER_PINNED_SCOPE;
	nailed.first[i] = fiber_sem_wait(&nailed.gate, FIBER_FOREVER);
	nailed.second[i] = fiber_sem_wait(&nailed.gate, fiber_after(2 * MS));
	return NULL;
}

static void change_to(enum fiber_pinned_policy before, enum fiber_pinned_policy after, int second)
{
	struct fiber_runtime *rt = start(before);
	const size_t n = carriers() < MANY ? carriers() : MANY;
	struct fiber *f[MANY];
	size_t i;

	memset(&nailed, 0, sizeof nailed);
	for (i = 0; i < n; i++)
		assert_int_equal(fiber_runtime_spawn(rt, NULL, wait_twice, (void *)i, &f[i]), 0);
	/* All carriers block in the kernel now or are about to, so no other thread could serve
	 * them. */
	while (queued() < n)
		sched_yield();
	assert_int_equal(fiber_set_pinned_policy(rt, after), 0);
	for (i = 0; i < n; i++)
		fiber_sem_post(&nailed.gate);
	for (i = 0; i < n; i++) {
		assert_int_equal(fiber_join(f[i], NULL, FIBER_FOREVER), 0);
		assert_int_equal(nailed.first[i], 0);
		assert_int_equal(nailed.second[i], second);
	}
	carriers_finish(rt);
}

static void test_pin_policy_holds_from_the_next_wait_while_all_carriers_block(void **state)
{
	(void)state;
	change_to(FIBER_PINNED_WARN, FIBER_PINNED_ERROR, -EDEADLK);
	change_to(FIBER_PINNED_SILENT, FIBER_PINNED_ERROR, -EDEADLK);
	change_to(FIBER_PINNED_SILENT, FIBER_PINNED_WARN, -ETIMEDOUT);
}

/* -- the policy changes continuously -- */

static struct {
	struct fiber_sem gate;
	_Atomic unsigned granted, refused, timed_out, other;
	_Atomic bool over;
} busy;

static void *wait_often(void *arg)
{
	for (int i = 0; i < 400; i++) {
		int rc;
		{
			FIBER_PINNED_SCOPE;
			rc = fiber_sem_wait(&busy.gate, fiber_after(MS / 20));
		}
		busy.granted += rc == 0;
		busy.refused += rc == -EDEADLK;
		busy.timed_out += rc == -ETIMEDOUT;
		busy.other += rc != 0 && rc != -EDEADLK && rc != -ETIMEDOUT;
		busy.other += !fiber_can_yield();
		if (rc == 0)
			fiber_sem_post(&busy.gate);
		fiber_yield();
	}
	return arg;
}

static void *toggle(void *arg)
{
	unsigned i;

	for (i = 0; !busy.over; i++)
		fiber_set_pinned_policy(arg, i % 2 ? FIBER_PINNED_ERROR : FIBER_PINNED_SILENT);
	return NULL;
}

static void test_pin_policy_may_change_at_any_time_and_loses_nothing(void **state)
{
	struct fiber_runtime *rt = start(FIBER_PINNED_SILENT);
	struct fiber *f[MANY * 2];
	pthread_t thread;
	unsigned i, left = 0;

	(void)state;
	memset(&busy, 0, sizeof busy);
	fiber_sem_init(&busy.gate, 1);
	assert_int_equal(pthread_create(&thread, NULL, toggle, rt), 0);
	for (i = 0; i < MANY * 2; i++)
		assert_int_equal(fiber_runtime_spawn(rt, NULL, wait_often, NULL, &f[i]), 0);
	for (i = 0; i < MANY * 2; i++)
		assert_int_equal(fiber_join(f[i], NULL, FIBER_FOREVER), 0);
	busy.over = true;
	pthread_join(thread, NULL);
	while (fiber_sem_wait(&busy.gate, 0) == 0)
		left++;
	assert_int_equal(left, 1);
	assert_int_equal(busy.other, 0);
	assert_int_equal(busy.granted + busy.refused + busy.timed_out, MANY * 2 * 400);
	carriers_finish(rt);
}

/* -- a fiber that exits inside a scope -- */

struct ending {
	int handler_sleeps;
	bool handler_can_yield, inside;
};

/* Under the policy ERROR a pinned wait would fail. */
static void note_pins(void *arg)
{
	struct ending *e = arg;

	e->handler_can_yield = fiber_can_yield();
	e->handler_sleeps = fiber_sleep(MS / 10);
}

static void *end_inside(struct ending *e, bool fails)
{
	fiber_at_exit(note_pins, e);
	FIBER_PINNED_SCOPE;
	{
		FIBER_PINNED_SCOPE;
		fiber_pin();
		e->inside = !fiber_can_yield();
		if (fails)
			fiber_fail(-EPROTO, "inside");
		fiber_exit(e);
	}
}

static void *exit_inside(void *arg)
{
	return end_inside(arg, false);
}

static void *fail_inside(void *arg)
{
	return end_inside(arg, true);
}

static void test_pin_scope_is_left_by_exit_and_failure(void **state)
{
	static fiber_fn *const ways[] = {exit_inside, fail_inside};

	(void)state;
	for (size_t i = 0; i < COUNT(ways); i++) {
		struct fiber_runtime *rt = start(FIBER_PINNED_ERROR);
		struct ending e = {.handler_sleeps = 1};
		struct fiber_result result;
		struct fiber *f;

		assert_int_equal(fiber_runtime_spawn(rt, NULL, ways[i], &e, &f), 0);
		assert_int_equal(fiber_join(f, &result, FIBER_FOREVER), 0);
		assert_true(e.inside);
		assert_true(e.handler_can_yield);
		assert_int_equal(e.handler_sleeps, 0);
		assert_int_equal(result.error, i ? -EPROTO : 0);
		carriers_finish(rt);
	}
}

static _Atomic bool waits;
static struct fiber_sem never;

static void *is_cancelled_inside(void *arg)
{
	int *rc = arg;
	{
		FIBER_PINNED_SCOPE;
		waits = true;
		rc[0] = fiber_sem_wait(&never, FIBER_FOREVER);
		rc[1] = fiber_sem_wait(&never, FIBER_FOREVER);
	}
	rc[2] = fiber_can_yield() ? 0 : -EPERM;
	return NULL;
}

static void test_pin_scope_is_left_by_a_cancelled_fiber(void **state)
{
	struct fiber_runtime *rt = start(FIBER_PINNED_SILENT);
	struct fiber_result result;
	struct fiber *f;
	int rc[3] = {1, 1, 1};

	(void)state;
	waits = false;
	assert_int_equal(fiber_runtime_spawn(rt, NULL, is_cancelled_inside, rc, &f), 0);
	while (!waits)
		sched_yield();
	fiber_cancel(f);
	assert_int_equal(fiber_join(f, &result, FIBER_FOREVER), 0);
	assert_int_equal(rc[0], -ECANCELED);
	assert_int_equal(rc[1], -ECANCELED);
	assert_int_equal(rc[2], 0);
	assert_int_equal(result.error, -ECANCELED);
	carriers_finish(rt);
}

/* -- the line on stderr -- */

static void *wait_a_hundred_times(void *arg)
{
	fiber_pin();
	for (int i = 0; i < 100; i++)
		fiber_sem_wait(&never, fiber_after(MS / 5));
	fiber_unpin();
	return arg;
}

/* Count the lines about pinned waits in what can be read now. */
static unsigned count_lines(int fd)
{
	char text[8192];
	const ssize_t n = read(fd, text, sizeof text - 1);
	unsigned lines = 0;
	char *at = text;

	text[n > 0 ? n : 0] = '\0';
	while ((at = strstr(at, "waits while pinned"))) {
		lines++;
		at++;
	}
	return lines;
}

static void test_pin_warning_is_one_line_a_second_however_many_wait(void **state)
{
	const int64_t began = fiber_now();
	struct fiber_runtime *rt = start(FIBER_PINNED_WARN);
	const int old = dup(STDERR_FILENO);
	struct fiber *f[MANY];
	unsigned lines = 0;
	int fds[2];

	(void)state;
	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	dup2(fds[1], STDERR_FILENO);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(fiber_runtime_spawn(rt, NULL, wait_a_hundred_times, NULL, &f[i]),
				 0);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(fiber_join(f[i], NULL, FIBER_FOREVER), 0);
	/* The service thread prints it asynchronously. */
	while (!lines && fiber_now() - began < 20000 * MS)
		lines += count_lines(fds[0]);
	dup2(old, STDERR_FILENO);
	lines += count_lines(fds[0]);
	assert_in_range(lines, 1, 2 + (fiber_now() - began) / (1000 * MS));
	close(old);
	close(fds[0]);
	close(fds[1]);
	carriers_finish(rt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pin_policy_holds_from_the_next_wait_while_all_carriers_block),
		cmocka_unit_test(test_pin_policy_may_change_at_any_time_and_loses_nothing),
		cmocka_unit_test(test_pin_scope_is_left_by_exit_and_failure),
		cmocka_unit_test(test_pin_scope_is_left_by_a_cancelled_fiber),
		cmocka_unit_test(test_pin_warning_is_one_line_a_second_however_many_wait),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
