/* SPDX-License-Identifier: MIT */
/*
 * test_descriptor.c - no edge is missed, and no edge of an earlier descriptor counts
 *
 * The test plays the poller. Each test uses a descriptor number that was never used before, so its
 * generation is 0.
 */
#include "inside.h"

#include "io/descriptor.h"

struct ends {
	int fd;	   /* the number that is waited on */
	int other; /* the other end */
};

/* A full stream socket with an unused number: neither readable nor writable. */
static struct ends make(void)
{
	static int number = 300;
	static char much[65536];
	struct ends e;
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	e.fd = dup2(fds[0], number++);
	e.other = fds[1];
	close(fds[0]);
	assert_true(e.fd >= 300);
	while (send(e.fd, much, sizeof much, MSG_DONTWAIT) > 0)
		;
	return e;
}

static void done(struct ends *e)
{
	fiber_close(e->fd);
	close(e->other);
}

static uint64_t token(int fd, uint32_t generation)
{
	return (uint64_t)generation << 32 | (uint32_t)fd;
}

struct wait {
	int fd;
	short events;
	struct fib_look look;
	int64_t deadline;
};

static void *wait_on(void *arg)
{
	struct wait *w = arg;

	return (void *)(intptr_t)fib_descriptor_wait(w->fd, w->events, &w->look, w->deadline);
}

static void *wait_pinned(void *arg)
{
	return as_pinned(wait_on, arg);
}

static struct wait look_at(int fd, short events, int64_t deadline)
{
	struct wait w = {.fd = fd, .events = events, .deadline = deadline};

	fib_descriptor_look(fd, &w.look);
	return w;
}

/* Enter the number in the table: before that there is no entry to report events to. */
static void introduce(int fd)
{
	struct wait w = look_at(fd, POLLIN, fiber_after(MS));

	assert_int_equal(inside(wait_on, &w), -ETIMEDOUT);
}

static void test_descriptor_edge_between_look_and_wait_is_not_missed(void **state)
{
	struct ends e = make();
	struct wait w;

	(void)state;
	introduce(e.fd);
	w = look_at(e.fd, POLLIN, FIBER_FOREVER);
	fib_descriptor_ready(token(e.fd, 0), POLLIN);
	assert_int_equal(inside(wait_on, &w), 0);
	w = look_at(e.fd, POLLOUT, FIBER_FOREVER);
	fib_descriptor_ready(token(e.fd, 0), POLLOUT);
	assert_int_equal(inside(wait_on, &w), 0);
	done(&e);
}

static void test_descriptor_edge_before_the_look_is_not_counted_again(void **state)
{
	struct ends e = make();
	struct wait w;

	(void)state;
	introduce(e.fd);
	fib_descriptor_ready(token(e.fd, 0), POLLIN);
	w = look_at(e.fd, POLLIN, fiber_after(5 * MS));
	assert_int_equal(inside(wait_on, &w), -ETIMEDOUT);
	done(&e);
}

static void test_descriptor_edge_moves_its_own_side_only(void **state)
{
	struct fib_look before, after;
	struct ends e = make();

	(void)state;
	introduce(e.fd);
	fib_descriptor_look(e.fd, &before);
	fib_descriptor_ready(token(e.fd, 0), POLLOUT);
	fib_descriptor_look(e.fd, &after);
	assert_int_equal(after.edges[0], before.edges[0]);
	assert_int_equal(after.edges[1], before.edges[1] + 1);
	fib_descriptor_ready(token(e.fd, 0), POLLERR);
	fib_descriptor_look(e.fd, &before);
	assert_int_equal(before.edges[0], after.edges[0] + 1);
	assert_int_equal(before.edges[1], after.edges[1] + 1);
	done(&e);
}

static void test_descriptor_event_of_an_earlier_generation_is_dropped(void **state)
{
	struct fib_look before, after;
	struct ends e = make();

	(void)state;
	introduce(e.fd);
	fib_descriptor_opened(e.fd); /* the number now refers to another file */
	fib_descriptor_look(e.fd, &before);
	fib_descriptor_ready(token(e.fd, 0), POLLIN | POLLOUT);
	fib_descriptor_look(e.fd, &after);
	assert_memory_equal(&before, &after, sizeof before);
	fib_descriptor_ready(token(e.fd, 1), POLLIN);
	fib_descriptor_look(e.fd, &after);
	assert_int_equal(after.edges[0], before.edges[0] + 1);
	done(&e);
}

