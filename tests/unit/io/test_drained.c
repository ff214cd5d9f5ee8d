/* SPDX-License-Identifier: MIT */
/*
 * test_drained.c - a TCP socket is not read after a short read until an event; none is missed
 *
 * The receiving system call is replaced here, and counts.
 */
#include "accepted.h"

#include <stdlib.h>

#include "os/calls.h"

static _Atomic unsigned asked;

/* Both functions replace those of one file of the library, which is not linked in. */
ssize_t fib_os_recv_now(int fd, void *buf, size_t size, int flags)
{
	const ssize_t n = recv(fd, buf, size, flags);

	asked++;
	return n < 0 ? -errno : n;
}

ssize_t fib_os_send_now(int fd, const void *buf, size_t size, int flags)
{
	const ssize_t n = send(fd, buf, size, flags);

	return n < 0 ? -errno : n;
}

static void test_drained_socket_is_asked_once_for_each_message(void **state)
{
	struct reading r = {sizeof r.bytes, FIBER_FOREVER, ""};
	const unsigned messages = 100;
	unsigned i;

	const char *poller = getenv("FIBER_POLLER");

	(void)state;
	if (poller && !strcmp(poller, "uring")) {
		print_message("# skipped: io_uring announces each message twice\n");
		skip();
	}
	drain();
	asked = 0;
	for (i = 0; i < messages; i++) {
		struct fiber *fiber = inside_spawn(do_read, &r);

		until_it_waits(fiber);
		assert_int_equal(send(client, "more", 4, 0), 4);
		assert_int_equal(inside_join(fiber), 4);
	}
	/* The first wait registers the socket, and the poller reports the first message once
	 * more. */
	assert_in_range(asked, messages, messages + 2);
}

static void test_drained_socket_gives_what_came_before_anybody_waited(void **state)
{
	struct reading r = {sizeof r.bytes, FIBER_FOREVER, ""};
	unsigned i;

	(void)state;
	for (i = 0; i < 50; i++) {
		drain();
		assert_int_equal(send(client, "second", 6, 0), 6);
		assert_int_equal(inside(do_read, &r), 6);
		assert_memory_equal(r.bytes, "second", 6);
	}
}

/* Bytes and the end come together and are reported together, and the bytes are fewer than
 * requested. */
static void test_drained_socket_tells_of_an_end_that_came_with_its_last_bytes(void **state)
{
	struct reading r = {sizeof r.bytes, FIBER_FOREVER, ""};
	struct fiber *fiber;

	(void)state;
	drain();
	fiber = inside_spawn(do_read, &r);
	until_it_waits(fiber);
	assert_int_equal(send(client, "last", 4, MSG_MORE), 4);
	assert_int_equal(shutdown(client, SHUT_WR), 0);
	assert_int_equal(inside_join(fiber), 4);
	assert_int_equal(inside(do_read, &r), 0);
	assert_int_equal(inside(do_read, &r), 0);
}

static void test_drained_socket_tells_of_an_end_that_came_before_it_was_read(void **state)
{
	struct reading r = {sizeof r.bytes, FIBER_FOREVER, ""};

	(void)state;
	assert_int_equal(send(client, "all", 3, 0), 3);
	assert_int_equal(shutdown(client, SHUT_WR), 0);
	assert_int_equal(inside(do_read, &r), 3);
	assert_int_equal(inside(do_read, &r), 0);
}

static void test_drained_socket_tells_of_a_reset(void **state)
{
	const struct linger at_once = {1, 0};
	struct reading r = {sizeof r.bytes, FIBER_FOREVER, ""};
	struct fiber *fiber;

	(void)state;
	drain();
	fiber = inside_spawn(do_read, &r);
	until_it_waits(fiber);
	assert_int_equal(setsockopt(client, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once), 0);
	close(client);
	client = -1;
	assert_int_equal(inside_join(fiber), -ECONNRESET);
	assert_int_equal(inside(do_read, &r), 0);
}

/* A read stops before an urgent byte, however many bytes follow it. */
static void test_drained_socket_gives_what_stands_behind_an_urgent_byte(void **state)
{
	struct reading r = {sizeof r.bytes, FIBER_FOREVER, ""};
	struct fiber *fiber;
	size_t got = 0;

	(void)state;
	drain();
	fiber = inside_spawn(do_read, &r);
	until_it_waits(fiber);
	assert_int_equal(send(client, "before!", 7, MSG_OOB), 7);
	assert_int_equal(send(client, "behind", 6, 0), 6);
	got += (size_t)inside_join(fiber);
	while (got < 12) {
		const intptr_t n = inside(do_read, &r);

		assert_true(n > 0);
		got += (size_t)n;
	}
	assert_memory_equal(r.bytes, "behind", 6);
}

static void test_drained_socket_is_asked_for_nothing_and_after_a_deadline(void **state)
{
	struct reading r = {sizeof r.bytes, 0, ""};
	int i;

	(void)state;
	drain();
	r.size = 0;
	r.deadline = FIBER_FOREVER;
	assert_int_equal(inside(do_read, &r), 0);
	r.size = sizeof r.bytes;
	r.deadline = 0;
	assert_int_equal(inside(do_read, &r), -ETIMEDOUT);
	r.deadline = fiber_after(MS);
	assert_int_equal(inside(do_read, &r), -ETIMEDOUT);
	/* The result does not depend on whether the bytes have already been reported. */
	for (i = 0; i < 50; i++) {
		drain();
		assert_int_equal(send(client, "there", 5, 0), 5);
		r.deadline = 0;
		assert_int_equal(inside(do_read, &r), 5);
	}
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, connect_both, disconnect_both)
	const struct CMUnitTest tests[] = {
		EACH(test_drained_socket_is_asked_once_for_each_message),
		EACH(test_drained_socket_gives_what_came_before_anybody_waited),
		EACH(test_drained_socket_tells_of_an_end_that_came_with_its_last_bytes),
		EACH(test_drained_socket_tells_of_an_end_that_came_before_it_was_read),
		EACH(test_drained_socket_tells_of_a_reset),
		EACH(test_drained_socket_gives_what_stands_behind_an_urgent_byte),
		EACH(test_drained_socket_is_asked_for_nothing_and_after_a_deadline),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
