/* SPDX-License-Identifier: MIT */
/* test_records.c - every readable record is seen once, in order; the others are counted */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/inspect/head.h"
#include "inspect/source/records.h"
#include "tests/harness/inspect/room.h"
#include "tests/harness/inspect/rows.h"

#define RECORDS UINT64_C(0x7f0000000000)
#define MANY	40000u /* more than one piece */

static struct ins_modules modules;
static struct ins_source source = {.modules = &modules};
static struct room room;
static struct ins_error error;
static unsigned char *bytes;
static uint64_t seen, last, stop_at;

static int each(void *context, uint64_t address, const void *record)
{
	struct rows_record r;

	assert_ptr_equal(context, &source);
	memcpy(&r, record, sizeof r);
	seen++;
	if (!r.id && address != RECORDS)
		return 0; /* its id is in a page that does not exist */
	assert_int_equal(address, RECORDS + r.id * sizeof r);
	assert_true(seen == 1 || r.id > last);
	last = r.id;
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
	source.run = NULL;
	source.held = NULL;
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
	room_add(&room, RECORDS, bytes, 100 * size + 8); /* ends inside a record */
	room_add(&room, RECORDS + 103 * size, bytes + 103 * size, (MANY - 103) * size);
	assert_int_equal(run(), 0);
	assert_int_equal(seen, MANY - 3);
	assert_int_equal(ins_problems_lines(&source.problems), 1);
	assert_non_null(strstr(ins_problems_text(&source.problems, 0, text, sizeof text),
			       "3 of 40000 fiber records"));
	assert_true(source.partial);
	room_add(&room, RECORDS, bytes, MANY * size); /* the next read is whole */
	assert_int_equal(run(), 0);
	assert_false(source.partial);
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

/* Only the first and the last of the pages with records exist. */
static uint64_t two_ends(struct ins_source *s, uint64_t address, uint64_t bytes_asked,
			 bool *ret_there)
{
	const uint64_t begin = RECORDS + 4096,
		       finish = RECORDS + s->layout.committed * s->layout.record_size - 4096;
	uint64_t end;

	*ret_there = address < begin || address >= finish;
	end = address < begin ? begin : address < finish ? finish : UINT64_MAX;
	return end - address < bytes_asked ? end - address : bytes_asked;
}

static void test_what_was_never_written_is_not_read(void **state)
{
	const size_t size = sizeof(struct rows_record), most = (4096 + size - 1) / size;

	(void)state;
	room_add(&room, RECORDS, bytes, MANY * size);
	source.run = two_ends;
	assert_int_equal(run(), 0);
	assert_int_equal(last, MANY - 1);
	assert_in_range(seen, 2, 2 * most + 2);
	assert_true(room.reads < 10);
	assert_int_equal(ins_problems_lines(&source.problems), 0);
}

/* Like room_read(), of the pages that two_ends() says to exist. */
static int memory_of_two_ends(void *reader, uint64_t address, void *buf, size_t size)
{
	bool there;

	assert_int_equal(two_ends(&source, address, size, &there), size);
	assert_true(there);
	return memory(reader, address, buf, size);
}

/* Records lie across the ends of pages. */
static void test_pages_that_do_not_exist_are_not_touched_for_a_part_of_a_record(void **state)
{
	(void)state;
	assert_int_not_equal(4096 % sizeof(struct rows_record), 0);
	room_add(&room, RECORDS, bytes, MANY * sizeof(struct rows_record));
	source.run = two_ends;
	source.memory = memory_of_two_ends;
	assert_int_equal(run(), 0);
	assert_int_equal(last, MANY - 1);
}

static void expect_given_up(const char *after, const char *why)
{
	char text[512];

	assert_int_equal(ins_problems_lines(&source.problems), 1);
	ins_problems_text(&source.problems, 0, text, sizeof text);
	assert_non_null(strstr(text, after));
	assert_non_null(strstr(text, why));
}

static uint64_t nothing(struct ins_source *s, uint64_t address, uint64_t bytes_asked,
			bool *ret_there)
{
	(void)s;
	*ret_there = address < RECORDS + 4096;
	return *ret_there ? 4096 - (address - RECORDS) : bytes_asked;
}

static uint64_t enough(struct ins_source *s, uint64_t address, uint64_t bytes_asked,
		       bool *ret_there)
{
	return nothing(s, address, bytes_asked, ret_there) && *ret_there ? 4096 : 0;
}

static void test_nothing_without_end_is_given_up(void **state)
{
	(void)state;
	room_add(&room, RECORDS, bytes, MANY * sizeof(struct rows_record));
	source.run = nothing;
	source.layout.committed = source.layout.capacity = UINT64_C(1) << 32;
	assert_int_equal(run(), 0);
	expect_given_up("gave up after ", "were never written");
	ins_problems_free(&source.problems);
	source.run = enough;
	assert_int_equal(run(), 0);
	expect_given_up("gave up after ",
			"of 4294967296 fiber records: the process has not touched");
}

static uint64_t held(const struct ins_source *s)
{
	(void)s;
	return 1 << 20;
}

static unsigned char zeros[1 << 20];

static int zeros_without_end(void *reader, uint64_t address, void *buf, size_t size)
{
	(void)reader;
	(void)address;
	memcpy(buf, zeros, size);
	return 0;
}

static int each_zero(void *context, uint64_t address, const void *record)
{
	(void)context;
	(void)address;
	(void)record;
	return 0;
}

static void test_more_than_the_process_has_is_given_up(void **state)
{
	(void)state;
	source.memory = zeros_without_end;
	source.held = held;
	source.layout.committed = source.layout.capacity = UINT64_C(1) << 32;
	assert_int_equal(ins_records_each(&source, each_zero, NULL, &error), 0);
	expect_given_up("gave up after ", "no more than 1 MiB of memory");
}

static int refused(void *reader, uint64_t address, void *buf, size_t size)
{
	return address == RECORDS + (1 << 20) / sizeof(struct rows_record) *
					       sizeof(struct rows_record)
		       ? -EDQUOT
		       : memory(reader, address, buf, size);
}

static void test_what_would_make_the_process_larger_is_given_up(void **state)
{
	const uint64_t per = (1 << 20) / sizeof(struct rows_record);
	char after[64];

	(void)state;
	room_add(&room, RECORDS, bytes, MANY * sizeof(struct rows_record));
	source.memory = refused;
	assert_int_equal(run(), 0);
	assert_int_equal(seen, per);
	snprintf(after, sizeof after, "gave up after %u of 40000 fiber records", (unsigned)per);
	expect_given_up(after, "has not touched");
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
		cmocka_unit_test_setup(test_what_was_never_written_is_not_read, renew),
		cmocka_unit_test_setup(
			test_pages_that_do_not_exist_are_not_touched_for_a_part_of_a_record, renew),
		cmocka_unit_test_setup(test_nothing_without_end_is_given_up, renew),
		cmocka_unit_test_setup(test_more_than_the_process_has_is_given_up, renew),
		cmocka_unit_test_setup(test_what_would_make_the_process_larger_is_given_up, renew),
		cmocka_unit_test(test_a_request_is_for_all_or_for_one),
	};

	return HEAD_RUN(tests, start, stop);
}
