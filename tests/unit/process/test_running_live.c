/* SPDX-License-Identifier: MIT */
/* test_running_live.c - what the test's own threads do, whose stacks are taken for those of fibers */
#include <errno.h>
#include <sys/uio.h>

#include "inspect/process/running_live.h"
#include "tests/harness/inspect/asleep.h"
#include "tests/harness/inspect/rows.h"

static struct ins_source source;
static struct rows_record record;
static struct asleep thread;
static int ends[2];

/* The memory of the test, up to the end of a mapping. */
static int own_memory(void *from, uint64_t address, void *buf, size_t size)
{
	struct iovec local = {buf, size}, remote = {(void *)(uintptr_t)address, size};

	(void)from;
	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size ? 0 : -EFAULT;
}

static void wait_byte(void *arg)
{
	char byte;

	assert_int_equal(read(*(int *)arg, &byte, 1), 1);
}

/* A fiber whose record is that of the test, on a stack around an address. */
static struct ins_fiber fiber_at(uint64_t sp)
{
	struct ins_fiber fiber = rows_fiber(7, "it");

	record = (struct rows_record){.id = 7, .seq = 15};
	fiber.row.record = (uint64_t)(uintptr_t)&record;
	fiber.row.seq = 15;
	fiber.row.state = FIBER_RUNNING;
	fiber.row.stack_low = sp - 512;
	fiber.row.stack_size = 1024;
	return fiber;
}

static int begin(void **state)
{
	(void)state;
	source = (struct ins_source){.pid = getpid(), .memory = own_memory};
	rows_layout(&source.layout);
	assert_int_equal(pipe(ends), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	close(ends[0]);
	close(ends[1]);
	return 0;
}

static uint64_t sp_of(const struct asleep *a)
{
	struct fib_sleeper_place place;

	assert_int_equal(ins_thread_place(getpid(), a->tid, &place), 1);
	return place.sp;
}

static void read_it(const struct ins_fiber *fiber, struct ins_running *ret)
{
	ins_running_begin(fiber, ret);
	assert_int_equal(ins_running_live(&source, ret), 0);
}

static void test_a_thread_that_sleeps_on_the_stack_is_in_a_call(void **state)
{
	struct ins_running running;
	struct ins_fiber fiber;

	(void)state;
	asleep_start(&thread, wait_byte, &ends[0], SYS_read);
	fiber = fiber_at(sp_of(&thread));
	read_it(&fiber, &running);
	assert_int_equal(running.doing, INS_DOING_CALLS);
	assert_int_equal(running.call, SYS_read);
	assert_int_equal(running.fiber.row.sp, sp_of(&thread));
	assert_int_equal(running.fiber.stack_size, 512);
	assert_memory_equal(running.fiber.stack, (const void *)(uintptr_t)running.fiber.row.sp,
			    512);
	ins_running_free(&running);
	assert_int_equal(write(ends[1], "x", 1), 1);
	asleep_end(&thread);
}

static void test_a_fiber_that_has_been_switched_since_is_not_known(void **state)
{
	struct ins_running running;
	struct ins_fiber fiber;

	(void)state;
	asleep_start(&thread, wait_byte, &ends[0], SYS_read);
	fiber = fiber_at(sp_of(&thread));
	fiber.row.seq -= 2;
	read_it(&fiber, &running);
	assert_int_equal(running.doing, INS_DOING_UNKNOWN);
	assert_null(running.fiber.stack);
	ins_running_free(&running);
	assert_int_equal(write(ends[1], "x", 1), 1);
	asleep_end(&thread);
}

static _Atomic uint64_t spins_at;
static _Atomic bool stop;

static void *spin(void *arg)
{
	char here;

	spins_at = (uint64_t)(uintptr_t)&here;
	while (!stop)
		;
	spins_at = 0;
	return arg;
}

static bool is_spinning(void *arg)
{
	(void)arg;
	return spins_at != 0;
}

static void test_a_fiber_on_whose_stack_no_thread_sleeps_computes(void **state)
{
	struct ins_running running;
	struct ins_fiber fiber;
	pthread_t spinner;

	(void)state;
	assert_int_equal(pthread_create(&spinner, NULL, spin, NULL), 0);
	assert_true(harness_until(is_spinning, NULL, 60));
	fiber = fiber_at(spins_at);
	read_it(&fiber, &running);
	assert_int_equal(running.doing, INS_DOING_COMPUTES);
	assert_null(running.fiber.stack);
	ins_running_free(&running);
	stop = true;
	pthread_join(spinner, NULL);
}

static void test_a_fiber_without_a_stack_is_not_known(void **state)
{
	struct ins_running running;
	struct ins_fiber fiber = fiber_at(4096);

	(void)state;
	fiber.row.stack_low = fiber.row.stack_size = 0;
	read_it(&fiber, &running);
	assert_int_equal(running.doing, INS_DOING_UNKNOWN);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_thread_that_sleeps_on_the_stack_is_in_a_call),
		TEST(test_a_fiber_that_has_been_switched_since_is_not_known),
		TEST(test_a_fiber_on_whose_stack_no_thread_sleeps_computes),
		TEST(test_a_fiber_without_a_stack_is_not_known),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
