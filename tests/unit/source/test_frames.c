/* SPDX-License-Identifier: MIT */
/*
 * test_frames.c - turn frames into fibers, also if more arrives than was requested
 *
 * Answers that fit their request, and hostile ones, are in test_source_control.c; damaged ones are
 * in test_source_snapshot.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/inspect/head.h"
#include "inspect/source/frames.h"
#include "tests/harness/inspect/snapshots.h"

static struct snapshot_file bytes;
static struct ins_source source;
static struct ins_frames frames;
static struct ins_summary summary;
static struct ins_error error;
static unsigned fibers, stacks;
static volatile unsigned sum;

static int each(void *context, const struct ins_fiber *fiber)
{
	(void)context;
	fibers++;
	stacks += fiber->stack != NULL;
	for (size_t i = 0; i < fiber->stack_size; i++)
		sum += fiber->stack[i];
	return 0;
}

static int start(void **state)
{
	(void)state;
	memset(&source, 0, sizeof source);
	memset(&summary, 0, sizeof summary);
	bytes.size = 0;
	fibers = stacks = 0;
	ins_frames_init(&frames, &source, "somewhere");
	return ins_modules_new(0, NULL, NULL, &source.problems, &source.modules);
}

static int stop(void **state)
{
	(void)state;
	ins_frames_free(&frames);
	ins_modules_free(source.modules);
	ins_problems_free(&source.problems);
	return 0;
}

/* Pass all frames to a request. */
static int take(const struct ins_request *request)
{
	struct ins_snapshot_frames all = {.at = bytes.at, .end = bytes.at + bytes.size};
	struct fib_wire_header header;
	const void *payload;
	int rc = 0;

	ins_frames_begin(&frames, request, each, NULL, &summary);
	while (rc == 0 && !frames.done && ins_snapshot_next(&all, &header, &payload))
		rc = ins_frames_take(&frames, &header, payload, &error);
	return rc;
}

static const char *problem(void)
{
	static char text[256];

	return ins_problems_text(&source.problems, 0, text, sizeof text);
}

static void put_three(void)
{
	snapshot_preface(&bytes);
	snapshot_fiber(&bytes, 7, 0);
	snapshot_fiber(&bytes, 8, FIB_WIRE_STACK_GONE);
	snapshot_fiber(&bytes, 9, FIB_WIRE_STACK_MOVING);
	snapshot_end(&bytes, 5, 3, 3);
}

static void test_only_the_fiber_that_was_asked_for_is_handed_on(void **state)
{
	const struct ins_request one = {.id = 8, .stacks = true};

	(void)state;
	put_three();
	assert_int_equal(take(&one), 0);
	assert_true(frames.done);
	assert_int_equal(fibers, 1);
	assert_int_equal(stacks, 1);
	assert_int_equal(summary.shown, 1);
	assert_int_equal(summary.total, 5);
	/* There are three problems; only the problem of this fiber is reported. */
	assert_non_null(strstr(
		problem(), "1 fiber is incomplete: what it waits for, its labels or its stack"));
}

static void test_a_call_that_is_refused_is_a_problem_that_is_named(void **state)
{
	struct fib_wire_refused refused = {
		.error = -EPERM, .call = "mincore", .lacks = "a \033 depth"};
	const struct ins_request all = {.id = 0};

	(void)state;
	snapshot_preface(&bytes);
	snapshot_fiber(&bytes, 7, 0);
	snapshot_frame(&bytes, FIB_WIRE_REFUSED, &refused, sizeof refused, NULL, 0);
	snapshot_end(&bytes, 1, 1, 0);
	assert_int_equal(take(&all), 0);
	assert_int_equal(fibers, 1);
	assert_non_null(strstr(problem(), "the program's sandbox refuses mincore (Operation not "
					  "permitted): a "));
	assert_null(strchr(problem(), '\033'));
	/* A truncated frame, and texts without a terminating NUL. */
	stop(NULL);
	start(NULL);
	snapshot_preface(&bytes);
	snapshot_frame(&bytes, FIB_WIRE_REFUSED, &refused, sizeof refused - 1, NULL, 0);
	assert_int_equal(take(&all), -EPROTO);
	stop(NULL);
	start(NULL);
	memset(&refused, 'x', sizeof refused);
	snapshot_preface(&bytes);
	snapshot_frame(&bytes, FIB_WIRE_REFUSED, &refused, sizeof refused, NULL, 0);
	snapshot_end(&bytes, 0, 0, 0);
	assert_int_equal(take(&all), 0);
	assert_non_null(strstr(problem(), "refuses xxxx"));
}

