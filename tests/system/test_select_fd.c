/* SPDX-License-Identifier: MIT */
/*
 * test_select_fd.c - select with descriptors in plain threads, and in pinned fibers under each
 * policy
 *
 * These callers block, and the poller does not watch their descriptors; no runtime is needed.
 */
#include "carriers.h"
#include "tests/harness/entries.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

enum who { THREAD, FIBER, PINNED_SILENT, PINNED_WARN, PINNED_ERROR };

struct selection {
	enum who who;
	int ends[3][2];
	struct fiber_chan *chan;
	int value;
	int64_t deadline;
	struct fiber_select_case cases[4]; /* a receive, and reading from each pipe */
	_Atomic int begun;
	int rc;
	struct fiber *self;
};

static void make(struct selection *s, enum who who)
{
	int i;

	memset(s, 0, sizeof *s);
	s->who = who;
	s->value = -1;
	s->deadline = FIBER_FOREVER;
	assert_int_equal(fiber_chan_new(sizeof(int), 0, &s->chan), 0);
	s->cases[0] = (struct fiber_select_case){
		.op = FIBER_SELECT_RECV, .chan = s->chan, .elem = &s->value, .result = 77};
	for (i = 0; i < 3; i++) {
		assert_int_equal(pipe2(s->ends[i], O_CLOEXEC | O_NONBLOCK), 0);
		s->cases[i + 1] = (struct fiber_select_case){
			.op = FIBER_SELECT_FD, .fd = s->ends[i][0], .events = POLLIN, .result = 77};
	}
}

static void unmake(struct selection *s)
{
	int i;

	for (i = 0; i < 3; i++) {
		fiber_close(s->ends[i][0]);
		close(s->ends[i][1]);
	}
	fiber_chan_unref(s->chan);
}

static void *selects(void *arg)
{
	struct selection *s = arg;
	const bool pinned = s->who >= PINNED_SILENT;

	s->self = fiber_self();
	if (pinned)
		fiber_pin();
	s->begun = 1;
	s->rc = fiber_select(s->cases, 4, s->deadline);
	if (pinned)
		fiber_unpin();
	return NULL;
}

/* Run a select while meanwhile() acts on it. */
static void run_with(struct selection *s, void (*meanwhile)(struct selection *))
{
	static const enum fiber_pinned_policy policies[] = {[PINNED_WARN] = FIBER_PINNED_WARN,
							    [PINNED_SILENT] = FIBER_PINNED_SILENT,
							    [PINNED_ERROR] = FIBER_PINNED_ERROR};
	struct fiber_runtime_options options = carriers_options();
	struct fiber_runtime *rt = NULL;
	struct fiber *fiber;
	pthread_t thread;

	if (s->who == THREAD) {
		assert_int_equal(pthread_create(&thread, NULL, selects, s), 0);
	} else {
		if (s->who >= PINNED_SILENT)
			options.pinned_policy = policies[s->who];
		assert_int_equal(fiber_runtime_start(&options, &rt), 0);
		assert_int_equal(fiber_runtime_spawn(rt, NULL, selects, s, &fiber), 0);
	}
	while (!s->begun)
		sched_yield();
	if (meanwhile)
		meanwhile(s);
	if (s->who == THREAD) {
		pthread_join(thread, NULL);
	} else {
		assert_int_equal(fiber_join(fiber, NULL, FIBER_FOREVER), 0);
		carriers_finish(rt);
	}
}

static void write_second(struct selection *s)
{
	assert_int_equal(write(s->ends[1][1], "x", 1), 1);
}

static void send_seven(struct selection *s)
{
	const int seven = 7;

	assert_int_equal(fiber_chan_send(s->chan, &seven, fiber_after(20000 * MS)), 0);
}

static void cancel(struct selection *s)
{
	fiber_cancel(s->self);
}

static void nothing_else_fired(const struct selection *s, int but)
{
	int i;

	for (i = 0; i < 4; i++)
		if (i != but)
			assert_int_equal(s->cases[i].result, 77);
}

static void test_select_fires_for_a_descriptor_and_does_not_read_it(void **state)
{
	struct selection s;
	char byte = 0;
	int who, i;

	(void)state;
	for (who = THREAD; who <= PINNED_WARN; who++) {
		for (i = 0; i < 20; i++) {
			make(&s, (enum who)who);
			run_with(&s, write_second);
			assert_int_equal(s.rc, 2);
			assert_int_equal(s.cases[2].result, POLLIN);
			nothing_else_fired(&s, 2);
			assert_int_equal(read(s.ends[1][0], &byte, 1), 1);
			assert_int_equal(byte, 'x');
			unmake(&s);
		}
	}
}

static void test_select_fires_for_a_channel_and_leaves_the_descriptors(void **state)
{
	struct selection s;
	int who, i;

	(void)state;
	for (who = THREAD; who <= PINNED_WARN; who++) {
		for (i = 0; i < 20; i++) {
			make(&s, (enum who)who);
			run_with(&s, send_seven);
			assert_int_equal(s.rc, 0);
			assert_int_equal(s.value, 7);
			nothing_else_fired(&s, 0);
			unmake(&s);
		}
	}
}

static void test_select_ends_at_its_deadline(void **state)
{
	struct selection s;
	int who;

	(void)state;
	for (who = THREAD; who <= PINNED_WARN; who++) {
		make(&s, (enum who)who);
		s.deadline = fiber_after(20 * MS);
		run_with(&s, NULL);
		assert_int_equal(s.rc, -ETIMEDOUT);
		assert_true(fiber_now() >= s.deadline);
		nothing_else_fired(&s, -1);
		s.deadline = 0;
		s.begun = 0;
		run_with(&s, NULL);
		assert_int_equal(s.rc, -ETIMEDOUT);
		unmake(&s);
	}
}

