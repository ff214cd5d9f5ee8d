/* SPDX-License-Identifier: MIT */
/*
 * test_choices.c - which calls are choices
 *
 * Each program has a set of outcomes that follows from which of its calls let others go first. The
 * exhaustive strategy must see all of them, and no other.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include <fiber.h>
#include <fiber/test.h>

#define OUTCOMES 64

/* Texts, which the processes that run schedules write. */
static struct {
	unsigned count;
	char text[OUTCOMES][16];
} * seen;

static void note_outcome(const char *text)
{
	unsigned i;

	for (i = 0; i < seen->count; i++)
		if (strcmp(seen->text[i], text) == 0)
			return;
	fiber_test_assert(seen->count < OUTCOMES);
	snprintf(seen->text[seen->count++], sizeof seen->text[0], "%s", text);
}

static bool was_seen(const char *text)
{
	unsigned i;

	for (i = 0; i < seen->count; i++)
		if (strcmp(seen->text[i], text) == 0)
			return true;
	return false;
}

static void run_all(fiber_test_fn *fn)
{
	const struct fiber_test_options options = {.size = sizeof options,
						   .strategy = "exhaustive"};
	struct fiber_test_result result = {.size = sizeof result};

	memset(seen, 0, sizeof *seen);
	assert_int_equal(fiber_test_explore(fn, NULL, &options, &result), 0);
	assert_int_equal(result.verdict, FIBER_TEST_COMPLETE);
}

/* -- two fibers with two calls each on one descriptor -- */

typedef ssize_t write_fn(int fd, const char *byte);

static ssize_t by_write(int fd, const char *byte)
{
	return fiber_write(fd, byte, 1, FIBER_FOREVER);
}

static ssize_t by_writev(int fd, const char *byte)
{
	const struct iovec piece = {(void *)(uintptr_t)byte, 1};

	return fiber_writev(fd, &piece, 1, FIBER_FOREVER);
}

static ssize_t by_send(int fd, const char *byte)
{
	return fiber_send(fd, byte, 1, 0, FIBER_FOREVER);
}

static ssize_t by_sendto(int fd, const char *byte)
{
	return fiber_sendto(fd, byte, 1, 0, NULL, 0, FIBER_FOREVER);
}

static ssize_t by_sendmsg(int fd, const char *byte)
{
	struct iovec piece = {(void *)(uintptr_t)byte, 1};
	const struct msghdr msg = {.msg_iov = &piece, .msg_iovlen = 1};

	return fiber_sendmsg(fd, &msg, 0, FIBER_FOREVER);
}

static write_fn *put;
static int ends[2];

static void *write_two(void *arg)
{
	const char *letters = arg;

	fiber_test_assert(put(ends[1], letters) == 1);
	fiber_test_assert(put(ends[1], letters + 1) == 1);
	return NULL;
}

static void two_writers(void *arg)
{
	struct fiber *a, *b;
	char text[5] = "";

	(void)arg;
	fiber_test_assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
	fiber_spawn(write_two, (char[]){"ab"}, &a);
	fiber_spawn(write_two, (char[]){"xy"}, &b);
	fiber_join(a, NULL, FIBER_FOREVER);
	fiber_join(b, NULL, FIBER_FOREVER);
	fiber_test_assert(read(ends[0], text, 4) == 4);
	close(ends[0]);
	close(ends[1]);
	note_outcome(text);
}

static void test_each_way_to_write_is_a_choice(void **state)
{
	static write_fn *const ways[] = {by_write, by_writev, by_send, by_sendto, by_sendmsg};
	static const char *const orders[] = {"abxy", "axby", "axyb", "xaby", "xayb", "xyab"};
	unsigned i, k;

	(void)state;
	for (i = 0; i < sizeof ways / sizeof *ways; i++) {
		put = ways[i];
		run_all(two_writers);
		assert_int_equal(seen->count, 6);
		for (k = 0; k < 6; k++)
			assert_true(was_seen(orders[k]));
	}
}

/* -- two readers -- */

typedef ssize_t read_fn(int fd, char *byte);

static ssize_t by_read(int fd, char *byte)
{
	return fiber_read(fd, byte, 1, FIBER_FOREVER);
}

static ssize_t by_readv(int fd, char *byte)
{
	const struct iovec piece = {byte, 1};

	return fiber_readv(fd, &piece, 1, FIBER_FOREVER);
}

static ssize_t by_recv(int fd, char *byte)
{
	return fiber_recv(fd, byte, 1, 0, FIBER_FOREVER);
}

static ssize_t by_recvfrom(int fd, char *byte)
{
	return fiber_recvfrom(fd, byte, 1, 0, NULL, NULL, FIBER_FOREVER);
}

static ssize_t by_recvmsg(int fd, char *byte)
{
	struct iovec piece = {byte, 1};
	struct msghdr msg = {.msg_iov = &piece, .msg_iovlen = 1};

	return fiber_recvmsg(fd, &msg, 0, FIBER_FOREVER);
}

static read_fn *get;

static void *read_one(void *arg)
{
	fiber_test_assert(get(ends[0], arg) == 1);
	return NULL;
}

static void two_readers(void *arg)
{
	struct fiber *a, *b;
	char text[3] = "";

	(void)arg;
	fiber_test_assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
	fiber_test_assert(write(ends[1], "ab", 2) == 2);
	fiber_spawn(read_one, &text[0], &a);
	fiber_spawn(read_one, &text[1], &b);
	fiber_join(a, NULL, FIBER_FOREVER);
	fiber_join(b, NULL, FIBER_FOREVER);
	close(ends[0]);
	close(ends[1]);
	note_outcome(text);
}

static void test_each_way_to_read_is_a_choice(void **state)
{
	static read_fn *const ways[] = {by_read, by_readv, by_recv, by_recvfrom, by_recvmsg};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof ways / sizeof *ways; i++) {
		get = ways[i];
		run_all(two_readers);
		assert_int_equal(seen->count, 2);
		assert_true(was_seen("ab") && was_seen("ba"));
	}
}

/* -- the end of a fiber -- */

static struct fiber_event told;

static void *tell_and_return(void *arg)
{
	fiber_event_set(&told);
	return arg;
}

static void *tell_and_exit(void *arg)
{
	fiber_event_set(&told);
	fiber_exit(arg);
}

static fiber_fn *teller;

/* The event is set: the fiber may have ended, or be about to. */
static void look_whether_it_ended(void *arg)
{
	struct fiber *fiber;
	int rc;

	(void)arg;
	memset(&told, 0, sizeof told);
	fiber_spawn(teller, NULL, &fiber);
	fiber_event_wait(&told, FIBER_FOREVER);
	rc = fiber_join(fiber, NULL, 0);
	note_outcome(rc == 0 ? "ended" : "runs");
	if (rc < 0)
		fiber_join(fiber, NULL, FIBER_FOREVER);
}

static void test_the_end_of_a_fiber_is_a_choice(void **state)
{
	static fiber_fn *const tellers[] = {tell_and_return, tell_and_exit};
	unsigned i;

	(void)state;
	for (i = 0; i < 2; i++) {
		teller = tellers[i];
		run_all(look_whether_it_ended);
		assert_int_equal(seen->count, 2);
		assert_true(was_seen("ended") && was_seen("runs"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_way_to_write_is_a_choice),
		cmocka_unit_test(test_each_way_to_read_is_a_choice),
		cmocka_unit_test(test_the_end_of_a_fiber_is_a_choice),
	};

	seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (seen == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
