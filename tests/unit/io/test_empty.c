/* SPDX-License-Identifier: MIT */
/*
 * test_empty.c - a read that would find nothing is not tried first, and every result is the same
 *
 * The receiving system call is replaced here, and counts; registrations are counted too.
 */
#include "inside.h"

#include <netinet/in.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

#include "io/empty.h"
#include "os/calls.h"
#include "runtime/runtime.h"
#include "tests/harness/paths.h"

#define SETTLES 12  /* after so many reads that found nothing the next is not tried first */
#define ROUNDS	100 /* of which a few are */

static _Atomic unsigned tries, registrations;

/* Both functions replace those of one file of the library, which is not linked in. */
ssize_t fib_os_recv_now(int fd, void *buf, size_t size, int flags)
{
	const ssize_t n = recv(fd, buf, size, flags);

	tries++;
	return n < 0 ? -errno : n;
}

ssize_t fib_os_send_now(int fd, const void *buf, size_t size, int flags)
{
	const ssize_t n = send(fd, buf, size, flags);

	return n < 0 ? -errno : n;
}

int epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
	registrations++;
	return (int)syscall(SYS_epoll_ctl, epoll, op, fd, event);
}

static _Atomic unsigned questions;

int getsockopt(int fd, int level, int name, void *value, socklen_t *size)
{
	questions++;
	return (int)syscall(SYS_getsockopt, fd, level, name, value, size);
}

struct reading {
	int fd;
	int64_t deadline;
	char byte;
};

static void *do_read(void *arg)
{
	struct reading *r = arg;

	return (void *)(intptr_t)fiber_read(r->fd, &r->byte, 1, r->deadline);
}

static void *do_read_pinned(void *arg)
{
	return as_pinned(do_read, arg);
}

static void *do_read_cancelled(void *arg)
{
	return as_cancelled(do_read, arg);
}

static void *do_close(void *arg)
{
	return (void *)(intptr_t)fiber_close(*(int *)arg);
}

static intptr_t read_one(int fd, int64_t deadline)
{
	struct reading r = {fd, deadline, 0};

	return inside(do_read, &r);
}

/* The ends of a connection, made without libfiber; what is written to [1] is read from [0]. */
struct line {
	int ends[2];
};

static struct line line_of(bool pipes)
{
	struct line l;

	if (pipes)
		assert_int_equal(pipe(l.ends), 0);
	else
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, l.ends), 0);
	return l;
}

static void close_line(struct line *l)
{
	inside(do_close, &l->ends[0]);
	close(l->ends[1]);
}

/* A fiber waits for each of n bytes before it is written. */
static void converse(const struct line *l, int n)
{
	for (int i = 0; i < n; i++) {
		struct reading r = {l->ends[0], FIBER_FOREVER, 0};
		struct fiber *fiber = inside_suspended(do_read, &r);

		assert_int_equal(write(l->ends[1], "m", 1), 1);
		assert_int_equal(inside_join(fiber), 1);
	}
}

/*
 * A line on which a read is not tried first. It has a number of its own: of numbers that a test has
 * given to other files unnoticed the file is not known any more.
 */
static struct line settled(bool pipes)
{
	static int number = 500;
	struct line l = line_of(pipes);

	assert_int_equal(dup2(l.ends[0], number), number);
	close(l.ends[0]);
	l.ends[0] = number++;
	converse(&l, SETTLES);
	return l;
}

static void needs_epoll(void)
{
	if (!strcmp(rt->sched.poller->ops->name, "epoll"))
		return;
	print_message("# skipped: other pollers do not know files\n");
	skip();
}

static void test_empty_line_is_tried_once_for_each_message(void **state)
{
	struct line l;

	(void)state;
	needs_epoll();
	l = settled(false);
	tries = registrations = questions = 0;
	converse(&l, ROUNDS);
	assert_in_range(tries, ROUNDS, ROUNDS + ROUNDS / 16);
	/* One before each wait; and one that changes nothing, after it. */
	assert_int_equal(registrations, 2 * ROUNDS);
	/* The kind of file is known. */
	assert_int_equal(questions, 0);
	close_line(&l);
}

/* SO_RCVLOWAT: a read returns bytes of which poll(2) does not know. */
static void test_empty_line_over_tcp_is_tried_first(void **state)
{
	struct sockaddr_in to = {.sin_family = AF_INET};
	socklen_t size = sizeof to;
	const int listener = socket(AF_INET, SOCK_STREAM, 0), lowest = 2;
	struct line l;

	(void)state;
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(listener, (struct sockaddr *)&to, size), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&to, &size), 0);
	l.ends[0] = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(l.ends[0], (struct sockaddr *)&to, size), 0);
	l.ends[1] = accept(listener, NULL, NULL);
	converse(&l, ROUNDS);
	assert_int_equal(setsockopt(l.ends[0], SOL_SOCKET, SO_RCVLOWAT, &lowest, sizeof lowest), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(write(l.ends[1], "b", 1), 1);
		assert_int_equal(poll(&(struct pollfd){.fd = l.ends[0], .events = 0}, 1, 10), 0);
		assert_int_equal(read_one(l.ends[0], FIBER_FOREVER), 1);
	}
	close(listener);
	close_line(&l);
}

