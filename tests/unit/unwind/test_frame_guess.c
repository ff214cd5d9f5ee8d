/* SPDX-License-Identifier: MIT */
/*
 * test_frame_guess.c - find an unknown frame pointer at the right place, and nowhere else
 *
 * The fixture hog has a fiber in poll(2) below a frame of variable size. Its program has recorded
 * that as an event.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/source/source.h"
#include "tests/harness/inspect/head.h"
#include "inspect/model/event.h"
#include "inspect/unwind/frame_guess.h"
#include "tests/harness/paths.h"
#include "tests/harness/process.h"
#include "inspect/unwind/event_walk.h"
#include "inspect/symbols/symbolize.h"

static struct harness_process *hog;
static struct ins_source *source;
static struct ins_unwinder *unwinder;
static struct ins_symbols *symbols;
static struct ins_event kept;
static unsigned char stack[65536];
static struct ins_walk walk;
static uint64_t other_call;	    /* return address of hold's call of hog_sleep */
static uint64_t stub_call;	    /* return address of hog_sleep's call through a stub */
static unsigned char beyond[65536]; /* the stack above stub_call */
static size_t beyond_size;

static uint64_t into(const char *function);

/* Keep the stack above stub_call, which occurs once in the stack. */
static void keep_beyond(const struct ins_fiber *fiber)
{
	const unsigned char *at =
		memmem(fiber->stack, fiber->stack_size, &stub_call, sizeof stub_call);

	if (!at)
		return;
	beyond_size = (size_t)(fiber->stack + fiber->stack_size - at) - sizeof stub_call;
	memcpy(beyond, at + sizeof stub_call, beyond_size);
}

static int keep(void *context, const struct ins_event *event)
{
	(void)context;
	assert_true(event->fiber.stack_size <= sizeof stack);
	if (strcmp(event->e.name, "sleep-0") == 0) {
		ins_event_walk(unwinder, event, &walk);
		other_call = into("hold");
		stub_call = into("hog_sleep");
		keep_beyond(&event->fiber);
	}
	if (strcmp(event->e.name, "poll-0") != 0)
		return 0;
	kept = *event;
	memcpy(stack, event->fiber.stack, event->fiber.stack_size);
	kept.fiber.stack = stack;
	return 0;
}

static int start(void **state)
{
	static const struct fib_wire_events request = {.ring = FIB_WIRE_RING_SLOW};
	char program[HARNESS_PATH], path[HARNESS_PATH], name[64];
	const char *const argv[] = {harness_program(program, "hog"),
				    "--sleep",
				    "1",
				    "--poll",
				    "1",
				    "--ms",
				    "500",
				    NULL};
	struct ins_summary summary;
	struct ins_error error;

	(void)state;
	hog = harness_start(argv, NULL);
	if (!harness_wait_line(hog, "ready ", 60))
		return -1;
	snprintf(name, sizeof name, "fiber/%d.sock", (int)hog->pid);
	if (ins_source_open_control(harness_file(path, name), hog->pid, INT64_C(5000000000), &error,
				    &source) < 0 ||
	    ins_unwinder_new(source, &unwinder) < 0 ||
	    ins_symbols_new(source->modules, &symbols) < 0)
		return -1;
	return ins_events_read(source, &request, keep, NULL, &summary, &error);
}

static int stop(void **state)
{
	(void)state;
	ins_symbols_free(symbols);
	ins_unwinder_free(unwinder);
	ins_source_close(source);
	harness_free(hog);
	return 0;
}

static bool has(const char *function)
{
	size_t count;
	unsigned i;

	for (i = 0; i < walk.count; i++) {
		const struct ins_frame *f = ins_symbols_at(symbols, walk.pc[i], i > 0, &count);

		if (f[count - 1].function && strcmp(f[count - 1].function, function) == 0)
			return true;
	}
	return false;
}

static void test_the_walk_needs_the_frame_pointer_and_finds_it(void **state)
{
	struct ins_fiber fiber = kept.fiber;

	(void)state;
	assert_int_equal(kept.e.doing, FIB_WIRE_DOING_CALLS);
	assert_false(ins_unwind_whole(unwinder, &fiber, &walk));
	assert_true(ins_frame_guess(unwinder, &fiber, &walk));
	assert_true(has("hog_poll") && has("hold") && has("fib_arch_entry"));
	assert_string_equal(walk.reason, "");
}

/* Offset of the frame pointer that hog_poll's frame has saved. */
static size_t record_at(void)
{
	struct ins_fiber fiber = kept.fiber;
	size_t at;

	for (at = 0; at + 16 <= fiber.stack_size; at += 8) {
		fiber.row.fp = fiber.row.sp + at;
		if (ins_unwind_whole(unwinder, &fiber, &walk) && has("hog_poll") && has("hold"))
			return at;
	}
	fail();
	return 0;
}

/* The walk's return address in that function, or 0. */
static uint64_t into(const char *function)
{
	size_t count;
	unsigned i;

	for (i = 1; i < walk.count; i++) {
		const struct ins_frame *f = ins_symbols_at(symbols, walk.pc[i], true, &count);

		if (f[count - 1].function && strcmp(f[count - 1].function, function) == 0)
			return walk.pc[i];
	}
	return 0;
}

/*
 * An earlier call of hold may have left its frame in the room of hog_poll's frame, and the frames
 * of all of hold's callers above it.
 */
