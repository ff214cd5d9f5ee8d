/* SPDX-License-Identifier: MIT */
/* test_poll.c - poll on many: ready ones are reported, later ones wake, closed ones do not */
#include "inside.h"

#include <stdlib.h>
#include <sys/resource.h>

struct crowd {
	struct pollfd *fds;
	nfds_t count;
	int64_t deadline;
};

static void *do_poll(void *arg)
{
	struct crowd *c = arg;

	return (void *)(intptr_t)fiber_poll(c->fds, c->count, c->deadline);
}

static void *do_poll_pinned(void *arg)
{
	return as_pinned(do_poll, arg);
}

struct first {
	const int *fds;
	const short *events;
	size_t count;
	int64_t deadline;
};

static void *do_await(void *arg)
{
	struct first *f = arg;

	return (void *)(intptr_t)fiber_await_fds(f->fds, f->events, f->count, f->deadline);
}

static void test_poll_tells_who_is_ready_without_waiting(void **state)
{
	struct pollfd p[4] = {{.events = POLLIN}, {.events = POLLOUT}, {.fd = -1}, {.fd = 4321}};
	struct crowd c = {p, 2, FIBER_FOREVER};
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	p[0].fd = fds[0];
	p[1].fd = fds[1];
	assert_int_equal(inside(do_poll, &c), 1);
	assert_int_equal(p[0].revents, 0);
	assert_int_equal(p[1].revents, POLLOUT);
	assert_int_equal(write(fds[1], "x", 1), 1);
	c.deadline = 0;
	assert_int_equal(inside(do_poll, &c), 2);
	assert_int_equal(on_a_thread(do_poll, &c), 2);
	/* As in poll(2), a negative descriptor is skipped and one that is not open is reported. */
	c.count = 4;
	p[2].revents = POLLIN;
	assert_int_equal(inside(do_poll, &c), 3);
	assert_int_equal(p[2].revents, 0);
	assert_int_equal(p[3].revents, POLLNVAL);
	fiber_close(fds[0]);
	fiber_close(fds[1]);
}

static void test_poll_times_out_not_before_its_deadline(void **state)
{
	struct pollfd p = {.events = POLLIN};
	struct crowd c = {&p, 1, 0};
	struct fiber *f;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	p.fd = fds[0];
	for (c.count = 0; c.count < 2; c.count++) {
		c.deadline = 0;
		assert_int_equal(inside(do_poll, &c), -ETIMEDOUT);
		c.deadline = fiber_after(2 * MS);
		assert_int_equal(inside(do_poll, &c), -ETIMEDOUT);
		assert_true(fiber_now() >= c.deadline);
		c.deadline = fiber_after(2 * MS);
		assert_int_equal(on_a_thread(do_poll, &c), -ETIMEDOUT);
		c.deadline = fiber_after(2 * MS);
		assert_int_equal(inside(do_poll_pinned, &c), -ETIMEDOUT);
		assert_true(fiber_now() >= c.deadline);
	}
	c.count = 1;
	c.deadline = FIBER_FOREVER;
	f = inside_suspended(do_poll, &c);
	assert_int_equal(fiber_cancel(f), 0);
	assert_int_equal(inside_join_cancelled(f), -ECANCELED);
	assert_int_equal(fiber_set_pinned_policy(rt, FIBER_PINNED_ERROR), 0);
	assert_int_equal(inside(do_poll_pinned, &c), -EDEADLK);
	assert_int_equal(fiber_set_pinned_policy(rt, FIBER_PINNED_WARN), 0);
	fiber_close(fds[0]);
	close(fds[1]);
}

static void test_poll_is_woken_by_each_side_and_by_the_end(void **state)
{
	static char much[65536];
	struct pollfd p[3];
	struct crowd c = {p, 3, FIBER_FOREVER};
	struct fiber *f;
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	while (send(fds[0], much, sizeof much, MSG_DONTWAIT) > 0)
		;
	/* The same descriptor three times: for reading, for writing, and for errors only. */
	for (int i = 0; i < 3; i++)
		p[i] = (struct pollfd){.fd = fds[0]};
	p[0].events = POLLIN;
	p[1].events = POLLOUT;
	f = inside_suspended(do_poll, &c);
	assert_int_equal(send(fds[1], "x", 1, 0), 1);
	assert_int_equal(inside_join(f), 1);
	assert_int_equal(p[0].revents, POLLIN);
	assert_int_equal(recv(fds[0], much, 1, 0), 1);
	f = inside_suspended(do_poll, &c);
	while (recv(fds[1], much, sizeof much, MSG_DONTWAIT) > 0)
		;
	assert_int_equal(inside_join(f), 1);
	assert_int_equal(p[1].revents, POLLOUT);
	p[0].fd = p[1].fd = -1;
	f = inside_suspended(do_poll, &c);
	close(fds[1]);
	assert_int_equal(inside_join(f), 1);
	assert_true(p[2].revents & POLLHUP);
	fiber_close(fds[0]);
}

