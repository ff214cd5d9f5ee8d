/* SPDX-License-Identifier: MIT */
/* test_client_rests.c - a client that waits for an answer sleeps by its own clock */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness/watchdog.h"
#include "wire/client.h"

#define BITS 500
#define MS   INT64_C(1000000)

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
	client.timeout_ns = 30000 * MS;
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

/* The peer answers with a frame of so many bytes. */
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

static void ask(void)
{
	assert_int_equal(fib_wire_request(&client, FIB_WIRE_LIST, NULL, 0), 0);
}

static void pause_for(int64_t ns)
{
	const struct timespec t = {ns / 1000000000, ns % 1000000000};

	nanosleep(&t, NULL);
}

static long sleeps(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_THREAD, &usage), 0);
	return usage.ru_nvcsw;
}

/* The system call in which the thread sleeps, or -1. */
static long call_of(pid_t thread)
{
	char path[64], text[32] = "";
	long call = -1;
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/self/task/%d/syscall", thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		abort();
	n = read(fd, text, sizeof text - 1);
	close(fd);
	return n > 0 && sscanf(text, "%ld", &call) == 1 ? call : -1;
}

static struct {
	pid_t reader;
	unsigned slept, in_recv; /* how many checks found it so */
} seen;

static void *answer(void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < BITS; i++) {
		long call = call_of(seen.reader);

		seen.slept += call >= 0;
		seen.in_recv += call == SYS_recvfrom || call == SYS_recvmsg;
		say(100 + i);
		pause_for(200000);
	}
	return NULL;
}

static void test_client_never_sleeps_where_a_bit_would_wake_it(void **state)
{
	pthread_t writer;
	unsigned i;
	long before;

	(void)state;
	memset(&seen, 0, sizeof seen);
	seen.reader = (pid_t)syscall(SYS_gettid);
	ask();
	before = sleeps();
	assert_int_equal(pthread_create(&writer, NULL, answer, NULL), 0);
	for (i = 0; i < BITS; i++)
		take(100 + i);
	before = sleeps() - before;
	assert_int_equal(pthread_join(writer, NULL), 0);
	print_message("# asleep at %u of %d bits, slept %ld times\n", seen.slept, BITS, before);
	assert_int_equal(seen.in_recv, 0);
	/* It was seen asleep often enough to be seen in recv(2). On a busy machine many bits come while it waits for a CPU. */
	assert_in_range(seen.slept, BITS / 50, BITS);
	assert_in_range(before, 1, BITS * 10);
}

static void *say_late(void *arg)
{
	(void)arg;
	pause_for(300 * MS);
	say(100);
	return NULL;
}

static void test_client_sleeps_longer_the_longer_it_waits_and_not_too_long(void **state)
{
	pthread_t writer;
	long before;

	(void)state;
	ask();
	before = sleeps();
	assert_int_equal(pthread_create(&writer, NULL, say_late, NULL), 0);
	take(100);
	before = sleeps() - before;
	assert_int_equal(pthread_join(writer, NULL), 0);
	print_message("# slept %ld times in 300 ms\n", before);
	assert_in_range(before, 5, 60);
	assert_in_range(client.rest_ns, 10 * MS, 50 * MS);
}

static void test_client_soon_looks_often_again_when_much_comes(void **state)
{
	unsigned i;

	(void)state;
	ask();
	client.rest_ns = 50 * MS;
	for (i = 0; i < 20; i++) {
		say(100);
		take(100);
	}
	assert_in_range(client.rest_ns, 1, MS / 10);
	client.rest_ns = 50 * MS;
	ask();
	say(100);
	take(100);
	assert_in_range(client.rest_ns, 1, MS / 10);
}

static void test_client_that_hears_nothing_gives_up_in_time(void **state)
{
	struct fib_wire_header h;
	const void *payload;
	struct timespec from, to;

	(void)state;
	client.timeout_ns = 200 * MS;
	ask();
	clock_gettime(CLOCK_MONOTONIC, &from);
	assert_int_equal(fib_wire_receive(&client, &h, &payload), -ETIMEDOUT);
	clock_gettime(CLOCK_MONOTONIC, &to);
	assert_true((to.tv_sec - from.tv_sec) * 1000 * MS + to.tv_nsec - from.tv_nsec >= 200 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_client_never_sleeps_where_a_bit_would_wake_it,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_client_sleeps_longer_the_longer_it_waits_and_not_too_long, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_client_soon_looks_often_again_when_much_comes,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_client_that_hears_nothing_gives_up_in_time,
						setup, teardown),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
