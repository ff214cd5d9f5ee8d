/* SPDX-License-Identifier: MIT */
/*
 * test_unwind.c - a walk that is called whole has arrived, for any bytes in the stack
 *
 * The fibers are crowd's, read live. Then each word of the copied stacks is damaged in turn, in
 * several ways. The walk must end, and be called truncated unless its last frame is the routine in
 * which every fiber starts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/fiber.h>

#include "inspect/source/source.h"
#include "tests/harness/inspect/crowd.h"
#include "tests/harness/inspect/head.h"
#include "inspect/symbols/symbolize.h"
#include "inspect/unwind/unwind.h"

#define COUNT	  22
#define STACK_MAX 8192

static struct harness_process *crowd;
static struct ins_source *source;
static struct ins_unwinder *unwinder;
static struct ins_symbols *symbols;
static struct ins_walk walk;
static struct {
	struct ins_fiber fiber;
	unsigned char stack[STACK_MAX];
} kept[COUNT];
static unsigned count;

static int keep(void *context, const struct ins_fiber *fiber)
{
	(void)context;
	assert_true(count < COUNT && fiber->stack_size <= STACK_MAX);
	kept[count].fiber = *fiber;
	if (fiber->stack) {
		memcpy(kept[count].stack, fiber->stack, fiber->stack_size);
		kept[count].fiber.stack = kept[count].stack;
	}
	count++;
	return 0;
}

static bool arrived(void)
{
	uint64_t pc;

	if (!walk.count)
		return false;
	pc = walk.pc[walk.count - 1] - (walk.count > 1);
	return pc >= source->layout.entry_low && pc < source->layout.entry_high;
}

/* The functions of the walk, innermost first, inlined ones too, separated by blanks. */
static const char *functions(void)
{
	static char text[4096];
	size_t k, n, used = 0;
	unsigned i;

	text[0] = 0;
	for (i = 0; i < walk.count; i++) {
		const struct ins_frame *f = ins_symbols_at(symbols, walk.pc[i], i > 0, &n);

		for (k = 0; k < n; k++)
			used += (size_t)snprintf(text + used, sizeof text - used, "%s ",
						 f[k].function ? f[k].function : "?");
	}
	return text;
}

static void test_a_walk_goes_from_the_switch_to_the_entry(void **state)
{
	unsigned i, whole = 0;

	(void)state;
	for (i = 0; i < count; i++) {
		const struct ins_fiber *f = &kept[i].fiber;

		ins_unwind(unwinder, f, &walk);
		assert_false(walk.truncated);
		if (f->row.state == FIBER_DEAD) {
			assert_int_equal(walk.count, 0);
			assert_non_null(strstr(walk.reason, "ended"));
			continue;
		}
		if (f->row.state == FIBER_CREATED) {
			assert_int_equal(walk.count, 1);
			assert_int_equal(walk.pc[0], f->row.entry);
			assert_string_equal(walk.reason, "");
			whole++;
			continue;
		}
		assert_true(arrived());
		assert_int_equal(walk.pc[0], f->row.pc);
		assert_string_equal(walk.reason, "");
		assert_non_null(strstr(functions(), "fib_arch_entry"));
		if (strncmp(f->row.name, "join-", 5) == 0)
			assert_non_null(strstr(functions(), "wait_for_join join_inner join_outer "
							    "join_main member_main "));
		whole++;
	}
	assert_int_equal(whole, COUNT - 1);
	assert_int_equal(ins_problems_lines(&source->problems), 0);
}

static void check_damaged(const struct ins_fiber *fiber, unsigned *ret_truncated)
{
	ins_unwind(unwinder, fiber, &walk);
	assert_true(walk.count <= INS_WALK_MAX);
	if (!walk.truncated) {
		assert_true(arrived());
		return;
	}
	++*ret_truncated;
	assert_true(walk.reason[0] != 0);
}

static void test_a_stack_damaged_at_any_word_is_never_called_whole_unless_it_arrives(void **state)
{
	unsigned i, k, truncated = 0;
	size_t at;

	(void)state;
	for (i = 0; i < count; i++) {
		const struct ins_fiber *f = &kept[i].fiber;

		for (at = 0; f->stack && at + 8 <= f->stack_size; at += 8) {
			const uint64_t lies[] = {0,
						 UINT64_MAX,
						 f->row.pc,
						 f->row.sp,
						 f->row.sp + at,
						 f->row.stack_low,
						 source->layout.entry_low + 1,
						 source->layout.records,
						 UINT64_C(0x00007fffffffffff)};
			uint64_t was;

			memcpy(&was, kept[i].stack + at, 8);
			for (k = 0; k < sizeof lies / sizeof lies[0]; k++) {
				memcpy(kept[i].stack + at, &lies[k], 8);
				check_damaged(f, &truncated);
			}
			memcpy(kept[i].stack + at, &was, 8);
		}
	}
	assert_true(truncated > 100);
	assert_true(ins_problems_lines(&source->problems) > 0);
	ins_problems_free(&source->problems);
}