/* Once bytes are there already, that is found out soon, and no read is registered any more. */
static void test_empty_line_that_is_full_now_is_tried_first_again(void **state)
{
	struct line l;
	int i;

	(void)state;
	needs_epoll();
	l = settled(true);
	for (i = 0; i < 3 * ROUNDS; i++)
		assert_int_equal(write(l.ends[1], "m", 1), 1);
	for (i = 0; i < ROUNDS; i++)
		assert_int_equal(read_one(l.ends[0], FIBER_FOREVER), 1);
	registrations = 0;
	for (i = 0; i < 2 * ROUNDS; i++)
		assert_int_equal(read_one(l.ends[0], FIBER_FOREVER), 1);
	assert_int_equal(registrations, 0);
	/* One read that finds nothing does not change that. */
	converse(&l, 1);
	registrations = 0;
	assert_int_equal(write(l.ends[1], "m", 1), 1);
	assert_int_equal(read_one(l.ends[0], FIBER_FOREVER), 1);
	assert_int_equal(registrations, 0);
	close_line(&l);
}

/* A read of a settled line, with a byte there or without. */
static void read_settled(bool pipes, bool there, fiber_fn *fn, int64_t deadline, intptr_t expected)
{
	struct line l = settled(pipes);
	struct reading r = {l.ends[0], deadline, 0};
	struct fiber *fiber;

	if (there)
		assert_int_equal(write(l.ends[1], "m", 1), 1);
	registrations = 0;
	fiber = inside_spawn(fn, &r);
	assert_int_equal(fn == do_read_cancelled ? inside_join_cancelled(fiber)
						 : inside_join(fiber),
			 expected);
	/* A read that may not wait is not prepared for a wait, unless it found nothing. */
	if (deadline <= 0)
		assert_true(registrations <= !there);
	close_line(&l);
}

static void test_empty_line_gives_what_is_there_whatever_the_deadline(void **state)
{
	const int64_t past[] = {-1, 0, 1, fiber_now()};

	(void)state;
	for (int pipes = 0; pipes < 2; pipes++) {
		for (size_t i = 0; i < sizeof past / sizeof past[0]; i++) {
			read_settled(pipes, true, do_read, past[i], 1);
			read_settled(pipes, false, do_read, past[i], -ETIMEDOUT);
		}
		read_settled(pipes, true, do_read, FIBER_FOREVER, 1);
		read_settled(pipes, false, do_read, fiber_after(50 * MS), -ETIMEDOUT);
		read_settled(pipes, true, do_read_pinned, FIBER_FOREVER, 1);
		read_settled(pipes, false, do_read_pinned, fiber_after(50 * MS), -ETIMEDOUT);
		read_settled(pipes, true, do_read_cancelled, FIBER_FOREVER, 1);
		read_settled(pipes, false, do_read_cancelled, FIBER_FOREVER, -ECANCELED);
	}
}

static void test_empty_line_is_read_by_a_thread(void **state)
{
	struct line l;
	struct reading r = {-1, FIBER_FOREVER, 0};

	(void)state;
	for (int pipes = 0; pipes < 2; pipes++) {
		l = settled(pipes);
		r.fd = l.ends[0];
		assert_int_equal(write(l.ends[1], "m", 1), 1);
		assert_int_equal(on_a_thread(do_read, &r), 1);
		close_line(&l);
	}
}

static void *read_nothing(void *arg)
{
	return (void *)(intptr_t)fiber_read(*(int *)arg, NULL, 0, FIBER_FOREVER);
}

static void test_empty_line_gives_no_bytes_at_once_and_its_end(void **state)
{
	(void)state;
	for (int pipes = 0; pipes < 2; pipes++)
		for (int early = 0; early < 2; early++) {
			struct line l = settled(pipes);
			struct reading r = {l.ends[0], FIBER_FOREVER, 0};
			struct fiber *fiber;

			assert_int_equal(inside(read_nothing, &l.ends[0]), 0);
			if (early)
				close(l.ends[1]);
			fiber = early ? inside_spawn(do_read, &r) : inside_suspended(do_read, &r);
			if (!early)
				close(l.ends[1]);
			assert_int_equal(inside_join(fiber), 0);
			assert_int_equal(read_one(l.ends[0], FIBER_FOREVER), 0);
			inside(do_close, &l.ends[0]);
		}
}

static void test_empty_line_that_is_closed_is_ebadf(void **state)
{
	(void)state;
	for (int pipes = 0; pipes < 2; pipes++) {
		struct line l = settled(pipes);
		struct reading r = {l.ends[0], FIBER_FOREVER, 0};
		struct fiber *fiber = inside_suspended(do_read, &r);

		assert_int_equal(inside(do_close, &l.ends[0]), 0);
		assert_int_equal(inside_join(fiber), -EBADF);
		assert_int_equal(read_one(l.ends[0], FIBER_FOREVER), -EBADF);
		close(l.ends[1]);
		l = settled(pipes);
		close(l.ends[0]);
		assert_int_equal(read_one(l.ends[0], FIBER_FOREVER), -EBADF);
		close(l.ends[1]);
	}
}

