/* SPDX-License-Identifier: MIT */
/*
 * test_unwind_dw.c - libdw walks where libunwind finds no table, with equal results
 *
 * The second crowd is linked statically without .eh_frame_hdr: libunwind finds one frame there and
 * a regular end. On the usual crowd both walks must be equal, frame by frame.
 */
#include <stdio.h>
#include <string.h>

#include <fiber/fiber.h>

#include "inspect/source/source.h"
#include "tests/harness/inspect/crowd.h"
#include "tests/harness/inspect/head.h"
#include "inspect/elf/debug.h"
#include "inspect/symbols/symbolize.h"
#include "inspect/unwind/unwind_dw.h"

struct target {
	struct harness_process *crowd;
	struct ins_source *source;
	struct ins_unwinder *unwinder;
	struct ins_symbols *symbols;
	struct ins_unwind_dw dw;
	unsigned walked;
};

static struct ins_walk first, second;

static bool has_table(const struct ins_source *source, uint64_t pc)
{
	const struct ins_module *m = ins_modules_find(source->modules, pc);
	unsigned i;

	assert_non_null(m);
	for (i = 0; i < m->image.segments; i++) {
		if (m->image.segment[i].p_type == PT_GNU_EH_FRAME)
			return true;
	}
	return false;
}

static void open_target(struct target *t, const char *path)
{
	struct ins_error error = {""};

	memset(t, 0, sizeof *t);
	t->crowd = crowd_begin(path, "22");
	assert_non_null(t->crowd);
	assert_int_equal(ins_source_open_live(t->crowd->pid, &error, &t->source), 0);
	assert_int_equal(ins_unwinder_new(t->source, &t->unwinder), 0);
	assert_int_equal(ins_symbols_new(t->source->modules, &t->symbols), 0);
	t->dw.source = t->source;
}

static void read_target(struct target *t, ins_fiber_fn *each)
{
	const struct ins_request request = {.stacks = true};
	struct ins_error error = {""};
	struct ins_summary summary;

	assert_int_equal(ins_source_read(t->source, &request, each, t, &summary, &error), 0);
	assert_int_equal(summary.shown, 22);
	assert_int_equal(t->walked, 20); /* one has exited and one has not started */
}

static void close_target(struct target *t)
{
	ins_symbols_free(t->symbols);
	ins_unwinder_free(t->unwinder);
	ins_source_close(t->source);
	harness_free(t->crowd);
}

static int both_ways(void *context, const struct ins_fiber *fiber)
{
	struct target *t = context;

	if (!fiber->stack)
		return 0;
	ins_unwind(t->unwinder, fiber, &first);
	assert_false(first.truncated);
	ins_unwind_dw(&t->dw, fiber, &second);
	assert_int_equal(second.count, first.count);
	assert_memory_equal(second.pc, first.pc, first.count * sizeof first.pc[0]);
	t->walked++;
	return 0;
}

static void test_both_walks_are_equal(void **state)
{
	struct target t;

	(void)state;
	open_target(&t, NULL);
	assert_true(has_table(t.source, t.source->layout.entry_low));
	read_target(&t, both_ways);
	close_target(&t);
}

static int without_table(void *context, const struct ins_fiber *fiber)
{
	struct target *t = context;
	const struct ins_frame *f;
	size_t count;

	if (!fiber->stack)
		return 0;
	assert_false(has_table(t->source, fiber->row.pc));
	ins_unwind(t->unwinder, fiber, &first);
	assert_false(first.truncated);
	assert_true(first.count >= 2);
	if (fiber->row.state == FIBER_SUSPENDED) {
		/* ..., x_main, member_main, fib_fiber_main, fib_arch_entry */
		assert_true(first.count >= 6);
		f = ins_symbols_at(t->symbols, first.pc[first.count - 3], true, &count);
		assert_string_equal(f[count - 1].function, "member_main");
	}
	t->walked++;
	return 0;
}

static void test_without_a_table_the_walk_is_whole_all_the_same(void **state)
{
	char path[HARNESS_PATH];
	struct target t;

	(void)state;
	snprintf(path, sizeof path, "%s/bare/bin/crowd", harness_build());
	open_target(&t, path);
	assert_null(t.source->modules->debug);
	read_target(&t, without_table);
	/* libdw was used. */
	assert_non_null(t.source->modules->debug);
	assert_int_equal(ins_problems_lines(&t.source->problems), 0);
	close_target(&t);
}

static int damaged(void *context, const struct ins_fiber *fiber)
{
	static unsigned char stack[1 << 16];
	struct ins_fiber copy = *fiber;
	struct target *t = context;
	size_t at;

	if (!fiber->stack)
		return 0;
	assert_true(fiber->stack_size <= sizeof stack);
	memcpy(stack, fiber->stack, fiber->stack_size);
	copy.stack = stack;
	for (at = 0; at + 8 <= fiber->stack_size; at += 8) {
		const uint64_t lies[] = {0, fiber->row.sp, fiber->row.pc};
		size_t k;

		for (k = 0; k < 3; k++) {
			uint64_t pc;

			memcpy(stack + at, &lies[k], 8);
			ins_unwind(t->unwinder, &copy, &first);
			memcpy(stack + at, fiber->stack + at, 8);
			if (first.truncated)
				continue;
			pc = first.pc[first.count - 1] - 1;
			assert_true(pc >= t->source->layout.entry_low &&
				    pc < t->source->layout.entry_high);
		}
	}
	t->walked++;
	return 0;
}

static void test_a_damaged_stack_is_not_called_whole_by_libdw_either(void **state)
{
	char path[HARNESS_PATH];
	struct target t;

	(void)state;
	snprintf(path, sizeof path, "%s/bare/bin/crowd", harness_build());
	open_target(&t, path);
	read_target(&t, damaged);
	close_target(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_walks_are_equal),
		cmocka_unit_test(test_without_a_table_the_walk_is_whole_all_the_same),
		cmocka_unit_test(test_a_damaged_stack_is_not_called_whole_by_libdw_either),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