static void test_poll_of_one_that_is_closed_hears_nothing_of_the_next(void **state)
{
	struct pollfd p[2] = {{.events = POLLIN}, {.events = POLLIN}};
	struct crowd c = {p, 2, FIBER_FOREVER};
	short events[2] = {POLLIN, POLLIN};
	int fds[2], other[2], ready[2], numbers[2];
	struct first first = {numbers, events, 2, FIBER_FOREVER};
	struct fiber *f, *g;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(pipe(other), 0);
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(write(ready[1], "x", 1), 1);
	p[0].fd = numbers[0] = other[0];
	p[1].fd = numbers[1] = fds[0];
	f = inside_suspended(do_poll, &c);
	g = inside_suspended(do_await, &first);
	assert_int_equal(fiber_close(fds[0]), 0);
	assert_int_equal(dup2(ready[0], fds[0]), fds[0]);
	assert_int_equal(inside_join(f), 1);
	assert_int_equal(p[1].revents, POLLNVAL);
	assert_int_equal(inside_join(g), -EBADF);
	close(fds[0]);
	close(fds[1]);
	for (int i = 0; i < 2; i++) {
		fiber_close(other[i]);
		close(ready[i]);
	}
}

static void test_poll_regular_file_is_ready_or_passed_over(void **state)
{
	const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct pollfd p[2] = {{.fd = file, .events = POLLIN}, {.events = POLLIN}};
	struct crowd c = {p, 1, FIBER_FOREVER};
	struct fiber *f;
	int fds[2];

	(void)state;
	assert_int_equal(inside(do_poll, &c), 1);
	assert_int_equal(pipe(fds), 0);
	/* The reading end of the pipe has no errors to report. */
	p[0].events = 0;
	p[1].fd = fds[0];
	c.count = 2;
	f = inside_suspended(do_poll, &c);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(inside_join(f), 1);
	assert_int_equal(p[0].revents, 0);
	fiber_close(fds[0]);
	close(fds[1]);
	close(file);
}

static void test_poll_await_gives_the_lowest_index_that_is_ready(void **state)
{
	int fds[2], numbers[3];
	short events[3] = {POLLIN, POLLOUT, POLLOUT};
	struct first first = {numbers, events, 3, FIBER_FOREVER};

	(void)state;
	assert_int_equal(pipe(fds), 0);
	numbers[0] = fds[0];
	numbers[1] = numbers[2] = fds[1];
	assert_int_equal(inside(do_await, &first), 1);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(inside(do_await, &first), 0);
	assert_int_equal(on_a_thread(do_await, &first), 0);
	first.count = 0;
	assert_int_equal(inside(do_await, &first), -EINVAL);
	first.count = 3;
	numbers[2] = -1;
	assert_int_equal(inside(do_await, &first), -EBADF);
	numbers[2] = 4321; /* not open, and not the first one with an event */
	assert_int_equal(inside(do_await, &first), 0);
	numbers[0] = 4321;
	assert_int_equal(inside(do_await, &first), -EBADF);
	fiber_close(fds[0]);
	fiber_close(fds[1]);
}

/* -- many -- */

/* Make Unix socket pairs: as many sockets as the process may have, at most n. Returns how many. */
static size_t open_many(int *fds, size_t n)
{
	struct rlimit limit;
	size_t i;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	for (i = 0; i + 2 <= n && socketpair(AF_UNIX, SOCK_STREAM, 0, fds + i) == 0; i += 2)
		;
	return i;
}

static void test_poll_await_has_no_limit_of_64_or_1024(void **state)
{
	enum { MANY = 6000 };
	static int fds[MANY];
	static short events[MANY];
	const size_t n = open_many(fds, MANY);
	struct first first = {fds, events, n, FIBER_FOREVER};
	struct fiber *f;

	(void)state;
	if (n <= 1024)
		skip();
	for (size_t i = 0; i < n; i++)
		events[i] = POLLIN;
	for (size_t i = 1; i < n; i = 2 * i + 1) {
		const size_t at = n - 1 - i;

		f = inside_suspended(do_await, &first);
		assert_int_equal(write(fds[at ^ 1], "x", 1), 1);
		assert_int_equal(inside_join(f), at);
		assert_int_equal(on_a_thread(do_await, &first), at);
		assert_int_equal(read(fds[at], &(char){0}, 1), 1);
	}
	for (size_t i = 0; i < n; i++)
		fiber_close(fds[i]);
}

/* More entries than the process may have descriptors, which poll(2) refuses. */
static void test_poll_takes_more_entries_than_there_can_be_descriptors(void **state)
{
	struct rlimit limit;
	struct pollfd *p;
	struct crowd c;
	struct fiber *f;
	int fds[2];

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	c = (struct crowd){NULL, limit.rlim_cur + 10, FIBER_FOREVER};
	if (c.count > 200000)
		skip();
	p = c.fds = calloc(c.count, sizeof *p);
	assert_non_null(p);
	assert_int_equal(pipe(fds), 0);
	for (nfds_t i = 0; i < c.count; i++)
		p[i] = (struct pollfd){.fd = i % 100 ? -1 : fds[0], .events = POLLIN};
	f = inside_suspended(do_poll, &c);
	assert_int_equal(write(fds[1], "x", 1), 1);
	assert_int_equal(inside_join(f), (c.count + 99) / 100);
	fiber_close(fds[0]);
	close(fds[1]);
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_poll_tells_who_is_ready_without_waiting),
		cmocka_unit_test(test_poll_times_out_not_before_its_deadline),
		cmocka_unit_test(test_poll_is_woken_by_each_side_and_by_the_end),
		cmocka_unit_test(test_poll_of_one_that_is_closed_hears_nothing_of_the_next),
		cmocka_unit_test(test_poll_regular_file_is_ready_or_passed_over),
		cmocka_unit_test(test_poll_await_gives_the_lowest_index_that_is_ready),
		cmocka_unit_test(test_poll_await_has_no_limit_of_64_or_1024),
		cmocka_unit_test(test_poll_takes_more_entries_than_there_can_be_descriptors),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
