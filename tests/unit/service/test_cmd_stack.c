/* SPDX-License-Identifier: MIT */
/* test_cmd_stack.c - fibers with the bytes of their stacks */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/mman.h>

#include "layout/row.h"
#include "records.h"
#include "talk.h"
#include "tests/harness/entries.h"
#include "tests/harness/watchdog.h"

static struct talk t;
static struct fib_wire_stack head;

/* The flags without the time that the copy took. */
static uint32_t why(void)
{
	return head.flags & ((1u << FIB_WIRE_STACK_TOOK) - 1);
}

static struct fib_row row;

static void ask(uint64_t id)
{
	talk_begin(&t);
	talk_request(&t, FIB_WIRE_STACK, &id, sizeof id);
	talk_run(&t);
}

/* The bytes of the next stack in the answer, or NULL if there is none. */
static const unsigned char *next_stack(void)
{
	size_t length;
	const unsigned char *payload = talk_find(&t, FIB_WIRE_STACKS, &length);

	if (!payload)
		return NULL;
	memcpy(&head, payload, sizeof head);
	assert_in_range(head.row_size, offsetof(struct fib_row, labels), sizeof row);
	memset(&row, 0, sizeof row);
	memcpy(&row, payload + sizeof head, head.row_size);
	assert_int_equal(length, sizeof head + head.row_size + head.stack_size);
	return payload + sizeof head + head.row_size;
}

static struct fib_wire_end end_of(void)
{
	struct fib_wire_end end;
	const void *payload;
	size_t length;

	t.at = 0;
	payload = talk_find(&t, FIB_WIRE_END, &length);
	assert_non_null(payload);
	memcpy(&end, payload, sizeof end);
	return end;
}

static void test_stack_of_one_fiber_is_its_bytes(void **state)
{
	struct fiber *f = record_make("one", 65536, 4000), *g = record_make("two", 65536, 100);
	const unsigned char *bytes;
	struct fib_wire_end end;

	(void)state;
	ask(fiber_id(f));
	bytes = next_stack();
	assert_non_null(bytes);
	assert_int_equal(row.id, fiber_id(f));
	assert_int_equal(head.stack_size, 4000);
	assert_int_equal(why(), 0);
	assert_memory_equal(bytes, (void *)(uintptr_t)f->context.sp, 4000);
	assert_null(next_stack());
	end = end_of();
	assert_int_equal(end.shown, 1);
	assert_int_equal(end.total, 2);
	talk_end(&t);
	record_end(f);
	record_end(g);
}

static void test_stack_of_all_counts_those_without_bytes(void **state)
{
	struct fiber *still = record_make("still", 65536, 4000),
		     *runs = record_make("runs", 65536, 9);
	struct fib_wire_end end;

	(void)state;
	fib_store(&runs->seq, 5);
	ask(0);
	while (next_stack()) {
		bool moving = row.id == fiber_id(runs);

		assert_int_equal(why(), moving ? FIB_WIRE_STACK_MOVING : 0);
		assert_int_equal(head.stack_size, moving ? 0 : 4000);
	}
	end = end_of();
	assert_int_equal(end.shown, 2);
	assert_int_equal(end.problems, 1);
	talk_end(&t);
	record_end(runs);
	record_end(still);
}

static void test_stacks_are_asked_for_without_labels_and_high_water_marks(void **state)
{
	struct fiber *f = record_make("lean", 65536, 4000);
	struct fib_wire_stack_of request = {.id = fiber_id(f)};
	const uint32_t lean = offsetof(struct fib_row, labels);
	const unsigned char *payload;
	size_t length;

	(void)state;
	talk_begin(&t);
	talk_request(&t, FIB_WIRE_STACK, &request, sizeof request);
	talk_run(&t);
	assert_null(talk_find(&t, FIB_WIRE_MAPS, &length));
	t.at = 0;
	payload = talk_find(&t, FIB_WIRE_STACKS, &length);
	assert_non_null(payload);
	memcpy(&head, payload, sizeof head);
	memset(&row, 0, sizeof row);
	memcpy(&row, payload + sizeof head, lean);
	assert_int_equal(head.row_size, lean);
	assert_int_equal(length, sizeof head + lean + 4000);
	assert_int_equal(row.id, fiber_id(f));
	assert_true(row.stack_high_water == FIB_ROW_UNKNOWN);
	assert_memory_equal(payload + sizeof head + lean, (void *)(uintptr_t)f->context.sp, 4000);
	talk_end(&t);

	/* All fields are filled in if the request wants them. */
	request.wanted = FIB_WIRE_WANT_ALL;
	talk_begin(&t);
	talk_request(&t, FIB_WIRE_STACK, &request, sizeof request);
	talk_run(&t);
	assert_non_null(next_stack());
	assert_true(row.stack_high_water != FIB_ROW_UNKNOWN);
	talk_end(&t);
	record_end(f);
}