static int take_time(void *context, const struct ins_fiber *fiber)
{
	struct ins_fiber *kept = context;

	kept->now = fiber->now;
	kept->until = fiber->until;
	return 0;
}

/* The stack was copied from `now` to `until`. An older program sends neither. */
static void test_stack_has_the_time_that_it_was_copied_at(void **state)
{
	static const struct ins_request all = {.stacks = true};
	const struct fib_wire_header header = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_STACKS,
					       sizeof(struct fib_wire_stack) +
						       sizeof(struct fib_row)};
	struct {
		struct fib_wire_stack head;
		struct fib_row row;
	} stack = {.head = {.row_size = sizeof stack.row, .after = 70}, .row = {.id = 5}};
	struct ins_fiber is = {0};
	int64_t began;

	(void)state;
	put_three();
	assert_int_equal(take(&all), 0);
	ins_frames_begin(&frames, &all, take_time, &is, &summary);
	assert_int_equal(ins_frames_take(&frames, &header, &stack, &error), 0);
	began = is.now;
	assert_int_equal(is.until, 0);
	stack.head.flags = 9u << FIB_WIRE_STACK_TOOK;
	assert_int_equal(ins_frames_take(&frames, &header, &stack, &error), 0);
	assert_int_equal(is.now, began + 70000);
	assert_int_equal(is.until, began + 80000);
	stack.head.flags = FIB_WIRE_STACK_LONG << FIB_WIRE_STACK_TOOK;
	assert_int_equal(ins_frames_take(&frames, &header, &stack, &error), 0);
	assert_int_equal(is.until, 0);
}

static void test_stacks_that_were_not_asked_for_are_not_missed(void **state)
{
	const struct ins_request list = {0};

	(void)state;
	put_three();
	assert_int_equal(take(&list), 0);
	assert_int_equal(fibers, 3);
	assert_int_equal(stacks, 0);
	/* Two of the three problems were about stacks. */
	assert_non_null(strstr(problem(), "1 fiber is incomplete"));
}

static void test_a_fiber_that_did_not_come_is_no_such_fiber(void **state)
{
	const struct ins_request one = {.id = 12};

	(void)state;
	put_three();
	assert_int_equal(take(&one), -ESRCH);
	assert_string_equal(error.text, "fiber 12: no such fiber in process 42");
}

static void test_modules_can_be_had_before_the_first_fiber(void **state)
{
	const struct ins_request list = {0};

	(void)state;
	snapshot_preface(&bytes);
	assert_int_equal(take(&list), 0);
	assert_false(frames.done);
	assert_int_equal(source.modules->count, 0);
	assert_int_equal(ins_frames_map(&frames, &error), 0);
	assert_int_equal(source.modules->count, 1);
	assert_int_equal(ins_frames_map(&frames, &error), 0);
	assert_int_equal(source.modules->count, 1);
}

static uint64_t state_of_chance = 815;

static uint64_t chance(uint64_t below)
{
	state_of_chance = state_of_chance * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (state_of_chance >> 33) % below;
}

/*
 * Each payload has its own memory, damaged and perhaps cut: a sanitizer detects a read past the
 * end.
 */
static int take_damaged(const struct ins_request *request)
{
	struct ins_snapshot_frames all = {.at = bytes.at, .end = bytes.at + bytes.size};
	struct fib_wire_header header;
	const void *payload;
	int rc = 0;

	ins_frames_begin(&frames, request, each, NULL, &summary);
	while (rc == 0 && !frames.done && ins_snapshot_next(&all, &header, &payload)) {
		const size_t cut = chance(8) ? 0 : chance(header.length + 1);
		const size_t length = header.length - cut;
		unsigned char *own = malloc(length ? length : 1);

		assert_non_null(own);
		memcpy(own, payload, length);
		if (length && !chance(3))
			own[chance(length < 64 ? length : 64)] ^= (unsigned char)chance(256);
		header.length = (uint32_t)length;
		rc = ins_frames_take(&frames, &header, own, &error);
		free(own);
	}
	return rc;
}

