/* SPDX-License-Identifier: MIT */
/* test_live_many.c - records are copied many at once, and only consistent ones are given */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fiber/fiber.h>

#include "inspect/source/live.h"
#include "inspect/text/read_file.h"
#include "tests/harness/inspect/head.h"
#include "tests/harness/inspect/rows.h"

#define RECORDS 4096u

static struct ins_live live;
static struct rows_record *records;

static int begin(void **state)
{
	char *text;
	size_t size;

	(void)state;
	memset(&live, 0, sizeof live);
	records = mmap(NULL, RECORDS * sizeof *records, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(records != MAP_FAILED);
	for (size_t i = 0; i < RECORDS; i++)
		records[i] = (struct rows_record){
			.id = i + 1, .seq = 2 * i + 2, .since = 5, .state = FIBER_SUSPENDED};
	rows_layout(&live.source.layout);
	live.source.layout.records = (uint64_t)(uintptr_t)records;
	live.source.layout.committed = live.source.layout.capacity = RECORDS;
	assert_int_equal(ins_memory_open(&live.memory, getpid(), live.source.layout.records), 0);
	assert_int_equal(ins_read_file("/proc/self/maps", &text, &size), 0);
	assert_int_equal(ins_present_new(getpid(), text, size, &live.present), 0);
	live.memory.present = live.present;
	free(text);
	return 0;
}

static int finish(void **state)
{
	(void)state;
	ins_live_many_free(&live);
	ins_present_free(live.present);
	ins_memory_close(&live.memory);
	munmap(records, RECORDS * sizeof *records);
	return 0;
}

static bool take(size_t i, struct ins_fiber *ret)
{
	memset(ret, 0, sizeof *ret);
	return ins_live_many(&live, (uint64_t)(uintptr_t)&records[i], ret);
}

static void test_each_record_is_given_with_its_address(void **state)
{
	struct ins_fiber fiber;

	(void)state;
	for (size_t i = 0; i < RECORDS; i++) {
		assert_true(take(i, &fiber));
		assert_int_equal(fiber.row.id, i + 1);
		assert_int_equal(fiber.row.seq, 2 * i + 2);
		assert_ptr_equal((void *)(uintptr_t)fiber.row.record, &records[i]);
		assert_true(fiber.now > 0);
	}
}

static void test_a_fiber_that_runs_or_has_exited_is_not_given(void **state)
{
	struct ins_fiber fiber;

	(void)state;
	records[3].seq = 9;
	records[4].id = 0;
	records[4].state = FIBER_DEAD;
	assert_true(take(2, &fiber));
	assert_false(take(3, &fiber));
	assert_false(take(4, &fiber));
	assert_true(take(5, &fiber));
}

/* The caller copies the record by itself then, from the address in the row. */
static void test_the_row_of_a_fiber_that_is_not_given_is_kept(void **state)
{
	struct ins_fiber fiber;

	(void)state;
	memset(&fiber, 0x5a, sizeof fiber);
	fiber.row.record = (uint64_t)(uintptr_t)&records[4];
	fiber.row.id = 5;
	records[4].id = 0;
	assert_false(ins_live_many(&live, fiber.row.record, &fiber));
	assert_int_equal(fiber.row.id, 5);
	assert_ptr_equal((void *)(uintptr_t)fiber.row.record, &records[4]);
	assert_int_equal((unsigned char)fiber.row.name[0], 0x5a);
}

/* A thread that changes a record all the time, as its fiber would: the id is always half the seq. */
static void *change(void *arg)
{
	volatile struct rows_record *r = arg;
	uint64_t n;

	for (n = 1; r->since != 6; n++) {
		r->seq = 2 * n + 1;
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		r->id = n + 1;
		r->object = n + 1;
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		r->seq = 2 * n + 2;
	}
	return NULL;
}

static void test_what_is_given_is_of_one_moment(void **state)
{
	struct ins_fiber fiber;
	pthread_t thread;

	(void)state;
	records[7] = (struct rows_record){
		.id = 1, .object = 1, .seq = 2, .since = 5, .state = FIBER_SUSPENDED};
	records[7].wait_kind = FIB_WAIT_SEM;
	assert_int_equal(pthread_create(&thread, NULL, change, &records[7]), 0);
	for (int i = 0; i < 20000; i++) {
		ins_live_many_begin(&live);
		if (!take(7, &fiber))
			continue;
		assert_int_equal(fiber.row.seq, 2 * fiber.row.id);
		assert_int_equal(fiber.row.wait_object, fiber.row.id);
	}
	((volatile struct rows_record *)records)[7].since = 6;
	assert_int_equal(pthread_join(thread, NULL), 0);
	/* It holds still now. */
	ins_live_many_begin(&live);
	assert_true(take(7, &fiber));
}

static void test_a_new_reading_copies_anew(void **state)
{
	struct ins_fiber fiber;

	(void)state;
	assert_true(take(1, &fiber));
	records[1].seq += 2;
	assert_true(take(1, &fiber));
	assert_int_equal(fiber.row.seq, 4);
	ins_live_many_begin(&live);
	assert_true(take(1, &fiber));
	assert_int_equal(fiber.row.seq, 6);
}

static void test_records_that_cannot_be_copied_so_are_left(void **state)
{
	struct ins_fiber fiber;
	const size_t page = 4096 / sizeof *records + 2;

	(void)state;
	/* From a page that was never touched on there is nothing to copy. */
	assert_int_equal(madvise((char *)records + 65536, 65536, MADV_DONTNEED), 0);
	assert_true(take(0, &fiber));
	assert_false(take(65536 / sizeof *records + page, &fiber));
	live.source.layout.record_size = 1u << 20;
	assert_false(take(0, &fiber));
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, begin, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		EACH(test_each_record_is_given_with_its_address),
		EACH(test_a_fiber_that_runs_or_has_exited_is_not_given),
		EACH(test_the_row_of_a_fiber_that_is_not_given_is_kept),
		EACH(test_what_is_given_is_of_one_moment),
		EACH(test_a_new_reading_copies_anew),
		EACH(test_records_that_cannot_be_copied_so_are_left),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
