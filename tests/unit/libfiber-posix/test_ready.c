/* SPDX-License-Identifier: MIT */
/* test_ready.c - poll(2), ppoll(2) and epoll_wait(2) in a fiber, as POSIX and Linux say */
#include "outcome.h"

#include <signal.h>
#include <sys/epoll.h>

/* buf: struct pollfd, size: how many. */
static void *do_poll(void *arg)
{
	struct call *c = arg;

	return outcome(c, poll(c->buf, c->size, c->timeout));
}

static void *do_ppoll(void *arg)
{
	struct call *c = arg;
	const struct timespec t = {c->timeout / 1000, c->timeout % 1000 * 1000000L};

	return outcome(c, ppoll(c->buf, c->size, c->timeout < 0 ? NULL : &t, NULL));
}

static void *do_ppoll_masked(void *arg)
{
	struct call *c = arg;
	const struct timespec t = {c->timeout / 1000, c->timeout % 1000 * 1000000L};
	sigset_t none;

	sigemptyset(&none);
	return outcome(c, ppoll(c->buf, c->size, c->timeout < 0 ? NULL : &t, &none));
}

static fiber_fn *const polls[] = {do_poll, do_ppoll, do_ppoll_masked};
#define POLLS (sizeof polls / sizeof polls[0])

static int in[2], out[2];

static int open_pipes(void **state)
{
	(void)state;
	return pipe(in) < 0 || pipe(out) < 0 ? -1 : 0;
}

static int close_pipes(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		close(in[i]);
		close(out[i]);
	}
	return 0;
}

static void test_poll_parks_until_one_of_its_descriptors_is_ready(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * POLLS; i++) {
		struct pollfd fds[3] = {
			{in[0], POLLIN, -1}, {-1, POLLIN, -1}, {out[0], POLLIN, -1}};
		struct call c = {.buf = fds, .size = i % 2 ? 3 : 1, .timeout = -1};
		struct fiber *f = inside_suspended(polls[i / 2], &c);
		char byte;

		assert_int_equal(write(in[1], "x", 1), 1);
		assert_int_equal(inside_join(f), 1);
		assert_int_equal(fds[0].revents, POLLIN);
		assert_int_equal(fds[1].revents, i % 2 ? 0 : -1);
		assert_int_equal(read(in[0], &byte, 1), 1);
	}
}

static void test_poll_is_0_at_its_time_out_and_clears_what_was_reported(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * POLLS; i++) {
		struct pollfd fds[2] = {{in[0], POLLIN, -1}, {out[0], POLLIN, -1}};
		struct call c = {.buf = fds, .size = i % 2 + 1, .timeout = 20};
		const int64_t began = fiber_now();

		both_give(polls[i / 2], &c, 0, 0);
		assert_true(fiber_now() - began >= 40 * MS);
		assert_int_equal(fds[0].revents, 0);
	}
}

static void test_poll_without_time_does_not_park(void **state)
{
	struct pollfd fds[1] = {{in[0], POLLIN, -1}};
	struct call c = {.buf = fds, .size = 1};

	(void)state;
	for (size_t i = 0; i < POLLS; i++)
		both_give(polls[i], &c, 0, 0);
}

static void test_poll_reports_hang_ups_errors_and_closed_numbers(void **state)
{
	int fds[2], closed;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	closed = dup(fds[0]);
	close(closed);
	close(fds[1]);
	for (size_t i = 0; i < 2 * POLLS; i++) {
		struct pollfd p[2] = {{fds[0], POLLIN, 0}, {closed, POLLIN, 0}};
		struct call c = {.buf = i % 2 ? p + 1 : p, .size = 1, .timeout = -1};

		both_give(polls[i / 2], &c, 1, 0);
		assert_int_equal(p[i % 2].revents, i % 2 ? POLLNVAL : POLLHUP);
		c.buf = p;
		c.size = 2;
		both_give(polls[i / 2], &c, 2, 0);
	}
	close(fds[0]);
}

static void test_poll_without_descriptors_sleeps(void **state)
{
	struct call c = {.timeout = 20};
	const int64_t began = fiber_now();

	(void)state;
	for (size_t i = 0; i < POLLS; i++)
		both_give(polls[i], &c, 0, 0);
	assert_true(fiber_now() - began >= (int64_t)POLLS * 40 * MS);
}

static void *do_bad_time(void *arg)
{
	const struct timespec t = {0, -1};
	struct call *c = arg;

	return outcome(c, ppoll(NULL, 0, &t, NULL));
}

static void test_times_that_the_system_refuses_are_refused(void **state)
{
	struct call c = {0};

	(void)state;
	both_give(do_bad_time, &c, -1, EINVAL);
}

static void *do_epoll_wait(void *arg)
{
	struct call *c = arg;
	struct epoll_event events[4];

	return outcome(c, epoll_wait(c->fd, events, (int)c->size, c->timeout));
}