static void test_frames_are_never_read_past_their_end(void **state)
{
	const struct ins_request whole = {.stacks = true};
	unsigned well = 0, wrong = 0;

	stop(state);
	for (unsigned i = 0; i < 20000; i++) {
		assert_int_equal(start(state), 0);
		put_three();
		if (take_damaged(&whole) < 0)
			wrong++;
		else
			well++;
		stop(state);
	}
	assert_true(well > 1000 && wrong > 1000);
	assert_int_equal(start(state), 0);
}

/* Put only a LAYOUT frame with this many records. */
static void put_layout(uint64_t records)
{
	struct fib_layout layout;

	rows_layout(&layout);
	layout.committed = layout.capacity = records;
	snapshot_preface(&bytes);
	snapshot_frame(&bytes, FIB_WIRE_LAYOUT, &layout, sizeof layout, "", 0);
}

/* Take a fiber in record `record`; return how many records were new. */
static uint64_t news_of(uint64_t record)
{
	struct {
		struct fib_wire_rows head;
		struct fib_row row;
	} rows = {.head = {sizeof rows.row, 1}, .row = {.id = 7, .record = record}};
	const struct fib_wire_header header = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_ROWS,
					       sizeof rows};
	const uint64_t before = frames.news;

	assert_int_equal(ins_frames_take(&frames, &header, &rows, &error), 0);
	return frames.news - before;
}

static void test_only_records_behind_all_others_are_new(void **state)
{
	static const struct ins_request all;

	(void)state;
	put_layout(100);
	assert_int_equal(take(&all), 0);
	assert_int_equal(news_of(1000), 1);
	assert_int_equal(news_of(1000), 0);
	assert_int_equal(news_of(2000), 1);
	assert_int_equal(news_of(1500), 0);
	assert_int_equal(news_of(2000), 0);
	/* They are new again in the next answer. */
	assert_int_equal(take(&all), 0);
	assert_int_equal(news_of(1000), 1);
}

static void test_more_fibers_than_records_make_no_sense(void **state)
{
	static const struct ins_request all;

	(void)state;
	put_layout(2);
	snapshot_fiber(&bytes, 7, 0);
	snapshot_fiber(&bytes, 8, 0);
	assert_int_equal(take(&all), 0);
	snapshot_fiber(&bytes, 9, 0);
	fibers = 0;
	assert_int_equal(take(&all), -EPROTO);
	assert_int_equal(fibers, 2);
	assert_non_null(strstr(error.text, "more fibers than it has records"));
}

/* The limit also holds if the mappings are not needed any more. */
static void test_mappings_have_an_end_in_each_answer(void **state)
{
	static const struct ins_request all;
	static char maps[FIB_WIRE_FRAME_MAX];
	const struct fib_wire_header header = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_MAPS,
					       sizeof maps};
	uint64_t i;
	int rc = 0;

	(void)state;
	put_three();
	assert_int_equal(take(&all), 0);
	assert_true(frames.mapped);
	ins_frames_begin(&frames, &all, each, NULL, &summary);
	for (i = 0; rc == 0 && i < 1000; i++)
		rc = ins_frames_take(&frames, &header, maps, &error);
	assert_int_equal(rc, -EPROTO);
	assert_int_equal(i, 33);
	assert_non_null(strstr(error.text, "an endless list of mappings"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
		TEST(test_only_the_fiber_that_was_asked_for_is_handed_on),
		TEST(test_a_call_that_is_refused_is_a_problem_that_is_named),
		TEST(test_stack_has_the_time_that_it_was_copied_at),
		TEST(test_stacks_that_were_not_asked_for_are_not_missed),
		TEST(test_a_fiber_that_did_not_come_is_no_such_fiber),
		TEST(test_modules_can_be_had_before_the_first_fiber),
		TEST(test_only_records_behind_all_others_are_new),
		TEST(test_more_fibers_than_records_make_no_sense),
		TEST(test_mappings_have_an_end_in_each_answer),
		TEST(test_frames_are_never_read_past_their_end),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
