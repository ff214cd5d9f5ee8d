/* SPDX-License-Identifier: MIT */
/* test_thread.c - a thread is joined once, and the join parks only the fiber that waits for it */
#include "inside.h"

#include <sys/resource.h>

#include "io/call_on_thread.h"

struct joining {
	pthread_t thread;
	int64_t deadline;
	void *value;
};

static void *do_join(void *arg)
{
	struct joining *j = arg;

	return (void *)(intptr_t)fiber_thread_join(j->thread, &j->value, j->deadline);
}

static int hold_fds[2]; /* a byte in this pipe lets one thread end */

static void *held(void *arg)
{
	char byte;

	return read(hold_fds[0], &byte, 1) == 1 ? arg : NULL;
}

static void *at_once(void *arg)
{
	return arg;
}

static void let_one_go(void)
{
	assert_int_equal(write(hold_fds[1], "x", 1), 1);
}

static struct joining thread(void *(*fn)(void *), void *arg)
{
	struct joining j = {.deadline = FIBER_FOREVER};

	assert_int_equal(pthread_create(&j.thread, NULL, fn, arg), 0);
	return j;
}

static void await_suspended(struct fiber *f)
{
	while (fiber_state(f) != FIBER_SUSPENDED)
		sched_yield();
}

static void test_thread_that_ends_later_wakes_its_joiner_and_gives_its_value(void **state)
{
	int mark;
	struct joining j = thread(held, &mark);
	struct fiber *f = inside_spawn(do_join, &j);

	(void)state;
	await_suspended(f);
	let_one_go();
	assert_int_equal(inside_join(f), 0);
	assert_ptr_equal(j.value, &mark);
	j = thread(held, &mark);
	let_one_go();
	assert_int_equal(on_a_thread(do_join, &j), 0);
	assert_ptr_equal(j.value, &mark);
	j = thread(at_once, &mark);
	assert_int_equal(fiber_thread_join(j.thread, NULL, FIBER_FOREVER), 0);
}

static void test_thread_that_has_ended_is_joined_whatever_the_deadline(void **state)
{
	int mark;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct joining j = thread(at_once, &mark);
		intptr_t rc;

		/* Trying is the only way to know that it has ended. */
		j.deadline = 0;
		do
			rc = i ? inside(do_join, &j) : on_a_thread(do_join, &j);
		while (rc == -ETIMEDOUT);
		assert_int_equal(rc, 0);
		assert_ptr_equal(j.value, &mark);
	}
}

static void give_up_twice(struct joining *j)
{
	struct fiber *f;

	j->deadline = fiber_after(3 * MS);
	assert_int_equal(inside(do_join, j), -ETIMEDOUT);
	assert_true(fiber_now() >= j->deadline);
	j->deadline = fiber_after(3 * MS);
	assert_int_equal(on_a_thread(do_join, j), -ETIMEDOUT);
	j->deadline = FIBER_FOREVER;
	f = inside_spawn(do_join, j);
	await_suspended(f);
	fiber_cancel(f);
	assert_int_equal(inside_join_cancelled(f), -ECANCELED);
	assert_null(j->value);
}

static void test_thread_is_joinable_after_a_wait_that_was_given_up(void **state)
{
	int mark;
	struct joining j = thread(held, &mark), again = thread(held, &mark);
	void *value = NULL;

	(void)state;
	give_up_twice(&j);
	give_up_twice(&again);
	let_one_go();
	let_one_go();
	assert_int_equal(pthread_join(j.thread, &value), 0);
	assert_ptr_equal(value, &mark);
	assert_int_equal(inside(do_join, &again), 0);
	assert_ptr_equal(again.value, &mark);
}

static void wait_for_ever(void *arg)
{
	(void)arg;
	pause();
}

