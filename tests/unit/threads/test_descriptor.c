/* SPDX-License-Identifier: MIT */
/* test_descriptor.c - the descriptor of each call, and the array of poll(2) */
#include <poll.h>

#include "inspect/threads/descriptor.h"
#include "tests/harness/inspect/asleep.h"

static struct ins_source source = {.memory = asleep_memory};
static struct ins_thread_at at;
static const struct ins_sleeper sleeper = {.source = &source, .at = &at, .now = 5};
static struct fib_row row;

static bool find(int64_t call, uint64_t first, uint64_t second, uint64_t third)
{
	row = (struct fib_row){.wait_arg = 99, .deadline = INT64_MAX};
	at = (struct ins_thread_at){.call = call, .argument = {first, second, third, UINT32_MAX}};
	return ins_descriptor_wait(&sleeper, &row);
}

static void expect(uint32_t fd, unsigned events)
{
	assert_int_equal(row.wait_kind, FIB_WAIT_FD);
	assert_int_equal(row.wait_arg, fd | (uint64_t)events << 32);
}

static void test_the_first_argument_is_the_descriptor(void **state)
{
	static const struct {
		long call;
		unsigned events;
	} calls[] = {{SYS_read, POLLIN},       {SYS_accept4, POLLIN},  {SYS_recvfrom, POLLIN},
		     {SYS_write, POLLOUT},     {SYS_connect, POLLOUT}, {SYS_sendmsg, POLLOUT},
		     {SYS_epoll_pwait, POLLIN}};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof calls / sizeof calls[0]; i++) {
		assert_true(find(calls[i].call, 17, 1, 1));
		expect(17, calls[i].events);
		assert_int_equal(row.deadline, INT64_MAX);
	}
}

static void test_poll_of_one_entry_has_a_descriptor_and_of_several_only_events(void **state)
{
	struct pollfd entry[2] = {{.fd = 4, .events = POLLIN}, {.fd = 5, .events = POLLOUT}};
	const uint64_t address = (uint64_t)(uintptr_t)entry;

	(void)state;
	assert_true(find(SYS_poll, address, 1, UINT64_C(0xffffffff)));
	expect(4, POLLIN);
	assert_int_equal(row.deadline, INT64_MAX);
	assert_true(find(SYS_poll, address, 2, 1000));
	expect(UINT32_MAX, POLLIN | POLLOUT);
	assert_int_equal(row.deadline, 5 + 1000000000);
	/* The array was not saved, or cannot be read. */
	entry[0] = (struct pollfd){.fd = 0};
	assert_true(find(SYS_poll, address, 1, 0));
	assert_int_equal(row.wait_arg, FIB_ROW_UNKNOWN);
	assert_true(find(SYS_poll, 16, 1, 0));
	assert_int_equal(row.wait_arg, FIB_ROW_UNKNOWN);
}

static void test_select_waits_for_descriptors_that_are_not_named(void **state)
{
	(void)state;
	assert_true(find(SYS_pselect6, 10, 0, 0));
	assert_int_equal(row.wait_kind, FIB_WAIT_FD);
	assert_int_equal(row.wait_arg, FIB_ROW_UNKNOWN);
}

static void test_a_call_whose_fifth_argument_is_a_time_has_a_deadline(void **state)
{
	static const struct timespec spec = {1, 250};
	static const struct timeval val = {1, 250};
	static const struct {
		long call;
		const void *time;
		int64_t left;
	} calls[] = {{SYS_pselect6, &spec, 1000000250},
		     {SYS_recvmmsg, &spec, 1000000250},
		     {SYS_select, &val, 1000250000}};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof calls / sizeof calls[0]; i++) {
		at = (struct ins_thread_at){
			.call = calls[i].call,
			.argument = {10, [4] = (uint64_t)(uintptr_t)calls[i].time}};
		assert_true(ins_descriptor_wait(&sleeper, &row));
		assert_int_equal(row.deadline, 5 + calls[i].left);
		assert_true(find(calls[i].call, 10, 0, 0));
		assert_int_equal(row.deadline, INT64_MAX);
	}
}

static void test_another_call_is_left_alone(void **state)
{
	(void)state;
	assert_false(find(SYS_futex, 1, 2, 3));
	assert_false(find(SYS_wait4, 1, 2, 3));
	assert_int_equal(row.wait_arg, 99);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_argument_is_the_descriptor),
		cmocka_unit_test(
			test_poll_of_one_entry_has_a_descriptor_and_of_several_only_events),
		cmocka_unit_test(test_select_waits_for_descriptors_that_are_not_named),
		cmocka_unit_test(test_a_call_whose_fifth_argument_is_a_time_has_a_deadline),
		cmocka_unit_test(test_another_call_is_left_alone),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
