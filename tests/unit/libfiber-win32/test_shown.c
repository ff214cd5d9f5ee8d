/* SPDX-License-Identifier: MIT */
/* test_shown.c - what a reader outside finds in the registry */
#include "win32_test.h"

#include <stdlib.h>

#include "shown.h"

static struct fiber_context home;

static void test_shown_registry_is_published_with_the_first_record(void **state)
{
	const struct fib_layout *l = fib_win32_registry();
	struct fiber_layout_record *r;

	(void)state;
	assert_int_equal(l->magic[0], 0);
	r = fib_win32_show("name", 7, 0x1234);
	assert_memory_equal(l->magic, FIB_LAYOUT_MAGIC, sizeof l->magic);
	assert_string_equal(l->port, "win32");
	assert_true(l->committed > 0 && l->committed < 1000);
	assert_int_equal(l->records, (uintptr_t)r);
	assert_int_equal(r->id, 1);
	assert_int_equal(r->parent, 7);
	assert_int_equal(r->entry, 0x1234);
	assert_string_equal(r->name, "name");
	assert_int_equal(r->state, 0);
	assert_true(r->since > 0);
	assert_int_equal(r->seq & 1, 0);
	fib_win32_hide(r);
	assert_int_equal(r->id, 0);
}

static void test_shown_sequence_is_odd_while_it_runs(void **state)
{
	struct fiber_layout_record *r = fib_win32_show("", 0, 1);
	struct fiber_saved_frame frame = {.sp = 0};
	const int64_t now = fib_win32_shown_now();
	const uint64_t seq = r->seq;

	(void)state;
	fiber_thread_to_context(&home);
	fib_win32_show_running(r, &now, 100, now);
	assert_int_equal(r->seq, seq + 1);
	assert_int_equal(r->state, 2);
	assert_int_equal(r->stack_low, (uintptr_t)&now);
	assert_int_equal(r->stack_size, 100);
	fib_win32_show_left(r, &home, now + 50);
	assert_int_equal(r->seq, seq + 2);
	assert_int_equal(r->state, 3);
	assert_int_equal(r->wait_kind, FIB_WAIT_PARK);
	assert_int_equal(r->cpu, 50);
	assert_int_equal(r->since, now + 50);
	fiber_context_frame(&home, &frame);
	assert_int_equal(r->sp, frame.sp);
	assert_int_equal(r->pc, frame.pc);
	/* A record that is hidden while it runs is even again, so its next owner starts even. */
	fib_win32_show_running(r, NULL, 0, now);
	fib_win32_hide(r);
	assert_int_equal(r->seq & 1, 0);
	fiber_context_release(&home);
}

static void test_shown_records_are_reused_with_new_numbers(void **state)
{
	struct fiber_layout_record *r = fib_win32_show("", 0, 1);
	const uint64_t id = r->id;

	(void)state;
	fib_win32_hide(r);
	assert_ptr_equal(fib_win32_show("", 0, 1), r);
	assert_int_equal(r->id, id + 1);
	fib_win32_hide(r);
}

static void test_shown_no_record_beyond_the_most(void **state)
{
	struct fiber_layout_record **all = calloc(FIB_WIN32_SHOWN_MOST, sizeof *all);
	unsigned i;

	(void)state;
	assert_non_null(all);
	for (i = 0; i < FIB_WIN32_SHOWN_MOST; i++) {
		all[i] = fib_win32_show("", 0, 1);
		assert_non_null(all[i]);
	}
	assert_null(fib_win32_show("", 0, 1));
	assert_int_equal(fib_win32_registry()->committed, FIB_WIN32_SHOWN_MOST);
	fib_win32_show_running(NULL, NULL, 0, 1);
	fib_win32_show_left(NULL, &home, 1);
	fib_win32_hide(NULL);
	for (i = 0; i < FIB_WIN32_SHOWN_MOST; i++)
		fib_win32_hide(all[i]);
	free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shown_registry_is_published_with_the_first_record),
		cmocka_unit_test(test_shown_sequence_is_odd_while_it_runs),
		cmocka_unit_test(test_shown_records_are_reused_with_new_numbers),
		cmocka_unit_test(test_shown_no_record_beyond_the_most),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