static void *do_epoll_pwait(void *arg)
{
	struct call *c = arg;
	struct epoll_event events[4];
	sigset_t none;

	sigemptyset(&none);
	return outcome(c, epoll_pwait(c->fd, events, (int)c->size, c->timeout, &none));
}

static void test_epoll_wait_parks_until_an_event_comes_again_and_again(void **state)
{
	fiber_fn *const waits[] = {do_epoll_wait, do_epoll_pwait};
	struct call c = {.fd = epoll_create1(0), .size = 4, .timeout = -1};
	struct epoll_event e = {.events = EPOLLIN};
	char byte;

	(void)state;
	assert_int_equal(epoll_ctl(c.fd, EPOLL_CTL_ADD, in[0], &e), 0);
	assert_int_equal(epoll_ctl(c.fd, EPOLL_CTL_ADD, out[0], &e), 0);
	for (size_t i = 0; i < 20; i++) {
		struct fiber *f = inside_suspended(waits[i % 2], &c);
		int *const which = i % 3 ? in : out;

		assert_int_equal(write(which[1], "x", 1), 1);
		assert_int_equal(inside_join(f), 1);
		assert_int_equal(read(which[0], &byte, 1), 1);
	}
	c.timeout = 10;
	both_give(do_epoll_wait, &c, 0, 0);
	both_give(do_epoll_pwait, &c, 0, 0);
	c.size = 0;
	both_give(do_epoll_wait, &c, -1, EINVAL);
	close(c.fd);
}

/* Files are always ready to read and to write, and for nothing else. */
static void test_poll_of_a_file_for_other_events_ends_at_its_time_out(void **state)
{
	char path[HARNESS_PATH];
	const int fds[] = {open("/dev/null", O_RDWR),
			   open(harness_file(path, "file"), O_RDWR | O_CREAT, 0600)};

	(void)state;
	for (size_t i = 0; i < 2 * POLLS; i++) {
		struct pollfd p = {fds[i % 2], POLLPRI, -1};
		struct call c = {.buf = &p, .size = 1, .timeout = 20};
		struct fiber *f;

		both_give(polls[i / 2], &c, 0, 0);
		assert_int_equal(p.revents, 0);
		p.events = POLLPRI | POLLOUT;
		both_give(polls[i / 2], &c, 1, 0);
		assert_int_equal(p.revents, POLLOUT);
		p.events = POLLPRI;
		c.timeout = -1;
		f = inside_suspended(polls[i / 2], &c);
		fiber_cancel(f);
		assert_int_equal(inside_join_cancelled(f), -1);
		assert_int_equal(c.error, ECANCELED);
	}
	close(fds[0]);
	close(fds[1]);
}

static volatile sig_atomic_t signals;

static void count(int signal)
{
	(void)signal;
	signals++;
}

/* SIGUSR1 is blocked in each thread. A mask lets it in. */
static void test_signal_that_a_mask_lets_in_ends_the_wait(void **state)
{
	fiber_fn *const waits[] = {do_ppoll_masked, do_epoll_pwait};
	const struct sigaction handler = {.sa_handler = count};
	struct call c = {.fd = epoll_create1(0), .timeout = -1};
	struct pollfd p = {in[0], POLLIN, 0};

	(void)state;
	assert_int_equal(sigaction(SIGUSR1, &handler, NULL), 0);
	for (int i = 0; i < 2; i++) {
		struct fiber *f;

		c.buf = &p;
		c.size = 1;
		f = inside_suspended(waits[i], &c);
		assert_int_equal(kill(getpid(), SIGUSR1), 0);
		assert_int_equal(inside_join(f), -1);
		assert_int_equal(c.error, EINTR);
		assert_int_equal(signals, i + 1);
	}
	close(c.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_poll_parks_until_one_of_its_descriptors_is_ready, open_pipes,
			close_pipes),
		cmocka_unit_test_setup_teardown(
			test_poll_is_0_at_its_time_out_and_clears_what_was_reported, open_pipes,
			close_pipes),
		cmocka_unit_test_setup_teardown(test_poll_without_time_does_not_park, open_pipes,
						close_pipes),
		cmocka_unit_test(test_poll_reports_hang_ups_errors_and_closed_numbers),
		cmocka_unit_test(test_poll_without_descriptors_sleeps),
		cmocka_unit_test(test_times_that_the_system_refuses_are_refused),
		cmocka_unit_test_setup_teardown(
			test_epoll_wait_parks_until_an_event_comes_again_and_again, open_pipes,
			close_pipes),
		cmocka_unit_test(test_poll_of_a_file_for_other_events_ends_at_its_time_out),
		cmocka_unit_test_setup_teardown(test_signal_that_a_mask_lets_in_ends_the_wait,
						open_pipes, close_pipes),
	};
	sigset_t blocked;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &blocked, NULL);
	OUTCOME_MAIN(tests);
}
