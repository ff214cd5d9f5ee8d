/* SPDX-License-Identifier: MIT */
/* test_client_rests.c - a long answer that comes in bits is let come, so that not each of them has to wake its reader. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness/watchdog.h"
#include "wire/client.h"

#define BITS 500

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

/* The other end answers with a frame of so many bytes. */
static void say(size_t length)
{
	static unsigned char frame[sizeof(struct fib_wire_header) + FIB_WIRE_FRAME_MAX];
	struct fib_wire_header h = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_ROWS,
				    (uint32_t)length};

	memcpy(frame, &h, sizeof h);
	if (send(other, frame, sizeof h + length, MSG_NOSIGNAL) != (ssize_t)(sizeof h + length))
		abort();
}

static void take(size_t length)
{
	struct fib_wire_header h;
	const void *payload;

	assert_int_equal(fib_wire_receive(&client, &h, &payload), 0);
	assert_int_equal(h.length, length);
}

static void say_and_take(size_t length)
{
	say(length);
	take(length);
}

static void ask(enum fib_wire_type type)
{
	assert_int_equal(fib_wire_request(&client, type, NULL, 0), 0);
}

static void test_client_rests_longer_while_little_comes(void **state)
{
	int64_t longest;
	unsigned i;

	(void)state;
	ask(FIB_WIRE_LIST);
	for (i = 0; i < 4; i++)
		say_and_take(100);
	assert_int_equal(client.rest_ns, 0);
	say_and_take(100);
	assert_int_equal(client.rest_ns, 100000);
	say_and_take(100);
	assert_int_equal(client.rest_ns, 200000);
	for (i = 0; i < 12; i++)
		say_and_take(100);
	longest = client.rest_ns;
	assert_true(longest > 10000000 && longest < 100000000);
	say_and_take(50000);
	assert_int_equal(client.rest_ns, longest);
	say_and_take(110000);
	assert_int_equal(client.rest_ns, longest / 4);
	ask(FIB_WIRE_LIST);
	assert_int_equal(client.rest_ns, 0);
}

static void test_client_does_not_rest_in_a_short_answer(void **state)
{
	unsigned i;

	(void)state;
	ask(FIB_WIRE_COUNTERS);
	for (i = 0; i < 20; i++)
		say_and_take(100);
	assert_int_equal(client.rest_ns, 0);
}

static void *answer(void *arg)
{
	const struct timespec pause = {0, 200000};
	unsigned i;

	(void)arg;
	for (i = 0; i < BITS; i++) {
		say(100 + i);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

/* Each time that it slept somebody has woken it: a bit, or a timer of its own. */
static void test_client_is_woken_by_few_of_the_bits(void **state)
{
	struct rusage before, after;
	pthread_t writer;
	unsigned i;

	(void)state;
	ask(FIB_WIRE_STACK);
	assert_int_equal(getrusage(RUSAGE_THREAD, &before), 0);
	assert_int_equal(pthread_create(&writer, NULL, answer, NULL), 0);
	for (i = 0; i < BITS; i++)
		take(100 + i);
	assert_int_equal(getrusage(RUSAGE_THREAD, &after), 0);
	assert_int_equal(pthread_join(writer, NULL), 0);
	print_message("# woken %ld times for %d bits\n", after.ru_nvcsw - before.ru_nvcsw, BITS);
	assert_in_range(after.ru_nvcsw - before.ru_nvcsw, 1, BITS / 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_client_rests_longer_while_little_comes, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_client_does_not_rest_in_a_short_answer, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_client_is_woken_by_few_of_the_bits, setup,
						teardown),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