static void test_an_old_frame_of_another_call_is_passed_over(void **state)
{
	static unsigned char doubled[3 * sizeof stack];
	struct ins_fiber fiber = kept.fiber;
	const size_t at = record_at(), outer = fiber.stack_size - at;
	uint64_t right;

	(void)state;
	assert_true(ins_frame_guess(unwinder, &fiber, &walk));
	right = into("hold");
	assert_true(right && other_call && right != other_call);
	memcpy(doubled, stack, at + outer);
	memcpy(doubled + at + 8, &other_call, sizeof other_call);
	memcpy(doubled + at + outer, stack + at, outer);
	fiber.stack = doubled;
	fiber.stack_size = at + 2 * outer;
	fiber.row.stack_size = fiber.row.stack_used = fiber.stack_size;
	assert_true(ins_frame_guess(unwinder, &fiber, &walk));
	assert_true(has("hog_poll"));
	assert_int_equal(into("hold"), right);
}

/* A call through a stub has the stub's address: the stub's name tells the called function. */
static void test_an_old_frame_of_a_call_through_a_stub_is_passed_over(void **state)
{
	static unsigned char mixed[3 * sizeof stack];
	struct ins_fiber fiber = kept.fiber;
	const size_t at = record_at();
	size_t size = at;

	(void)state;
	assert_true(stub_call && beyond_size);
	memcpy(mixed, stack, at);
	memset(mixed + size, 0, 8);
	memcpy(mixed + size + 8, &stub_call, sizeof stub_call);
	memcpy(mixed + size + 16, beyond, beyond_size);
	size += 16 + beyond_size;
	memcpy(mixed + size, stack + at, fiber.stack_size - at);
	size += fiber.stack_size - at;
	fiber.stack = mixed;
	fiber.stack_size = fiber.row.stack_size = fiber.row.stack_used = size;
	/* Without the stub's name the old frame would be accepted. */
	fiber.row.fp = fiber.row.sp + at;
	assert_true(ins_unwind_whole(unwinder, &fiber, &walk));
	assert_true(has("hog_sleep"));
	assert_true(ins_frame_guess(unwinder, &fiber, &walk));
	assert_false(has("hog_sleep"));
	assert_true(has("hog_poll") && has("hold"));
}

/* Code without a frame pointer uses the register for anything. */
static void test_what_the_caller_had_in_the_register_is_anything(void **state)
{
	static const uint64_t had[] = {0, 1, 4711, INT64_MAX, UINT64_MAX};
	struct ins_fiber fiber = kept.fiber;
	const size_t at = record_at();
	size_t i;
	uint64_t was;

	(void)state;
	memcpy(&was, stack + at, sizeof was);
	for (i = 0; i < sizeof had / sizeof had[0]; i++) {
		memcpy(stack + at, &had[i], sizeof had[i]);
		assert_true(ins_frame_guess(unwinder, &fiber, &walk));
		assert_true(has("hog_poll") && has("hold") && has("fib_arch_entry"));
	}
	memcpy(stack + at, &was, sizeof was);
}

/* hog_poll returns to the call through a pointer that really calls hold. */
static void test_a_call_that_does_not_say_whom_is_believed_with_a_frame_pointer(void **state)
{
	static unsigned char mixed[sizeof stack];
	struct ins_fiber fiber = kept.fiber;
	const size_t at = record_at();
	uint64_t saved = 4711;
	size_t from = at;
	unsigned i;

	(void)state;
	for (i = 0; i + 1 < walk.count && walk.pc[i] != into("hold"); i++)
		;
	while (memcmp(stack + from, &walk.pc[i + 1], 8) != 0)
		from += 8;
	memcpy(mixed, stack, at);
	memcpy(mixed + at, &saved, sizeof saved);
	memcpy(mixed + at + 8, stack + from, fiber.stack_size - from);
	fiber.stack = mixed;
	fiber.stack_size = fiber.row.stack_size = fiber.row.stack_used =
		at + 8 + fiber.stack_size - from;
	assert_false(ins_frame_guess(unwinder, &fiber, &walk));
	memset(mixed + at, 0, sizeof saved);
	assert_true(ins_frame_guess(unwinder, &fiber, &walk));
	assert_true(has("hog_poll") && !has("hold") && has("fib_arch_entry"));
}

static void test_a_stack_without_a_frame_gives_no_walk(void **state)
{
	struct ins_fiber fiber = kept.fiber;

	(void)state;
	memset(stack + record_at(), 0, 16);
	assert_false(ins_frame_guess(unwinder, &fiber, &walk));
	memset(stack, 0xff, sizeof stack);
	assert_false(ins_frame_guess(unwinder, &fiber, &walk));
	fiber.stack_size = 5;
	assert_false(ins_frame_guess(unwinder, &fiber, &walk));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_walk_needs_the_frame_pointer_and_finds_it),
		cmocka_unit_test(test_an_old_frame_of_another_call_is_passed_over),
		cmocka_unit_test(test_an_old_frame_of_a_call_through_a_stub_is_passed_over),
		cmocka_unit_test(test_what_the_caller_had_in_the_register_is_anything),
		cmocka_unit_test(
			test_a_call_that_does_not_say_whom_is_believed_with_a_frame_pointer),
		cmocka_unit_test(test_a_stack_without_a_frame_gives_no_walk),
	};

	/* A sanitizer puts its own frames in between. */
	if (*harness_sanitizer())
		return puts("1..0 # SKIP the fixture is sanitized") < 0;
	return HEAD_RUN(tests, start, stop);
}
