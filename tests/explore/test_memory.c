/* SPDX-License-Identifier: MIT */
/* test_memory.c - allocations of the program fail, and what a schedule leaves behind is a leak */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include <fiber.h>
#include <fiber/op.h>
#include <fiber/test.h>

static struct fiber_test_result result;

static int explore(fiber_test_fn *fn, unsigned faults, unsigned flags, const char *strategy)
{
	const struct fiber_test_options options = {
		.size = sizeof options,
		.strategy = strategy,
		.schedules = 100,
		.faults = faults,
		.flags = flags,
	};

	result = (struct fiber_test_result){.size = sizeof result};
	return fiber_test_explore(fn, NULL, &options, &result);
}

/* Which calls failed, in memory that the processes share. */
static unsigned *failures;

static void *volatile escape; /* keeps compilers from leaving out a malloc() with its free() */

static void take(unsigned bit, void *at)
{
	escape = at;
	if (!at) {
		fiber_test_assert(errno == ENOMEM);
		failures[bit]++;
	}
	free(escape);
}

static void allocate_in_each_way(void *arg)
{
	void *block, *moved;

	(void)arg;
	take(0, malloc(8));
	take(1, calloc(2, 8));
	take(2, realloc(NULL, 8));
	take(3, aligned_alloc(64, 64));
	take(4, strdup("text"));
	block = malloc(8);
	escape = block;
	if (!block)
		return;
	memcpy(block, "kept", 5);
	moved = realloc(escape, 4000);
	if (!moved) {
		failures[5]++;
		fiber_test_assert(strcmp(escape, "kept") == 0);
		moved = escape;
	}
	free(moved);
}

static void test_each_allocation_of_the_program_fails_once(void **state)
{
	unsigned i;

	(void)state;
	memset(failures, 0, 6 * sizeof *failures);
	assert_int_equal(explore(allocate_in_each_way, FIBER_TEST_FAULT_MEMORY, FIBER_TEST_MEMORY,
				 "each-fault"),
			 0);
	for (i = 0; i < 6; i++)
		assert_int_equal(failures[i], 1);
	assert_int_equal(result.schedules, 1 + 7 + 1);
}

/* The library's own allocations are not the program's. */
static void use_the_library(void *arg)
{
	struct fiber_timer *timer;
	struct fiber_chan *chan;

	(void)arg;
	if (fiber_chan_new(1, 1, &chan) < 0)
		return;
	if (fiber_timer_new(&timer) == 0)
		fiber_timer_free(timer);
	fiber_chan_unref(chan);
}

static void test_allocations_of_the_library_are_no_places(void **state)
{
	(void)state;
	assert_int_equal(explore(use_the_library, FIBER_TEST_FAULT_MEMORY, 0, "each-fault"), 0);
	assert_int_equal(result.schedules, 1 + 2 + 1);
}

/* -- leaks -- */

static void leave_memory(void *arg)
{
	(void)arg;
	escape = malloc(40);
	escape = calloc(1, 2);
}

static void leave_nothing(void *arg)
{
	void *blocks[600];
	unsigned i;

	(void)arg;
	for (i = 0; i < 600; i++)
		blocks[i] = malloc(i + 1);
	for (i = 0; i < 600; i++)
		blocks[i] = realloc(blocks[i], 2 * i + 1);
	for (i = 0; i < 600; i++)
		free(blocks[599 - i]);
}

static void test_memory_that_is_left_is_a_leak_where_asked_for(void **state)
{
	(void)state;
	assert_int_equal(explore(leave_memory, 0, FIBER_TEST_MEMORY, "random"), 1);
	assert_int_equal(result.verdict, FIBER_TEST_LEAK);
	assert_non_null(strstr(result.message, "2 blocks with 42 bytes are left; the first is of "
					       "leave_memory at test_memory.c:"));
	assert_int_equal(explore(leave_memory, 0, 0, "random"), 0);
	assert_int_equal(explore(leave_nothing, 0, FIBER_TEST_MEMORY, "random"), 0);
}

