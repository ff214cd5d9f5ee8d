/* SPDX-License-Identifier: MIT */
/* test_client_bounds.c - the client against a peer whose answer does not end or comes in pieces */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/harness/watchdog.h"
#include "wire/client.h"

static struct fib_wire_client client;
static int other;

static int setup(void **state)
{
	int fds[2];

	(void)state;
	memset(&client, 0, sizeof client);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return -1;
	client.fd = fds[0];
	client.timeout_ns = INT64_C(20000000000);
	other = fds[1];
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fib_wire_disconnect(&client);
	close(other);
	return 0;
}

/* The peer sends. */
static void say(const void *bytes, size_t length)
{
	assert_int_equal(send(other, bytes, length, MSG_NOSIGNAL), length);
}

/* The peer sends for as long as it can. */
static void *say_still_for_ever(void *arg)
{
	const struct fib_wire_header h = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_STILL, 0};
	struct fib_wire_header many[1024];
	size_t i;

	for (i = 0; i < sizeof many / sizeof many[0]; i++)
		many[i] = h;
	while (send(other, many, sizeof many, MSG_NOSIGNAL) > 0)
		;
	return arg;
}

static void test_client_takes_no_more_than_an_answer_has(void **state)
{
	struct fib_wire_header got;
	const void *payload;
	pthread_t thread;

	(void)state;
	assert_int_equal(fib_wire_request(&client, FIB_WIRE_HELLO, NULL, 0), 0);
	assert_int_equal(pthread_create(&thread, NULL, say_still_for_ever, NULL), 0);
	assert_int_equal(fib_wire_receive(&client, &got, &payload), -ETIME);
	fib_wire_disconnect(&client);
	pthread_join(thread, NULL);
}

static void test_client_does_not_wait_longer_for_all_steps_than_for_a_small_answer(void **state)
{
	struct fib_wire_header h = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_STILL, 0}, got;
	const void *payload;

	(void)state;
	/* The client's timeout for one step is 20 s. */
	assert_int_equal(fib_wire_request(&client, FIB_WIRE_POLICY, NULL, 0), 0);
	say(&h, sizeof h);
	assert_int_equal(fib_wire_receive(&client, &got, &payload), -ETIME);
	assert_int_equal(fib_wire_request(&client, FIB_WIRE_POLICY, NULL, 0), 0);
	h.type = FIB_WIRE_END;
	say(&h, sizeof h);
	assert_int_equal(fib_wire_receive(&client, &got, &payload), 0);
	assert_int_equal(got.type, FIB_WIRE_END);
}

/* The list of fibers has no limit of its own while it makes progress. */
static void test_client_ends_an_answer_that_is_longer_than_the_caller_allows(void **state)
{
	const struct fib_wire_header h = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_ROWS, 0};
	struct fib_wire_header got;
	const void *payload;

	(void)state;
	client.longest_ns = 1;
	assert_int_equal(fib_wire_request(&client, FIB_WIRE_LIST, NULL, 0), 0);
	say(&h, sizeof h);
	assert_int_equal(fib_wire_receive(&client, &got, &payload), -ETIME);
	client.longest_ns = 0;
	assert_int_equal(fib_wire_request(&client, FIB_WIRE_LIST, NULL, 0), 0);
	say(&h, sizeof h);
	assert_int_equal(fib_wire_receive(&client, &got, &payload), 0);
	assert_int_equal(got.type, FIB_WIRE_ROWS);
}

/* A frame in three pieces, after a STILL frame. */
static void test_client_takes_what_is_there_without_waiting(void **state)
{
	struct fib_wire_header h = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_STILL, 0}, got;
	const void *payload;

	(void)state;
	assert_int_equal(fib_wire_request(&client, FIB_WIRE_HELLO, NULL, 0), 0);
	assert_int_equal(fib_wire_receive_now(&client, &got, &payload), -EAGAIN);
	say(&h, sizeof h);
	assert_int_equal(fib_wire_receive_now(&client, &got, &payload), -EAGAIN);
	h.type = FIB_WIRE_PROCESS;
	h.length = 5;
	say(&h, 7);
	assert_int_equal(fib_wire_receive_now(&client, &got, &payload), -EAGAIN);
	say((char *)&h + 7, sizeof h - 7);
	assert_int_equal(fib_wire_receive_now(&client, &got, &payload), -EAGAIN);
	say("hel", 3);
	assert_int_equal(fib_wire_receive_now(&client, &got, &payload), -EAGAIN);
	say("lo", 2);
	assert_int_equal(fib_wire_receive_now(&client, &got, &payload), 0);
	assert_int_equal(got.type, FIB_WIRE_PROCESS);
	assert_memory_equal(payload, "hello", 5);
	shutdown(other, SHUT_WR);
	assert_int_equal(fib_wire_receive_now(&client, &got, &payload), -ECONNRESET);
}

#define CLIENT_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLIENT_TEST(test_client_takes_no_more_than_an_answer_has),
		CLIENT_TEST(test_client_does_not_wait_longer_for_all_steps_than_for_a_small_answer),
		CLIENT_TEST(test_client_ends_an_answer_that_is_longer_than_the_caller_allows),
		CLIENT_TEST(test_client_takes_what_is_there_without_waiting),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