static void test_a_stack_cut_at_any_word_is_truncated(void **state)
{
	unsigned i, truncated;
	size_t size;

	(void)state;
	for (i = 0; i < count; i++) {
		struct ins_fiber f = kept[i].fiber;

		if (!f.stack)
			continue;
		f.flags |= INS_FIBER_CUT;
		truncated = 0;
		for (size = 0; size < f.stack_size; size += 8) {
			f.stack_size = size;
			f.stack = size ? kept[i].stack : NULL;
			check_damaged(&f, &truncated);
			f.stack_size = kept[i].fiber.stack_size;
		}
		assert_true(truncated > 0);
	}
	ins_problems_free(&source->problems);
}

static void test_registers_that_lie_are_truncated(void **state)
{
	static const uint64_t lies[] = {0, 1, 8, UINT64_MAX, UINT64_MAX - 7, INT64_MAX};
	unsigned truncated = 0;
	size_t i, k, n = sizeof lies / sizeof lies[0];

	(void)state;
	for (i = 0; i < n; i++) {
		for (k = 0; k < 4; k++) {
			struct ins_fiber f = kept[0].fiber;

			f.row.pc = k & 1 ? lies[i] : f.row.pc;
			f.row.sp = k & 2 ? lies[i] : f.row.sp;
			f.row.fp = lies[i];
			check_damaged(&f, &truncated);
		}
	}
	assert_true(truncated >= 2 * n);
	ins_problems_free(&source->problems);
}

static void test_reasons_are_the_true_ones(void **state)
{
	static unsigned char zeros[STACK_MAX];
	struct ins_fiber f = kept[0].fiber;
	char expected[64];

	(void)state;
	f.flags = INS_FIBER_GONE;
	f.stack = NULL;
	f.stack_size = 0;
	ins_unwind(unwinder, &f, &walk);
	assert_true(walk.truncated);
	assert_non_null(strstr(walk.reason, "could not be read"));
	f = kept[0].fiber;
	f.stack = zeros;
	ins_unwind(unwinder, &f, &walk);
	assert_true(walk.truncated);
	assert_non_null(strstr(walk.reason, "not saved"));
	f = kept[0].fiber;
	f.row.pc = 0x10;
	ins_unwind(unwinder, &f, &walk);
	assert_true(walk.truncated);
	assert_non_null(strstr(walk.reason, "no module at 0x10"));
	assert_non_null(strstr(walk.reason, "made at run time"));
	/* The ELF header has no code and no unwind rules. */
	f = kept[0].fiber;
	f.row.pc = ins_modules_find(source->modules, f.row.pc)->start + 4;
	ins_unwind(unwinder, &f, &walk);
	assert_true(walk.truncated);
	snprintf(expected, sizeof expected, "no unwind information for 0x%llx in ",
		 (unsigned long long)f.row.pc);
	assert_ptr_equal(strstr(walk.reason, expected), walk.reason);
	assert_non_null(strstr(walk.reason, "/crowd+0x4"));
	f = kept[0].fiber;
	f.row.state = FIBER_RUNNING;
	f.row.seq |= 1;
	ins_unwind(unwinder, &f, &walk);
	assert_false(walk.truncated);
	assert_int_equal(walk.count, 0);
	assert_non_null(strstr(walk.reason, "it runs"));
	ins_problems_free(&source->problems);
}

static int start(void **state)
{
	const struct ins_request request = {.stacks = true};
	struct ins_error error = {""};
	struct ins_summary summary;

	(void)state;
	crowd = crowd_begin(NULL, "22");
	if (!crowd || ins_source_open_live(crowd->pid, &error, &source) < 0 ||
	    ins_unwinder_new(source, &unwinder) < 0 ||
	    ins_symbols_new(source->modules, &symbols) < 0 ||
	    ins_source_read(source, &request, keep, NULL, &summary, &error) < 0) {
		print_error("%s\n", error.text);
		return -1;
	}
	return count == COUNT ? 0 : -1;
}

static int stop(void **state)
{
	(void)state;
	ins_symbols_free(symbols);
	ins_unwinder_free(unwinder);
	ins_source_close(source);
	harness_free(crowd);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_walk_goes_from_the_switch_to_the_entry),
		cmocka_unit_test(
			test_a_stack_damaged_at_any_word_is_never_called_whole_unless_it_arrives),
		cmocka_unit_test(test_a_stack_cut_at_any_word_is_truncated),
		cmocka_unit_test(test_registers_that_lie_are_truncated),
		cmocka_unit_test(test_reasons_are_the_true_ones),
	};

	return HEAD_RUN(tests, start, stop);
}
