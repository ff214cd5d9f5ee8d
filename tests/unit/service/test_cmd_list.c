/* SPDX-License-Identifier: MIT */
/* test_cmd_list.c - list every fiber, without its stack */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "layout/row.h"
#include "records.h"
#include "talk.h"
#include "tests/harness/entries.h"
#include "tests/harness/watchdog.h"

#define MANY 300u

static struct talk t;
static struct fiber *all[MANY];
static struct fib_wire_end end;

/* Collect the rows of an answer. */
static size_t rows_of(struct fib_row *rows, size_t room)
{
	const unsigned char *payload;
	struct fib_wire_rows head;
	size_t length, n = 0;

	while ((payload = talk_find(&t, FIB_WIRE_ROWS, &length))) {
		memcpy(&head, payload, sizeof head);
		assert_int_equal(head.row_size, sizeof(struct fib_row));
		assert_int_equal(length, sizeof head + head.count * sizeof(struct fib_row));
		assert_true(head.count > 0 && n + head.count <= room);
		memcpy(rows + n, payload + sizeof head, head.count * sizeof(struct fib_row));
		n += head.count;
	}
	t.at = 0;
	payload = talk_find(&t, FIB_WIRE_END, &length);
	assert_non_null(payload);
	memcpy(&end, payload, sizeof end);
	return n;
}

static void test_list_has_every_fiber_with_its_wait(void **state)
{
	struct fib_row *rows = calloc(MANY, sizeof *rows);
	struct fiber_mutex m = {.name = "cfg"};
	size_t i, n;

	(void)state;
	fib_store(&m.owner, 88);
	for (i = 0; i < MANY; i++) {
		all[i] = record_make("listed", 0, 0);
		all[i]->wait_object = (uint64_t)(uintptr_t)&m;
		fib_store(&all[i]->wait_kind, FIB_WAIT_MUTEX);
	}
	talk_begin(&t);
	talk_request(&t, FIB_WIRE_LIST, NULL, 0);
	talk_run(&t);
	n = rows_of(rows, MANY);
	assert_int_equal(n, MANY);
	for (i = 0; i < n; i++) {
		assert_int_equal(rows[i].id, fiber_id(all[i]));
		assert_string_equal(rows[i].object_name, "cfg");
		assert_int_equal(rows[i].holder, 88);
	}
	assert_int_equal(end.total, MANY);
	assert_int_equal(end.shown, MANY);
	assert_int_equal(end.problems, 0);
	talk_end(&t);
	for (i = MANY; i-- > 0;)
		record_end(all[i]);
	free(rows);
}

static void test_list_without_extras_has_shorter_rows_and_no_maps(void **state)
{
	const struct fib_wire_list request = {0};
	struct fiber *f = record_make("brief", 0, 0);
	struct fib_wire_rows head;
	const unsigned char *payload;
	struct fib_row row;
	size_t length;

	(void)state;
	talk_begin(&t);
	talk_request(&t, FIB_WIRE_LIST, &request, sizeof request);
	talk_run(&t);
	payload = talk_find(&t, FIB_WIRE_ROWS, &length);
	assert_non_null(payload);
	memcpy(&head, payload, sizeof head);
	assert_int_equal(head.count, 1);
	assert_int_equal(head.row_size, offsetof(struct fib_row, labels));
	assert_int_equal(length, sizeof head + head.row_size);
	memcpy(&row, payload + sizeof head, head.row_size);
	assert_string_equal(row.name, "brief");
	assert_true(row.stack_high_water == FIB_ROW_UNKNOWN);
	t.at = 0;
	assert_null(talk_find(&t, FIB_WIRE_MAPS, &length));
	talk_end(&t);
	record_end(f);
}

/* The first answer opens what all answers need: no later answer opens more, whether read
 * completely or not. */
static void test_list_leaves_no_more_descriptors_open(void **state)
{
	const struct fib_wire_list request = {0};
	static struct fiber_mutex m[MANY];
	size_t i, before;

	(void)state;
	for (i = 0; i < MANY; i++) {
		all[i] = record_make("listed", 0, 0);
		all[i]->wait_object = (uint64_t)(uintptr_t)&m[i];
		fib_store(&all[i]->wait_kind, FIB_WAIT_MUTEX);
	}
	talk_begin(&t);
	talk_request(&t, FIB_WIRE_LIST, NULL, 0);
	talk_run(&t);
	before = harness_descriptors();
	talk_request(&t, FIB_WIRE_LIST, &request, sizeof request);
	talk_run(&t);
	assert_int_equal(harness_descriptors(), before);
	t.brief = true;
	talk_request(&t, FIB_WIRE_LIST, &request, sizeof request);
	for (i = 0; i < 5; i++)
		talk_turn(&t);
	assert_int_equal(harness_descriptors(), before);
	fib_peer_close(&t.peer);
	assert_int_equal(harness_descriptors(), before - 1);
	talk_end(&t);
	for (i = MANY; i-- > 0;)
		record_end(all[i]);
}

static void test_list_counts_objects_that_cannot_be_read(void **state)
{
	struct fiber *f = record_make("lost", 0, 0);
	struct fib_row row;

	(void)state;
	f->wait_object = 16;
	fib_store(&f->wait_kind, FIB_WAIT_MUTEX);
	talk_begin(&t);
	talk_request(&t, FIB_WIRE_LIST, NULL, 0);
	talk_run(&t);
	assert_int_equal(rows_of(&row, 1), 1);
	assert_int_equal(row.wait_object, 16);
	assert_int_equal(end.problems, 1);
	talk_end(&t);
	record_end(f);
}

static void test_list_of_nothing_is_an_end(void **state)
{
	struct fib_row row;

	(void)state;
	fib_registry_init();
	talk_begin(&t);
	talk_request(&t, FIB_WIRE_LIST, NULL, 0);
	talk_run(&t);
	assert_int_equal(rows_of(&row, 1), 0);
	assert_int_equal(end.total, 0);
	talk_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list_of_nothing_is_an_end),
		cmocka_unit_test(test_list_has_every_fiber_with_its_wait),
		cmocka_unit_test(test_list_without_extras_has_shorter_rows_and_no_maps),
		cmocka_unit_test(test_list_leaves_no_more_descriptors_open),
		cmocka_unit_test(test_list_counts_objects_that_cannot_be_read),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
