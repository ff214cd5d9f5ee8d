/* SPDX-License-Identifier: MIT */
/* test_records.c - every record that can be read is seen once, in order; what cannot is counted. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/inspect/head.h"
#include "inspect/source/records.h"
#include "tests/harness/inspect/room.h"
#include "tests/harness/inspect/rows.h"

#define RECORDS UINT64_C(0x7f0000000000)
#define MANY	40000u /* more than one piece */

static struct ins_source source;
static struct room room;
static struct ins_error error;
static unsigned char *bytes;
static uint64_t seen, last, stop_at;

static int each(void *context, uint64_t address, const void *record)
{
	struct rows_record r;

	assert_ptr_equal(context, &source);
	memcpy(&r, record, sizeof r);
	assert_int_equal(address, RECORDS + r.id * sizeof r);
	assert_true(!seen || r.id > last);
	last = r.id;
	seen++;
	return stop_at && seen == stop_at ? 77 : 0;
}

static int run(void)
{
	seen = last = 0;
	error.text[0] = 0;
	return ins_records_each(&source, each, &source, &error);
}

static int start(void **state)
{
	struct rows_record *records = calloc(MANY, sizeof *records);
	uint64_t i;

	(void)state;
	rows_layout(&source.layout);
	source.layout.records = RECORDS;
	source.layout.committed = source.layout.capacity = MANY;
	bytes = (unsigned char *)records;
	for (i = 0; records && i < MANY; i++)
		records[i].id = i;
	return bytes ? 0 : -1;
}

/* The source hands itself to its memory function. */
static int memory(void *reader, uint64_t address, void *buf, size_t size)
{
	assert_ptr_equal(reader, &source);
	return room_read(&room, address, buf, size);
}

static int renew(void **state)
{
	(void)state;
	memset(&room, 0, sizeof room);
	ins_problems_free(&source.problems);
	source.memory = memory;
	source.layout.committed = source.layout.capacity = MANY;
	stop_at = 0;
	return 0;
}

static void test_every_record_is_seen_once_in_few_reads(void **state)
{
	(void)state;
	room_add(&room, RECORDS, bytes, MANY * sizeof(struct rows_record));
	assert_int_equal(run(), 0);
	assert_int_equal(seen, MANY);
	assert_int_equal(ins_problems_lines(&source.problems), 0);
	assert_true(room.reads < 20);
}

static void test_the_callback_can_end_the_walk(void **state)
{
	(void)state;
	room_add(&room, RECORDS, bytes, MANY * sizeof(struct rows_record));
	stop_at = 12345;
	assert_int_equal(run(), 77);
	assert_int_equal(seen, 12345);
}

static void test_a_hole_is_counted_and_what_is_around_it_is_seen(void **state)
{
	const size_t size = sizeof(struct rows_record);
	char text[512];

	(void)state;
	room_add(&room, RECORDS, bytes, 100 * size + 8); /* ends within a record */
	room_add(&room, RECORDS + 103 * size, bytes + 103 * size, (MANY - 103) * size);
	assert_int_equal(run(), 0);
	assert_int_equal(seen, MANY - 3);
	assert_int_equal(ins_problems_lines(&source.problems), 1);
	assert_non_null(strstr(ins_problems_text(&source.problems, 0, text, sizeof text),
			       "3 of 40000 fiber records"));
}

static void test_nothing_at_all_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(run(), -EFAULT);
	assert_non_null(strstr(error.text, "none of 40000"));
}

static void test_no_records_are_no_error(void **state)
{
	(void)state;
	source.layout.committed = 0;
	assert_int_equal(run(), 0);
	assert_int_equal(seen, 0);
}

static void test_a_registry_that_claims_terabytes_ends_soon(void **state)
{
	(void)state;
	room_add(&room, RECORDS, bytes, MANY * sizeof(struct rows_record));
	source.layout.committed = source.layout.capacity = UINT64_C(1) << 32;
	assert_int_equal(run(), 0);
	assert_int_equal(seen, MANY);
	assert_int_equal(ins_problems_lines(&source.problems), 1);
	assert_true(room.reads < 100000);
}

static void test_a_request_is_for_all_or_for_one(void **state)
{
	const struct ins_request all = {0}, one = {.id = 7};
	struct fib_row row = {.id = 7};

	(void)state;
	assert_true(ins_records_wanted(&all, &row));
	assert_true(ins_records_wanted(&one, &row));
	row.id = 8;
	assert_false(ins_records_wanted(&one, &row));
}

static int stop(void **state)
{
	renew(state);
	free(bytes);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_every_record_is_seen_once_in_few_reads, renew),
		cmocka_unit_test_setup(test_the_callback_can_end_the_walk, renew),
		cmocka_unit_test_setup(test_a_hole_is_counted_and_what_is_around_it_is_seen, renew),
		cmocka_unit_test_setup(test_nothing_at_all_is_an_error, renew),
		cmocka_unit_test_setup(test_no_records_are_no_error, renew),
		cmocka_unit_test_setup(test_a_registry_that_claims_terabytes_ends_soon, renew),
		cmocka_unit_test(test_a_request_is_for_all_or_for_one),
	};

	return HEAD_RUN(tests, start, stop);
}
