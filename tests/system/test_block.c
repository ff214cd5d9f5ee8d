/* SPDX-License-Identifier: MIT */
/* test_block.c - blocking calls run on other threads, and the carriers stay free */
#include "carriers.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* -- a reader blocks in read(2) while fibers run -- */

struct line {
	int end[2];
	atomic_int turns;
	ssize_t got;
	int rc, wrote;
};

static void *read_a_byte(void *arg)
{
	struct line *l = arg;
	char byte;

	l->got = read(l->end[0], &byte, 1);
	return arg;
}

static void *wait_for_a_byte(void *arg)
{
	struct line *l = arg;
	void *ret = NULL;

	l->rc = fiber_block(read_a_byte, l, &ret, FIBER_FOREVER);
	if (ret != l)
		l->rc = 1;
	return NULL;
}

static void *turn(void *arg)
{
	struct line *l = arg;

	for (int i = 0; i < 1000; i++) {
		l->turns++;
		fiber_yield();
	}
	return NULL;
}

static void *turn_and_write(void *arg)
{
	struct line *l = arg;
	struct fiber *f[9];

	fiber_spawn(wait_for_a_byte, l, &f[8]);
	for (int i = 0; i < 8; i++)
		fiber_spawn(turn, l, &f[i]);
	for (int i = 0; i < 8; i++)
		fiber_join(f[i], NULL, FIBER_FOREVER);
	l->wrote = write(l->end[1], "", 1) == 1 ? 0 : -errno;
	fiber_join(f[8], NULL, FIBER_FOREVER);
	return NULL;
}

static void test_block_leaves_the_carriers_to_the_others(void **state)
{
	struct line l = {.got = -1, .rc = 1, .wrote = 1};

	(void)state;
	assert_int_equal(pipe(l.end), 0);
	carriers_run(turn_and_write, &l);
	assert_int_equal(l.turns, 8000);
	assert_int_equal(l.got, 1);
	assert_int_equal(l.rc, 0);
	assert_int_equal(l.wrote, 0);
	close(l.end[0]);
	close(l.end[1]);
}

/* -- many calls from many threads and fibers -- */

struct sum {
	atomic_int calls, wrong;
};

static void *add_one(void *arg)
{
	struct sum *s = arg;

	s->calls++;
	return arg;
}

static void *call_often(void *arg)
{
	struct sum *s = arg;

	for (int i = 0; i < 50; i++) {
		void *ret = NULL;

		if (fiber_block(add_one, s, &ret, FIBER_FOREVER) < 0 || ret != s)
			s->wrong++;
	}
	return NULL;
}

static void test_block_is_called_once_for_each_of_many_fibers_and_threads(void **state)
{
	struct fiber_runtime *rt = carriers_start();
	struct sum s = {0};
	struct fiber *fibers[100];
	pthread_t threads[4];

	(void)state;
	for (int i = 0; i < 100; i++)
		assert_int_equal(fiber_runtime_spawn(rt, NULL, call_often, &s, &fibers[i]), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, call_often, &s), 0);
	for (int i = 0; i < 100; i++)
		assert_int_equal(fiber_join(fibers[i], NULL, FIBER_FOREVER), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	carriers_finish(rt);
	assert_int_equal(s.calls, 104 * 50);
	assert_int_equal(s.wrong, 0);
}

/* -- a call that outlasts its caller keeps its argument -- */

struct parcel {
	atomic_bool *delivered;
	int fd;
};

static void *deliver(void *arg)
{
	struct parcel *p = arg;
	atomic_bool *delivered = p->delivered;
	char byte;

	if (read(p->fd, &byte, 1) == 1)
		free(p);
	*delivered = true;
	return NULL;
}

static void *send_parcel(void *arg)
{
	struct line *l = arg;
	static atomic_bool delivered;
	struct parcel *p = malloc(sizeof(*p));

	if (!p)
		return NULL;
	*p = (struct parcel){&delivered, l->end[0]};
	l->rc = fiber_block(deliver, p, NULL, fiber_after(2 * MS));
	return &delivered;
}

static void test_block_past_its_deadline_goes_on_with_its_argument(void **state)
{
	struct line l = {.rc = 1};
	atomic_bool *delivered;

	(void)state;
	assert_int_equal(pipe(l.end), 0);
	delivered = carriers_run(send_parcel, &l).value;
	assert_int_equal(l.rc, -ETIMEDOUT);
	assert_false(*delivered);
	assert_int_equal(write(l.end[1], "", 1), 1);
	while (!*delivered)
		sched_yield();
	close(l.end[0]);
	close(l.end[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_block_leaves_the_carriers_to_the_others),
		cmocka_unit_test(test_block_is_called_once_for_each_of_many_fibers_and_threads),
		cmocka_unit_test(test_block_past_its_deadline_goes_on_with_its_argument),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
