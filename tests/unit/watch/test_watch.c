/* SPDX-License-Identifier: MIT */
/* test_watch.c - a descriptor closed outside its runtime is closed for that runtime too */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fiber.h>

#include "tests/harness/watchdog.h"
#include "watch/watch.h"

static int ends[2];

static struct fiber_runtime *start(void)
{
	const struct fiber_runtime_options options = {
		.size = sizeof options, .carriers = 1, .control_path = ""};
	struct fiber_runtime *rt = NULL;

	assert_int_equal(fiber_runtime_start(&options, &rt), 0);
	return rt;
}

static void *reads(void *arg)
{
	char byte;

	(void)arg;
	return (void *)(intptr_t)fiber_read(ends[0], &byte, 1, FIBER_FOREVER);
}

static void *closes(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)fiber_close(ends[0]);
}

static struct fiber *wait_too(struct fiber_runtime *rt)
{
	struct fiber *reader;

	assert_int_equal(fiber_runtime_spawn(rt, NULL, reads, NULL, &reader), 0);
	while (fiber_state(reader) != FIBER_SUSPENDED)
		sched_yield();
	return reader;
}

/* Make a fiber of rt wait for one end of a socket pair. */
static struct fiber *wait_in(struct fiber_runtime *rt)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	return wait_too(rt);
}

static void is_told(struct fiber *reader)
{
	struct fiber_result result;

	assert_int_equal(fiber_join(reader, &result, FIBER_FOREVER), 0);
	assert_int_equal((intptr_t)result.value, -EBADF);
}

/* The reader is notified, and so is the other end. */
static void is_closed(struct fiber *reader)
{
	struct pollfd other = {.fd = ends[1], .events = POLLIN};
	char byte;

	is_told(reader);
	assert_int_equal(poll(&other, 1, 20000), 1);
	assert_int_equal(read(ends[1], &byte, 1), 0);
	close(ends[1]);
}

static void test_watch_thread_closes_what_a_runtime_watches(void **state)
{
	struct fiber_runtime *rt = start();
	struct fiber *reader = wait_in(rt);

	(void)state;
	assert_int_equal(fiber_close(ends[0]), 0);
	is_closed(reader);
	assert_int_equal(fiber_runtime_finish(rt, FIBER_FOREVER), 0);
}

static void test_watch_fiber_of_another_runtime_closes_it(void **state)
{
	struct fiber_runtime *rt = start(), *other = start();
	struct fiber *reader = wait_in(rt), *closer;
	struct fiber_result result;

	(void)state;
	assert_int_equal(fiber_runtime_spawn(other, NULL, closes, NULL, &closer), 0);
	assert_int_equal(fiber_join(closer, &result, FIBER_FOREVER), 0);
	assert_null(result.value);
	is_closed(reader);
	assert_int_equal(fiber_runtime_finish(other, FIBER_FOREVER), 0);
	assert_int_equal(fiber_runtime_finish(rt, FIBER_FOREVER), 0);
}

static void test_watch_two_runtimes_let_go_of_it(void **state)
{
	struct fiber_runtime *rt = start(), *other = start();
	struct fiber *reader = wait_in(rt), *second = wait_too(other);

	(void)state;
	assert_int_equal(fiber_close(ends[0]), 0);
	is_told(second);
	is_closed(reader);
	assert_int_equal(fiber_runtime_finish(other, FIBER_FOREVER), 0);
	assert_int_equal(fiber_runtime_finish(rt, FIBER_FOREVER), 0);
}

static void *gives_up(void *arg)
{
	char byte;

	(void)arg;
	return (void *)(intptr_t)fiber_read(ends[0], &byte, 1, fiber_after(1));
}

static void test_watch_runtime_that_has_gone_is_not_asked(void **state)
{
	struct fiber_runtime *rt = start();
	struct fiber *reader;
	struct fiber_result result;
	char byte;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_int_equal(fiber_runtime_spawn(rt, NULL, gives_up, NULL, &reader), 0);
	assert_int_equal(fiber_join(reader, &result, FIBER_FOREVER), 0);
	assert_int_equal((intptr_t)result.value, -ETIMEDOUT);
	assert_int_equal(fiber_runtime_finish(rt, FIBER_FOREVER), 0);
	assert_int_equal(fiber_close(ends[0]), 0);
	assert_int_equal(read(ends[1], &byte, 1), 0);
	close(ends[1]);
	assert_int_equal(fib_watch_forget(UINT64_MAX - 1, 0), 0); /* a scheduler that never was */
}

static int by_epoll(void **state)
{
	(void)state;
	return setenv("FIBER_POLLER", "epoll", 1);
}

/* io_uring keeps files open. Without io_uring the tests are only repeated. */
static int by_uring(void **state)
{
	(void)state;
	return setenv("FIBER_POLLER", "uring", 1);
}

#define WATCH_MODE(name, mode, setup) ((struct CMUnitTest){#name mode, name, setup, NULL, NULL})
#define WATCH_TEST(name)	      WATCH_MODE(name, "", by_epoll), WATCH_MODE(name, "_by_uring", by_uring)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WATCH_TEST(test_watch_thread_closes_what_a_runtime_watches),
		WATCH_TEST(test_watch_fiber_of_another_runtime_closes_it),
		WATCH_TEST(test_watch_two_runtimes_let_go_of_it),
		WATCH_TEST(test_watch_runtime_that_has_gone_is_not_asked),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