static void leave_a_descriptor(void *arg)
{
	(void)arg;
	fiber_test_assert(open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0);
}

/* By number: what is left open. */
static void leave_another(void *arg)
{
	struct io_uring_params params = {0};

	switch (*(int *)arg) {
	case 0:
		fiber_test_assert(epoll_create1(EPOLL_CLOEXEC) >= 0);
		break;
	case 1:
		fiber_test_assert(eventfd(0, 0) >= 0);
		break;
	default:
		syscall(SYS_io_uring_setup, 4, &params);
	}
}

static bool has_rings(void)
{
	struct io_uring_params params = {0};
	const int fd = (int)syscall(SYS_io_uring_setup, 4, &params);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void test_epoll_descriptors_and_rings_are_seen(void **state)
{
	static const char *const names[] = {"eventpoll", "eventfd", "io_uring"};
	char message[80];
	int i;

	(void)state;
	for (i = 0; i < (has_rings() ? 3 : 2); i++) {
		const struct fiber_test_options options = {
			.size = sizeof options, .schedules = 10, .flags = FIBER_TEST_DESCRIPTORS};

		result = (struct fiber_test_result){.size = sizeof result};
		assert_int_equal(fiber_test_explore(leave_another, &i, &options, &result), 1);
		assert_int_equal(result.verdict, FIBER_TEST_LEAK);
		snprintf(message, sizeof message, "1 descriptor is left open; the first is of %s",
			 names[i]);
		assert_string_equal(result.message, message);
	}
}

/* A ring of the runtime, another runtime, and a wait for a descriptor: all are the library's. */
static void open_by_the_library(void *arg)
{
	struct io_uring_sqe *entry;
	struct fiber_runtime *rt;
	struct fiber_op *op;
	int ends[2];

	(void)arg;
	if (fiber_op_prepare(&op, &entry) == 0)
		fiber_test_assert(fiber_op_await(op, FIBER_FOREVER) == 0);
	fiber_test_assert(fiber_runtime_start(NULL, &rt) == 0);
	fiber_test_assert(fiber_runtime_finish(rt, FIBER_FOREVER) == 0);
	fiber_test_assert(pipe(ends) == 0);
	fiber_test_assert(fiber_wait_fd(ends[0], POLLIN, fiber_after(1000)) == -ETIMEDOUT);
	fiber_close(ends[0]);
	fiber_close(ends[1]);
}

static void test_descriptors_of_the_library_are_not_left_by_the_test(void **state)
{
	(void)state;
	explore(open_by_the_library, 0, FIBER_TEST_DESCRIPTORS, "random");
	assert_string_equal(result.message, "");
}

static void wait_for_a_pipe(void *arg)
{
	char byte;
	int ends[2];

	(void)arg;
	fiber_test_assert(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
	fiber_test_assert(fiber_read(ends[0], &byte, 1, fiber_now() + 1000) == -ETIMEDOUT);
	close(ends[0]);
	close(ends[1]);
}

static void test_a_descriptor_that_is_left_is_a_leak_where_asked_for(void **state)
{
	(void)state;
	assert_int_equal(explore(leave_a_descriptor, 0, FIBER_TEST_DESCRIPTORS, "random"), 1);
	assert_int_equal(result.verdict, FIBER_TEST_LEAK);
	assert_non_null(
		strstr(result.message, "1 descriptor is left open; the first is of /dev/null"));
	assert_int_equal(explore(wait_for_a_pipe, 0, FIBER_TEST_DESCRIPTORS, "random"), 0);
	assert_int_equal(explore(leave_a_descriptor, 0, 0, "random"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_allocation_of_the_program_fails_once),
		cmocka_unit_test(test_allocations_of_the_library_are_no_places),
		cmocka_unit_test(test_memory_that_is_left_is_a_leak_where_asked_for),
		cmocka_unit_test(test_a_descriptor_that_is_left_is_a_leak_where_asked_for),
		cmocka_unit_test(test_epoll_descriptors_and_rings_are_seen),
		cmocka_unit_test(test_descriptors_of_the_library_are_not_left_by_the_test),
	};

	failures = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (failures == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