static void test_descriptor_event_for_an_unknown_number_is_dropped(void **state)
{
	(void)state;
	fib_descriptor_ready(token(3000000, 0), POLLIN);
	fib_descriptor_ready(UINT64_MAX, POLLIN);
	fib_descriptor_forget(3000000);
	fib_descriptor_forget(-1);
}

static void test_descriptor_forget_wakes_both_sides_with_ebadf(void **state)
{
	struct ends e = make();
	struct wait reader = look_at(e.fd, POLLIN, FIBER_FOREVER);
	struct wait writer = look_at(e.fd, POLLOUT, FIBER_FOREVER);
	struct fiber *fibers[] = {inside_spawn(wait_on, &reader), inside_spawn(wait_on, &writer)};
	int i;

	(void)state;
	for (i = 0; i < 2; i++)
		while (fiber_state(fibers[i]) != FIBER_SUSPENDED)
			sched_yield();
	fib_descriptor_forget(e.fd);
	for (i = 0; i < 2; i++)
		assert_int_equal(inside_join(fibers[i]), -EBADF);
	done(&e);
}

static void test_descriptor_wait_for_both_directions_ends_with_either(void **state)
{
	struct ends e = make();
	char piece[65536];
	struct wait w;

	(void)state;
	introduce(e.fd);
	w = look_at(e.fd, POLLIN | POLLOUT, fiber_after(MS));
	assert_int_equal(inside(wait_on, &w), -ETIMEDOUT);
	w = look_at(e.fd, POLLIN | POLLOUT, FIBER_FOREVER);
	assert_int_equal(write(e.other, "x", 1), 1);
	assert_int_equal(inside(wait_on, &w), 0);
	assert_int_equal(read(e.fd, piece, 1), 1);
	w = look_at(e.fd, POLLIN | POLLOUT, FIBER_FOREVER);
	while (recv(e.other, piece, sizeof piece, MSG_DONTWAIT) > 0)
		;
	assert_int_equal(inside(wait_on, &w), 0);
	done(&e);
}

static void test_descriptor_wait_knows_every_name_of_an_event(void **state)
{
	struct ends e = make();
	char piece[65536];
	struct wait w;

	(void)state;
	introduce(e.fd);
	w = look_at(e.fd, POLLRDNORM, FIBER_FOREVER);
	assert_int_equal(write(e.other, "x", 1), 1);
	assert_int_equal(inside(wait_on, &w), 0);
	assert_int_equal(read(e.fd, piece, 1), 1);
	w = look_at(e.fd, POLLWRNORM, FIBER_FOREVER);
	while (recv(e.other, piece, sizeof piece, MSG_DONTWAIT) > 0)
		;
	assert_int_equal(inside(wait_on, &w), 0);
	done(&e);
}

static void test_descriptor_bad_numbers_are_ebadf(void **state)
{
	struct wait w = look_at(-1, POLLIN, FIBER_FOREVER);

	(void)state;
	assert_int_equal(inside(wait_on, &w), -EBADF);
	assert_int_equal(inside(wait_pinned, &w), -EBADF);
	assert_int_equal(on_a_thread(wait_on, &w), -EBADF);
	w = look_at(INT32_MAX, POLLIN, FIBER_FOREVER);
	assert_int_equal(inside(wait_on, &w), -EBADF);
	w = look_at(299, POLLIN, FIBER_FOREVER);
	assert_int_equal(inside(wait_on, &w), -EBADF);
	assert_int_equal(on_a_thread(wait_on, &w), -EBADF);
}

static void test_descriptor_that_no_poller_takes_is_ready(void **state)
{
	const int fd = open("/proc/self/exe", O_RDONLY);
	struct wait w = look_at(fd, POLLIN, FIBER_FOREVER);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(inside(wait_on, &w), 0);
	close(fd);
}