/* The program puts another file in the place of the line. Its result is that of the first try. */
static void test_empty_line_that_cannot_be_read_now_is_ebadf(void **state)
{
	fiber_fn *const fns[] = {do_read, do_read_pinned};

	(void)state;
	for (int i = 0; i < 6; i++) {
		struct line l = settled(i % 2), wrong = line_of(true);
		struct reading r = {l.ends[0], FIBER_FOREVER, 0};

		assert_int_equal(dup2(wrong.ends[1], r.fd), r.fd);
		assert_int_equal(i / 2 < 2 ? inside(fns[i / 2], &r) : on_a_thread(do_read, &r),
				 -EBADF);
		assert_int_equal(read_one(r.fd, FIBER_FOREVER), -EBADF);
		close_line(&l);
		close(wrong.ends[0]);
		close(wrong.ends[1]);
	}
}

static void test_empty_line_that_is_another_file_now_is_tried_first(void **state)
{
	char name[] = "test_empty-XXXXXX";
	const int disk = mkstemp(name);

	(void)state;
	assert_true(disk >= 0);
	assert_int_equal(unlink(name), 0);
	assert_int_equal(write(disk, "d", 1), 1);
	for (int pipes = 0; pipes < 2; pipes++) {
		struct line l = settled(pipes), other = line_of(!pipes);
		const int fd = l.ends[0], kept = dup(fd);

		assert_int_equal(lseek(disk, 0, SEEK_SET), 0);
		assert_int_equal(dup2(disk, fd), fd);
		assert_int_equal(read_one(fd, FIBER_FOREVER), 1);
		assert_int_equal(dup2(other.ends[0], fd), fd);
		assert_int_equal(write(other.ends[1], "o", 1), 1);
		assert_int_equal(read_one(fd, FIBER_FOREVER), 1);
		/* And back. */
		assert_int_equal(dup2(kept, fd), fd);
		converse(&l, SETTLES);
		assert_int_equal(write(l.ends[1], "m", 1), 1);
		assert_int_equal(read_one(fd, FIBER_FOREVER), 1);
		close_line(&l);
		close(kept);
		close(other.ends[0]);
		close(other.ends[1]);
	}
	close(disk);
}

struct late {
	int fd;
	struct fib_look look;
};

static void *await_late(void *arg)
{
	struct late *l = arg;

	return (void *)(intptr_t)fib_empty_await(l->fd, &l->look, FIBER_FOREVER);
}

/* Wait for room in a full pipe, so that the poller knows it. */
static void *write_too_much(void *arg)
{
	static const char much[1 << 17];
	const int fd = *(int *)arg;

	while (fiber_write(fd, much, sizeof much, 0) > 0)
		;
	return (void *)(intptr_t)fiber_write(fd, much, sizeof much, fiber_after(5 * MS));
}

/* A fiber lost its CPU between its look and the wait; meanwhile the number was closed and reused. */
static void test_empty_line_says_nothing_of_the_next_with_its_number(void **state)
{
	struct line l, next = line_of(true);
	struct late late;

	(void)state;
	needs_epoll();
	l = settled(false); /* reads of a pipe are only counted where preadv2(2) is */
	late.fd = l.ends[0];
	fib_descriptor_look_to_read(late.fd, &late.look);
	assert_int_equal(inside(do_close, &l.ends[0]), 0);
	assert_int_equal(dup2(next.ends[1], late.fd), late.fd);
	assert_int_equal(inside(write_too_much, &late.fd), -ETIMEDOUT);
	assert_int_equal(inside(await_late, &late), -EBADF);
	registrations = 0;
	assert_int_equal(read_one(late.fd, FIBER_FOREVER), -EBADF);
	assert_int_equal(registrations, 0);
	close_line(&l);
	close(next.ends[0]);
	close(next.ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty_line_is_tried_once_for_each_message),
		cmocka_unit_test(test_empty_line_over_tcp_is_tried_first),
		cmocka_unit_test(test_empty_line_that_is_full_now_is_tried_first_again),
		cmocka_unit_test(test_empty_line_gives_what_is_there_whatever_the_deadline),
		cmocka_unit_test(test_empty_line_is_read_by_a_thread),
		cmocka_unit_test(test_empty_line_that_cannot_be_read_now_is_ebadf),
		cmocka_unit_test(test_empty_line_gives_no_bytes_at_once_and_its_end),
		cmocka_unit_test(test_empty_line_that_is_closed_is_ebadf),
		cmocka_unit_test(test_empty_line_that_is_another_file_now_is_tried_first),
		cmocka_unit_test(test_empty_line_says_nothing_of_the_next_with_its_number),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
