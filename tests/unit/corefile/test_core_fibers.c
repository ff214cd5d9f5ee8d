/* SPDX-License-Identifier: MIT */
/* test_core_fibers.c - fibers as threads of a core: numbers, notes, and which copies are used */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fiber/fiber.h>

#include "tests/harness/inspect/head.h"
#include "inspect/corefile/core.h"
#include "inspect/corefile/core_fibers.h"
#include "inspect/corefile/core_threads.h"
#include "tests/harness/paths.h"

#define RECORDS	    UINT64_C(0x10000)
#define RECORD_SIZE 256u
#define STACKS	    UINT64_C(0x100000)
#define STACK_SIZE  UINT64_C(0x4000)
#define FIBERS	    8

static struct ins_fiber fiber[FIBERS]; /* the fibers that the source emits */
static unsigned char stack[FIBERS][64];
static size_t fibers;
static struct ins_core_part part[2];
static struct ins_core_writer writer;
static struct ins_core_fibers found;
static struct ins_core core;
static struct ins_error error;
static char path[HARNESS_PATH];

static int read_fibers(struct ins_source *s, const struct ins_request *request, ins_fiber_fn *fn,
		       void *context, struct ins_summary *ret, struct ins_error *why)
{
	int rc = 0;

	(void)s;
	(void)request;
	(void)why;
	for (size_t i = 0; rc == 0 && i < fibers; i++) {
		ret->total++;
		rc = fn(context, &fiber[i]);
	}
	return rc;
}

/* When a record is read again, it belongs to another fiber. */
static int memory(void *s, uint64_t address, void *buf, size_t size)
{
	(void)s;
	(void)address;
	memset(buf, 0xee, size);
	return 0;
}

static const struct ins_source_ops ops = {.read = read_fibers};
static struct ins_source source = {.pid = 1, .memory = memory, .ops = &ops};

static void field(enum fib_layout_field_id id, uint16_t offset, uint16_t size)
{
	source.layout.fields[id] = (struct fib_layout_field){offset, size};
}

static struct fib_row *add(uint64_t id, uint8_t state, size_t on)
{
	struct ins_fiber *f = &fiber[fibers];
	struct fib_row *row = &f->row;

	memset(f, 0, sizeof *f);
	memset(stack[fibers], (int)('a' + fibers), sizeof stack[0]);
	row->id = id;
	row->record = RECORDS + fibers * RECORD_SIZE;
	row->state = state;
	row->seq = 10;
	row->stack_low = STACKS + on * STACK_SIZE;
	row->stack_size = STACK_SIZE;
	row->sp = row->stack_low + STACK_SIZE - sizeof stack[0];
	row->stack_used = sizeof stack[0];
	row->pc = 0x1000 + id;
	f->stack = stack[fibers];
	f->stack_size = sizeof stack[0];
	fibers++;
	return row;
}

static int make(void **state)
{
	int fd = open(harness_file(path, "core"), O_RDWR | O_CREAT | O_TRUNC, 0600);

	(void)state;
	fibers = 0;
	source.layout = (struct fib_layout){.record_size = RECORD_SIZE,
					    .field_count = FIB_FIELD_COUNT,
					    .records = RECORDS,
					    .committed = FIBERS};
	field(FIB_FIELD_SP, 0, 8);
	field(FIB_FIELD_PC, 8, 8);
	field(FIB_FIELD_SEQ, 16, 8);
	field(FIB_FIELD_STATE, 24, 1);
	field(FIB_FIELD_ID, 32, 8);
	field(FIB_FIELD_STACK_LOW, 40, 8);
	field(FIB_FIELD_STACK_SIZE, 48, 8);
	part[0] = (struct ins_core_part){.start = RECORDS, .end = RECORDS + 4096, .size = 4096};
	part[1] = (struct ins_core_part){
		.start = STACKS, .end = STACKS + FIBERS * STACK_SIZE, .size = FIBERS * STACK_SIZE};
	return ins_core_writer_begin(&writer, fd, part, 2);
}

static void take(bool live)
{
	struct ins_summary summary = {0};

	assert_int_equal(ins_core_fibers_read(&found, &source, &writer, live, &summary, &error), 0);
	ins_core_fibers_number(&found);
}

static struct fib_row row_of(size_t i)
{
	unsigned char bytes[RECORD_SIZE];
	struct fib_row row;

	memset(&row, 0, sizeof row);
	assert_int_equal(ins_core_read(&core, RECORDS + i * RECORD_SIZE, bytes, sizeof bytes), 0);
	fib_row_decode(&source.layout, bytes, RECORDS + i * RECORD_SIZE, 0, &row);
	return row;
}

static void end(void)
{
	assert_int_equal(ins_core_fibers_notes(&found), 0);
	assert_int_equal(ins_core_writer_end(&writer), 0);
	close(writer.fd);
	ins_core_writer_free(&writer);
	assert_int_equal(ins_core_open(path, &error, &core), 0);
}

static int done(void **state)
{
	(void)state;
	ins_core_close(&core);
	ins_core_fibers_free(&found);
	return 0;
}