/* The system gives no descriptor for the thread; here because none is left. */
static void test_thread_without_a_descriptor_is_joined_all_the_same(void **state)
{
	struct joining j, again;
	struct rlimit before, none;
	struct fiber *f;
	void *value;
	int mark;

	(void)state;
#ifdef __SANITIZE_THREAD__
	skip(); /* ThreadSanitizer forgets a thread when its join starts */
#endif
	j = thread(held, &mark);
	again = thread(held, &mark);
	/* The code that ends a thread is loaded by the first use. */
	assert_int_equal(fib_call_on_thread("nothing", wait_for_ever, NULL, fiber_after(MS)),
			 -ETIMEDOUT);
	getrlimit(RLIMIT_NOFILE, &before);
	none = before;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
	give_up_twice(&j);
	f = inside_spawn(do_join, &again);
	await_suspended(f);
	let_one_go();
	let_one_go();
	assert_int_equal(inside_join(f), 0);
	assert_ptr_equal(again.value, &mark);
	setrlimit(RLIMIT_NOFILE, &before);
	assert_int_equal(pthread_join(j.thread, &value), 0);
	assert_ptr_equal(value, &mark);
}

static void *join_itself(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)fiber_thread_join(pthread_self(), NULL, FIBER_FOREVER);
}

static void test_thread_does_not_join_itself(void **state)
{
	(void)state;
	assert_int_equal(on_a_thread(join_itself, NULL), -EDEADLK);
	assert_int_equal(inside(join_itself, NULL), -EDEADLK); /* its carrier */
}

/*
 * A thread is joined once, whether its end or the deadline comes first, while other threads reuse
 * its number.
 */
static void test_thread_is_joined_once_however_its_end_and_the_deadline_fall(void **state)
{
	int mark;

	(void)state;
	for (int i = 0; i < 300; i++) {
		struct joining j = thread(held, &mark), other = thread(at_once, NULL);
		struct fiber *f, *g;
		intptr_t rc;

		j.deadline = fiber_after(i % 10 * 20000);
		f = inside_spawn(do_join, &j);
		g = inside_spawn(do_join, &other);
		let_one_go();
		rc = inside_join(f);
		assert_true(rc == 0 || rc == -ETIMEDOUT);
		if (rc < 0)
			assert_int_equal(pthread_join(j.thread, &j.value), 0);
		assert_ptr_equal(j.value, &mark);
		assert_int_equal(inside_join(g), 0);
	}
}

static void *join_many(void *arg)
{
	enum { MANY = 200 };
	struct joining *j = calloc(MANY, sizeof *j);
	struct fiber *f[MANY];
	struct fiber_result r;
	intptr_t wrong = 0;

	for (int i = 0; i < MANY; i++) {
		j[i] = (struct joining){.deadline = FIBER_FOREVER};
		wrong += pthread_create(&j[i].thread, NULL, held, &j[i]) != 0;
		wrong += fiber_spawn(do_join, &j[i], &f[i]) < 0;
	}
	fiber_yield();
	for (int i = 0; i < MANY; i++)
		wrong += fiber_write(hold_fds[1], "x", 1, FIBER_FOREVER) != 1;
	for (int i = 0; i < MANY; i++) {
		wrong += fiber_join(f[i], &r, FIBER_FOREVER) < 0 || r.value;
		wrong += j[i].value != &j[i];
	}
	free(j);
	(void)arg;
	return (void *)wrong;
}

static void test_thread_joiners_share_the_carriers(void **state)
{
	(void)state;
	assert_int_equal(inside(join_many, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thread_that_ends_later_wakes_its_joiner_and_gives_its_value),
		cmocka_unit_test(test_thread_that_has_ended_is_joined_whatever_the_deadline),
		cmocka_unit_test(test_thread_is_joinable_after_a_wait_that_was_given_up),
		cmocka_unit_test(test_thread_without_a_descriptor_is_joined_all_the_same),
		cmocka_unit_test(test_thread_does_not_join_itself),
		cmocka_unit_test(test_thread_is_joined_once_however_its_end_and_the_deadline_fall),
		cmocka_unit_test(test_thread_joiners_share_the_carriers),
	};

	if (pipe(hold_fds) < 0)
		return 1;
	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
