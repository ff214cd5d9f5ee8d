/* SPDX-License-Identifier: MIT */
/* test_snapshot_threads.c - the rows of threads that a snapshot gets */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "inspect/source/snapshot_threads.h"
#include "tests/harness/inspect/head.h"
#include "tests/harness/inspect/rows.h"
#include "wire/wire.h"

static struct ins_fiber thread[2];
static unsigned char stack[100000];
static struct ins_snapshot_looks looks;
static FILE *out;

static int give(struct ins_source *source, const struct ins_request *request, ins_fiber_fn *fn,
		void *context, struct ins_summary *ret, struct ins_error *error)
{
	int rc = 0;

	(void)source;
	(void)request;
	(void)error;
	ret->sampled_ns = 77;
	for (size_t i = 0; rc == 0 && i < 2; i++)
		rc = fn(context, &thread[i]);
	return rc;
}

static const struct ins_source_ops ops = {.read = give};
static struct ins_source source = {.ops = &ops};

/* Two threads that sleep, and a first look at them. */
static int begin(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		thread[i] = rows_fiber(FIB_HOLDER_THREAD | (70 + i), "one");
		thread[i].row.age = 0;
		thread[i].row.wait_kind = FIB_WAIT_MUTEX;
		thread[i].row.wait_object = 0x1000;
		thread[i].row.holder = 5;
		thread[i].flags = INS_FIBER_THREAD;
		thread[i].stack = stack;
		thread[i].stack_size = 64;
	}
	assert_int_equal(ins_snapshot_look(&source, &looks), 0);
	assert_int_equal(looks.count, 2);
	/* The clock has to move. */
	looks.at -= 1000;
	out = tmpfile();
	return out ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	ins_snapshot_looks_free(&looks);
	return fclose(out);
}

static void read_back(void *bytes, size_t size)
{
	assert_int_equal(fread(bytes, 1, size, out), size);
}

static uint32_t read_header(uint16_t type)
{
	struct fib_wire_header h;

	read_back(&h, sizeof h);
	assert_int_equal(fib_wire_check(&h, FIB_WIRE_FRAME_MAX), 0);
	assert_int_equal(h.type, type);
	return h.length;
}

/* Read one row back, and skip its stack. */
static struct fib_row read_row(struct fib_wire_stack *ret)
{
	const uint32_t length = read_header(FIB_WIRE_STACKS);
	struct fib_row row = {0};

	read_back(ret, sizeof *ret);
	assert_int_equal(ret->row_size, sizeof row);
	assert_int_equal(length, sizeof *ret + sizeof row + ret->stack_size);
	read_back(&row, sizeof row);
	assert_int_equal(fseek(out, ret->stack_size, SEEK_CUR), 0);
	return row;
}

static int put_to(void *file, const void *bytes, size_t size)
{
	return fwrite(bytes, 1, size, file) == size ? 0 : -errno;
}

static void write_all(void)
{
	assert_int_equal(ins_snapshot_put_threads(put_to, out, &source, &looks), 0);
	rewind(out);
}

static void test_a_thread_that_slept_all_the_time_has_an_age(void **state)
{
	struct fib_wire_stack s;
	struct fib_row row;

	(void)state;
	write_all();
	row = read_row(&s);
	assert_int_equal(row.id, FIB_HOLDER_THREAD | 70);
	assert_int_equal(row.holder, 5);
	assert_true(row.age >= 1000);
	assert_int_equal(s.stack_size, 64);
	assert_int_equal(s.flags, 0);
}

static void test_a_thread_that_ran_or_waits_for_another_has_none(void **state)
{
	struct fib_wire_stack s;

	(void)state;
	thread[0].row.seq += 2;
	thread[1].row.holder = 6;
	write_all();
	assert_int_equal(read_row(&s).age, 0);
	assert_int_equal(read_row(&s).age, 0);
}

static void test_a_thread_that_came_later_has_no_age(void **state)
{
	struct fib_wire_stack s;
	struct fib_row row;

	(void)state;
	thread[1].row.id++;
	write_all();
	row = read_row(&s);
	assert_true(row.age > 0);
	row = read_row(&s);
	assert_int_equal(row.age, 0);
}

static void test_a_deep_stack_is_cut(void **state)
{
	struct fib_wire_stack s;

	(void)state;
	thread[0].stack_size = sizeof stack;
	thread[1].flags |= INS_FIBER_GONE;
	thread[1].stack_size = 0;
	write_all();
	read_row(&s);
	assert_int_equal(s.flags, FIB_WIRE_STACK_CUT);
	assert_true(s.stack_size < sizeof stack);
	read_row(&s);
	assert_int_equal(s.flags, FIB_WIRE_STACK_GONE);
	assert_int_equal(s.stack_size, 0);
}

static void test_the_end_counts_the_threads(void **state)
{
	struct fib_wire_stack s;
	struct fib_wire_end e;

	(void)state;
	write_all();
	read_row(&s);
	read_row(&s);
	assert_int_equal(read_header(FIB_WIRE_END), sizeof e);
	read_back(&e, sizeof e);
	assert_int_equal(e.total, 2);
	assert_int_equal(e.shown, 2);
	assert_int_equal(e.sampled_ns, 77);
	assert_int_equal(e.problems, 0);
}

static void test_a_file_that_cannot_be_written_is_an_error(void **state)
{
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(full);
	setbuf(full, NULL);
	assert_int_equal(ins_snapshot_put_threads(put_to, full, &source, &looks), -ENOSPC);
	fclose(full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
		TEST(test_a_thread_that_slept_all_the_time_has_an_age),
		TEST(test_a_thread_that_ran_or_waits_for_another_has_none),
		TEST(test_a_thread_that_came_later_has_no_age),
		TEST(test_a_deep_stack_is_cut),
		TEST(test_the_end_counts_the_threads),
		TEST(test_a_file_that_cannot_be_written_is_an_error),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