static void test_rows_have_room_for_labels_only_where_there_are_any(void **state)
{
	struct fiber *bare = record_make("bare", 65536, 4000),
		     *labelled = record_make("labelled", 65536, 3000);
	static struct fib_layout_labels labels = {.text = {"tenant\0acme", ""}};
	const unsigned char *bytes;

	(void)state;
	labels.owner = fiber_id(labelled);
	labelled->labels = &labels;
	ask(fiber_id(bare));
	bytes = next_stack();
	assert_non_null(bytes);
	assert_int_equal(head.row_size, offsetof(struct fib_row, labels));
	assert_int_equal(head.stack_size, 4000);
	assert_memory_equal(bytes, (void *)(uintptr_t)bare->context.sp, 4000);
	talk_end(&t);
	ask(fiber_id(labelled));
	bytes = next_stack();
	assert_non_null(bytes);
	assert_int_equal(head.row_size, offsetof(struct fib_row, readers));
	assert_memory_equal(row.label, "tenant\0acme", 12);
	assert_int_equal(head.stack_size, 3000);
	assert_memory_equal(bytes, (void *)(uintptr_t)labelled->context.sp, 3000);
	talk_end(&t);
	labelled->labels = NULL;
	record_end(labelled);
	record_end(bare);
}

/* The size of the row of a fiber that waits until then. */
static uint32_t size_of_waiter(struct fiber *waiter, int64_t deadline)
{
	waiter->wait_deadline = deadline;
	ask(fiber_id(waiter));
	assert_non_null(next_stack());
	talk_end(&t);
	return head.row_size;
}

static void test_rows_have_room_for_who_signals_only_where_one_fiber_alone_did(void **state)
{
	struct fiber *waiter = record_make("waiter", 65536, 4000);
	struct fiber_sem sem = {.waiters = {.own = 7}};

	(void)state;
	waiter->wait_object = (uint64_t)(uintptr_t)&sem;
	fib_store(&waiter->wait_kind, FIB_WAIT_SEM);
	assert_int_equal(size_of_waiter(waiter, INT64_MAX), sizeof row);
	assert_int_equal(row.toucher, 7);
	assert_int_equal(size_of_waiter(waiter, 1), offsetof(struct fib_row, labels));
	sem.waiters.own = FIB_TOUCHER_SEVERAL;
	assert_int_equal(size_of_waiter(waiter, INT64_MAX), offsetof(struct fib_row, labels));
	sem.waiters.own = 0;
	assert_int_equal(size_of_waiter(waiter, INT64_MAX), offsetof(struct fib_row, labels));
	record_end(waiter);
}

static void test_stack_larger_than_a_frame_is_cut_and_says_so(void **state)
{
	struct fiber *f = record_make("huge", 4u << 20, (4u << 20) - 4096);

	(void)state;
	ask(0);
	assert_non_null(next_stack());
	assert_int_equal(why(), FIB_WIRE_STACK_CUT);
	assert_int_equal(head.stack_size, FIB_WIRE_FRAME_MAX - sizeof head - sizeof row);
	assert_int_equal(end_of().problems, 1);
	talk_end(&t);
	record_end(f);
}

/* With and without a pipe, an unmapped stack is missing and the stacks after it are present. */
static void test_stack_that_is_gone_says_so_and_the_next_is_whole(void **state)
{
	struct fiber *before = record_make("before", 65536, 4000),
		     *homeless = record_make("homeless", 0, 0),
		     *after = record_make("after", 65536, 3000);
	const size_t descriptors = harness_descriptors();
	/* Made unreadable, not unmapped: a starting thread could map something there. */
	char *at = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const unsigned char *bytes;

	(void)state;
	assert_true(at != MAP_FAILED);
	homeless->stack.low = at;
	homeless->stack.size = 65536;
	homeless->context.sp = (uint64_t)(uintptr_t)at + 65536 - 512;
	ask(0);
	while ((bytes = next_stack())) {
		if (row.id == fiber_id(homeless)) {
			assert_int_equal(why(), FIB_WIRE_STACK_GONE);
			assert_int_equal(head.stack_size, 0);
			continue;
		}
		assert_int_equal(why(), 0);
		assert_int_equal(head.stack_size, row.id == fiber_id(before) ? 4000 : 3000);
		assert_memory_equal(bytes, (void *)(uintptr_t)row.sp, head.stack_size);
	}
	assert_int_equal(end_of().shown, 3);
	assert_int_equal(end_of().problems, 1);
	talk_end(&t);
	assert_int_equal(harness_descriptors(), descriptors);
	homeless->stack.low = NULL;
	munmap(at, 65536);
	record_end(after);
	record_end(homeless);
	record_end(before);
}

static void test_stack_of_no_such_fiber_is_an_error(void **state)
{
	const struct fib_wire_error *e;
	size_t length;

	(void)state;
	ask(UINT64_C(1) << 40);
	e = talk_find(&t, FIB_WIRE_ERROR, &length);
	assert_non_null(e);
	assert_int_equal(e->error, -ESRCH);
	talk_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stack_of_one_fiber_is_its_bytes),
		cmocka_unit_test(test_stack_of_all_counts_those_without_bytes),
		cmocka_unit_test(test_stacks_are_asked_for_without_labels_and_high_water_marks),
		cmocka_unit_test(test_rows_have_room_for_labels_only_where_there_are_any),
		cmocka_unit_test(
			test_rows_have_room_for_who_signals_only_where_one_fiber_alone_did),
		cmocka_unit_test(test_stack_larger_than_a_frame_is_cut_and_says_so),
		cmocka_unit_test(test_stack_that_is_gone_says_so_and_the_next_is_whole),
		cmocka_unit_test(test_stack_of_no_such_fiber_is_an_error),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