static void test_descriptor_wait_of_a_thread_blocks_until_ready_or_deadline(void **state)
{
	struct ends e = make();
	struct wait w = look_at(e.fd, POLLIN, fiber_after(2 * MS));

	(void)state;
	assert_int_equal(on_a_thread(wait_on, &w), -ETIMEDOUT);
	assert_true(fiber_now() >= w.deadline);
	w.deadline = FIBER_FOREVER;
	assert_int_equal(write(e.other, "x", 1), 1);
	assert_int_equal(on_a_thread(wait_on, &w), 0);
	done(&e);
}

static void test_descriptor_wait_of_a_pinned_fiber_follows_the_policy(void **state)
{
	struct ends e = make();
	struct wait w = look_at(e.fd, POLLIN, FIBER_FOREVER);

	(void)state;
	fiber_set_pinned_policy(rt, FIBER_PINNED_ERROR);
	assert_int_equal(inside(wait_pinned, &w), -EDEADLK);
	w.deadline = 0;
	assert_int_equal(inside(wait_pinned, &w), -ETIMEDOUT);
	fiber_set_pinned_policy(rt, FIBER_PINNED_SILENT);
	w.deadline = fiber_after(2 * MS);
	assert_int_equal(inside(wait_pinned, &w), -ETIMEDOUT);
	assert_int_equal(write(e.other, "x", 1), 1);
	fiber_set_pinned_policy(rt, FIBER_PINNED_ERROR);
	assert_int_equal(inside(wait_pinned, &w), 0);
	done(&e);
}

static void *rest_on(void *arg)
{
	struct wait *w = arg;

	return (void *)(intptr_t)fib_descriptor_rest(w->fd, &w->look, 5 * MS, w->deadline);
}

static void test_descriptor_rest_lasts_its_time_whatever_is_ready(void **state)
{
	struct ends e = make();
	struct wait w;
	int64_t began;

	(void)state;
	introduce(e.fd);
	assert_int_equal(send(e.other, "x", 1, 0), 1);
	began = fiber_now();
	w = look_at(e.fd, POLLIN, FIBER_FOREVER);
	assert_int_equal(inside(rest_on, &w), 0);
	assert_true(fiber_now() - began >= 5 * MS);
	w.deadline = fiber_after(MS);
	assert_int_equal(inside(rest_on, &w), -ETIMEDOUT);
	assert_true(fiber_now() >= w.deadline);
	assert_int_equal(fiber_close(e.fd), 0);
	w.deadline = FIBER_FOREVER;
	assert_int_equal(inside(rest_on, &w), -EBADF);
	close(e.other);
}

static void test_descriptor_is_the_same_until_it_is_closed(void **state)
{
	struct ends e = make();
	struct fib_look look;

	(void)state;
	assert_int_equal(fib_descriptor_notice(-1), -EBADF);
	assert_int_equal(fib_descriptor_notice(e.fd), 0);
	fib_descriptor_look(e.fd, &look);
	assert_true(fib_descriptor_same(e.fd, &look));
	assert_int_equal(fiber_close(e.fd), 0);
	assert_false(fib_descriptor_same(e.fd, &look));
	close(e.other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_descriptor_edge_between_look_and_wait_is_not_missed),
		cmocka_unit_test(test_descriptor_edge_before_the_look_is_not_counted_again),
		cmocka_unit_test(test_descriptor_edge_moves_its_own_side_only),
		cmocka_unit_test(test_descriptor_event_of_an_earlier_generation_is_dropped),
		cmocka_unit_test(test_descriptor_event_for_an_unknown_number_is_dropped),
		cmocka_unit_test(test_descriptor_forget_wakes_both_sides_with_ebadf),
		cmocka_unit_test(test_descriptor_wait_for_both_directions_ends_with_either),
		cmocka_unit_test(test_descriptor_wait_knows_every_name_of_an_event),
		cmocka_unit_test(test_descriptor_bad_numbers_are_ebadf),
		cmocka_unit_test(test_descriptor_that_no_poller_takes_is_ready),
		cmocka_unit_test(test_descriptor_wait_of_a_thread_blocks_until_ready_or_deadline),
		cmocka_unit_test(test_descriptor_wait_of_a_pinned_fiber_follows_the_policy),
		cmocka_unit_test(test_descriptor_rest_lasts_its_time_whatever_is_ready),
		cmocka_unit_test(test_descriptor_is_the_same_until_it_is_closed),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