static void test_select_of_a_pinned_fiber_is_cancelled(void **state)
{
	struct selection s;
	int who, i;

	(void)state;
	for (who = FIBER; who <= PINNED_WARN; who++) {
		for (i = 0; i < 20; i++) {
			make(&s, (enum who)who);
			run_with(&s, cancel);
			assert_int_equal(s.rc, -ECANCELED);
			nothing_else_fired(&s, -1);
			unmake(&s);
		}
	}
}

static void test_select_of_a_pinned_fiber_is_refused_only_where_it_would_wait(void **state)
{
	struct selection s;

	(void)state;
	make(&s, PINNED_ERROR);
	run_with(&s, NULL);
	assert_int_equal(s.rc, -EDEADLK);
	nothing_else_fired(&s, -1);
	write_second(&s);
	run_with(&s, NULL);
	assert_int_equal(s.rc, 2);
	unmake(&s);
}

static void test_select_leaves_no_descriptor_behind(void **state)
{
	struct selection s;
	unsigned before;
	int i;

	(void)state;
	make(&s, THREAD);
	before = harness_descriptors();
	for (i = 0; i < 50; i++) {
		s.deadline = fiber_after(MS / 10);
		selects(&s);
		assert_int_equal(s.rc, -ETIMEDOUT);
	}
	assert_int_equal(harness_descriptors(), before);
	unmake(&s);
}

/*
 * Threads send elements and bytes; takers of every kind wait for both. Each element and each byte
 * comes out exactly once.
 */
struct race {
	struct selection *s;
	_Atomic long received, bytes, senders;
	long total;
};

static void *takes(void *arg)
{
	struct race *r = arg;
	struct fiber_select_case cases[2];
	int value;
	char byte;

	cases[0] = r->s->cases[0];
	cases[0].elem = &value;
	cases[1] = r->s->cases[1];
	while (r->senders || r->bytes < r->total) {
		switch (fiber_select(cases, 2, fiber_after(MS))) {
		case 0:
			r->received += value;
			break;
		case 1:
			if (read(r->s->ends[0][0], &byte, 1) == 1)
				r->bytes++;
			break;
		default:
			break;
		}
	}
	return NULL;
}

static void *takes_pinned(void *arg)
{
	FIBER_PINNED_SCOPE;

	return takes(arg);
}

static void *sends(void *arg)
{
	struct race *r = arg;
	long i, sent = 0;
	int one;

	for (i = 0; i < r->total; i++) {
		one = (int)(i % 7);
		if (fiber_chan_send(r->s->chan, &one, fiber_after(i % 3 * 30000)) == 0)
			sent += one;
		while (write(r->s->ends[0][1], "x", 1) != 1)
			sched_yield();
	}
	r->senders--;
	return (void *)(intptr_t)sent;
}

static void test_select_race_of_takers_of_every_kind_loses_nothing(void **state)
{
	struct fiber_runtime_options options = carriers_options();
	struct race r = {.senders = 1, .total = (long)carriers_scale(5000)};
	struct fiber_runtime *rt;
	struct selection s;
	struct fiber *free_one, *pinned;
	pthread_t sender, taker;
	void *sent;

	(void)state;
	make(&s, THREAD);
	r.s = &s;
	options.pinned_policy = FIBER_PINNED_SILENT;
	assert_int_equal(fiber_runtime_start(&options, &rt), 0);
	assert_int_equal(fiber_runtime_spawn(rt, NULL, takes, &r, &free_one), 0);
	assert_int_equal(fiber_runtime_spawn(rt, NULL, takes_pinned, &r, &pinned), 0);
	assert_int_equal(pthread_create(&taker, NULL, takes, &r), 0);
	assert_int_equal(pthread_create(&sender, NULL, sends, &r), 0);
	pthread_join(sender, &sent);
	pthread_join(taker, NULL);
	assert_int_equal(fiber_join(free_one, NULL, FIBER_FOREVER), 0);
	assert_int_equal(fiber_join(pinned, NULL, FIBER_FOREVER), 0);
	assert_int_equal(r.received, (long)(intptr_t)sent);
	assert_int_equal(r.bytes, r.total);
	carriers_finish(rt);
	unmake(&s);
}

/* Must be the first test, while no runtime was ever started. */
static void test_select_waits_for_descriptors_in_a_program_without_runtime(void **state)
{
	struct selection s;

	(void)state;
	make(&s, THREAD);
	run_with(&s, write_second);
	assert_int_equal(s.rc, 2);
	unmake(&s);
	make(&s, THREAD);
	run_with(&s, send_seven);
	assert_int_equal(s.rc, 0);
	s.cases[1].fd = -1;
	assert_int_equal(fiber_select(s.cases, 4, FIBER_FOREVER), 1);
	assert_int_equal(s.cases[1].result, -EBADF);
	s.cases[1].fd = s.ends[0][0];
	unmake(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_select_waits_for_descriptors_in_a_program_without_runtime),
		cmocka_unit_test(test_select_fires_for_a_descriptor_and_does_not_read_it),
		cmocka_unit_test(test_select_fires_for_a_channel_and_leaves_the_descriptors),
		cmocka_unit_test(test_select_ends_at_its_deadline),
		cmocka_unit_test(test_select_of_a_pinned_fiber_is_cancelled),
		cmocka_unit_test(test_select_of_a_pinned_fiber_is_refused_only_where_it_would_wait),
		cmocka_unit_test(test_select_leaves_no_descriptor_behind),
		cmocka_unit_test(test_select_race_of_takers_of_every_kind_loses_nothing),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests_name("select: descriptors", tests, NULL, NULL);
}