static void test_number_of_a_thread_shows_the_id_of_its_fiber(void **state)
{
	struct ins_core_thread *thread;
	size_t count;

	(void)state;
	add(UINT64_C(5000000000), FIBER_SUSPENDED, 0);
	add(7, FIBER_SUSPENDED, 1);
	add(999999999, FIBER_RUNNABLE, 2);
	add(UINT64_C(1000000000), FIBER_SUSPENDED, 3);
	add(9, FIBER_DEAD, 4);
	add(8, FIBER_RUNNING, 5)->seq = 11;
	take(false);
	assert_int_equal(found.threads, 4);
	assert_int_equal(found.ended, 1);
	assert_int_equal(found.running, 1);
	end();
	assert_int_equal(ins_core_threads(&core, &thread, &count), 0);
	assert_int_equal(count, 4);
	assert_int_equal(thread[0].tid, 1000000007);
	assert_int_equal(thread[0].registers.pc, 0x1007);
	assert_int_equal(thread[0].registers.sp, STACKS + 2 * STACK_SIZE - sizeof stack[0]);
	assert_int_equal(thread[1].tid, 1999999999);
	assert_int_equal(thread[2].tid, 2000000000); /* fiber 1000000000 */
	assert_int_equal(thread[3].tid, 2000000001); /* fiber 5000000000 */
	free(thread);
}

static void test_fiber_that_has_not_begun_stands_at_its_beginning(void **state)
{
	struct fib_row *row = add(3, FIBER_CREATED, 0);
	struct ins_core_thread *thread;
	size_t count;

	(void)state;
	row->sp = row->stack_low = row->stack_size = row->stack_used = 0;
	row->entry = 0x4444;
	fiber[0].stack = NULL;
	take(false);
	assert_int_equal(found.lost, 0);
	end();
	assert_int_equal(ins_core_threads(&core, &thread, &count), 0);
	assert_int_equal(count, 1);
	assert_int_equal(thread[0].registers.pc, 0x4444);
	assert_int_equal(thread[0].registers.sp, 0);
	free(thread);
}

/* The core has the bytes of the first reading, not those of a later one. */
static void test_record_and_stack_are_those_that_were_read_together(void **state)
{
	char byte;

	(void)state;
	add(1, FIBER_SUSPENDED, 0);
	add(2, FIBER_SUSPENDED, 1);
	fiber[1].flags = INS_FIBER_MOVING;
	fiber[1].row.state = FIBER_RUNNING;
	fiber[1].stack = NULL;
	take(true);
	end();
	assert_int_equal(row_of(0).id, 1);
	assert_int_equal(row_of(0).seq, 10);
	assert_int_equal(row_of(0).sp, fiber[0].row.sp);
	assert_int_equal(row_of(0).state, FIBER_SUSPENDED);
	assert_int_equal(ins_core_read(&core, fiber[0].row.sp, &byte, 1), 0);
	assert_int_equal(byte, 'a');
	/* The fiber ran in every reading, so it is running and gets no thread of its own. */
	assert_int_equal(row_of(1).state, FIBER_RUNNING);
	assert_int_equal(found.threads, 1);
	/* The source did not emit this fiber, so the core does not have it. */
	assert_int_equal(row_of(2).id, 0);
}

static void test_stack_that_two_had_is_the_later_ones(void **state)
{
	(void)state;
	add(4, FIBER_SUSPENDED, 2);
	add(5, FIBER_SUSPENDED, 0);
	add(6, FIBER_SUSPENDED, 2);
	add(9, FIBER_DEAD, 0); /* its former stack */
	take(true);
	assert_int_equal(found.threads, 2);
	end();
	assert_int_equal(row_of(0).id, 0);
	assert_int_equal(row_of(1).id, 5);
	assert_int_equal(row_of(2).id, 6);
	assert_int_equal(row_of(3).id, 9);
}

static void test_fiber_is_found_by_an_address_on_its_stack(void **state)
{
	struct ins_core_fiber *one;

	(void)state;
	add(4, FIBER_SUSPENDED, 2);
	add(5, FIBER_SUSPENDED, 0);
	take(true);
	one = ins_core_fibers_on(&found, STACKS);
	assert_non_null(one);
	assert_int_equal(one->id, 5);
	assert_ptr_equal(ins_core_fibers_on(&found, STACKS + STACK_SIZE - 1), one);
	assert_null(ins_core_fibers_on(&found, STACKS - 1));
	assert_null(ins_core_fibers_on(&found, STACKS + STACK_SIZE));
	assert_int_equal(ins_core_fibers_on(&found, STACKS + 2 * STACK_SIZE)->id, 4);
	/* A thread reports that this fiber has exited. */
	assert_int_equal(ins_core_fibers_drop(&found, one), 0);
	assert_null(ins_core_fibers_on(&found, STACKS));
	ins_core_fibers_number(&found);
	assert_int_equal(found.threads, 1);
	end();
	assert_int_equal(row_of(1).id, 0);
}

static void test_stacks_that_are_not_there_are_counted(void **state)
{
	(void)state;
	add(4, FIBER_SUSPENDED, 0);
	add(5, FIBER_SUSPENDED, 1);
	add(6, FIBER_SUSPENDED, 2);
	memset(stack[0], 0, sizeof stack[0]);
	fiber[1].stack = NULL;
	fiber[1].stack_size = 0;
	take(false);
	assert_int_equal(found.lost, 2);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_number_of_a_thread_shows_the_id_of_its_fiber,
						make, done),
		cmocka_unit_test_setup_teardown(
			test_fiber_that_has_not_begun_stands_at_its_beginning, make, done),
		cmocka_unit_test_setup_teardown(
			test_record_and_stack_are_those_that_were_read_together, make, done),
		cmocka_unit_test_setup_teardown(test_stack_that_two_had_is_the_later_ones, make,
						done),
		cmocka_unit_test_setup_teardown(test_fiber_is_found_by_an_address_on_its_stack,
						make, done),
		cmocka_unit_test_setup_teardown(test_stacks_that_are_not_there_are_counted, make,
						done),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
