/* SPDX-License-Identifier: MIT */
/*
 * test_walk_cache.c - a walk by cached rules equals the unwinder's walk, or fails
 *
 * The fibers are crowd's, read live: the usual one, whose frames are found from the stack pointer,
 * and one without optimisation, whose frames are found from frame pointers.
 *
 * The cache has learned from one of each two fibers of a kind. The others are walked both ways, and
 * then all fibers with each word of their stacks damaged in turn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/fiber.h>

#include "inspect/source/source.h"
#include "tests/harness/inspect/crowd.h"
#include "tests/harness/inspect/head.h"
#include "inspect/unwind/unwind.h"
#include "inspect/unwind/walk_cache.h"

#define COUNT	  42 /* two of each kind */
#define STACK_MAX 8192

struct kept {
	struct ins_fiber fiber;
	unsigned char stack[STACK_MAX];
};

static struct target {
	struct harness_process *crowd;
	struct ins_source *source;
	struct ins_unwinder *unwinder; /* without a cache */
	struct kept kept[COUNT];
	unsigned count;
} usual, framed;

/* The fibers of the target under test. */
static struct ins_source *source;
static struct ins_unwinder *unwinder;
static struct kept *kept;
static unsigned count;

static struct ins_walk_cache *cache;
static struct ins_walk by_rules, by_unwinder;

static int keep(void *context, const struct ins_fiber *fiber)
{
	struct target *t = context;
	struct kept *k = &t->kept[t->count++];

	assert_true(t->count <= COUNT && fiber->stack_size <= STACK_MAX);
	k->fiber = *fiber;
	if (fiber->stack) {
		memcpy(k->stack, fiber->stack, fiber->stack_size);
		k->fiber.stack = k->stack;
	}
	return 0;
}

static bool arrived(const struct ins_walk *walk)
{
	uint64_t pc = walk->pc[walk->count - 1] - (walk->count > 1);

	return pc >= source->layout.entry_low && pc < source->layout.entry_high;
}

static void expect_equal(void)
{
	assert_false(by_unwinder.truncated);
	assert_int_equal(by_rules.count, by_unwinder.count);
	assert_memory_equal(by_rules.pc, by_unwinder.pc, by_rules.count * sizeof by_rules.pc[0]);
	assert_true(arrived(&by_rules));
}

/* Learn every fiber with a stack whose index has this parity. */
static void learn(unsigned parity)
{
	unsigned i;

	for (i = 0; i < count; i++) {
		if (!kept[i].fiber.stack || i % 2 != parity)
			continue;
		ins_unwind(unwinder, &kept[i].fiber, &by_unwinder);
		ins_walk_cache_learn(cache, &kept[i].fiber, &by_unwinder);
	}
}

static void test_a_cache_that_learned_nothing_walks_nothing(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < count; i++)
		assert_false(ins_walk_cache_walk(cache, &kept[i].fiber, &by_rules));
}

static void test_who_stands_where_another_stood_is_walked_by_rules(void **state)
{
	unsigned i, walked = 0;

	(void)state;
	/* Fibers of a kind are consecutive: 0 and 1, 2 and 3, ... */
	learn(0);
	for (i = 1; i < count; i += 2) {
		if (!kept[i].fiber.stack)
			continue;
		assert_true(ins_walk_cache_walk(cache, &kept[i].fiber, &by_rules));
		ins_unwind(unwinder, &kept[i].fiber, &by_unwinder);
		expect_equal();
		walked++;
	}
	/* All fibers were walked but the two without a stack: created and dead. */
	assert_int_equal(walked, COUNT / 2 - 2);
}

static unsigned damage(unsigned i, size_t at, unsigned *ret_refused)
{
	const struct ins_fiber *f = &kept[i].fiber;
	const uint64_t lies[] = {0,
				 UINT64_MAX,
				 f->row.pc,
				 f->row.sp,
				 f->row.sp + at,
				 f->row.sp + at + 16,
				 f->row.stack_low,
				 source->layout.entry_low,
				 source->layout.entry_low + 1,
				 source->layout.records};
	unsigned whole = 0;
	uint64_t was;
	size_t k;

	memcpy(&was, kept[i].stack + at, 8);
	for (k = 0; k < sizeof lies / sizeof lies[0]; k++) {
		memcpy(kept[i].stack + at, &lies[k], 8);
		if (!ins_walk_cache_walk(cache, f, &by_rules)) {
			++*ret_refused;
			continue;
		}
		ins_unwind(unwinder, f, &by_unwinder);
		expect_equal();
		whole++;
	}
	memcpy(kept[i].stack + at, &was, 8);
	return whole;
}

static void test_a_stack_damaged_at_any_word_is_walked_as_the_unwinders_do_or_not(void **state)
{
	unsigned i, whole = 0, refused = 0;
	size_t at;

	(void)state;
	learn(0);
	for (i = 0; i < count; i++)
		for (at = 0; kept[i].fiber.stack && at + 8 <= kept[i].fiber.stack_size; at += 8)
			whole += damage(i, at, &refused);
	/* Most words of a stack are no pointers. Damage to a pointer is detected. */
	assert_true(whole > 1000);
	assert_true(refused > 1000);
}

static void test_a_stack_cut_at_any_word_is_walked_as_the_unwinders_do_or_not(void **state)
{
	unsigned i, refused;
	size_t size;

	(void)state;
	learn(0);
	for (i = 0; i < count; i++) {
		struct ins_fiber f = kept[i].fiber;

		if (!f.stack)
			continue;
		refused = 0;
		for (size = 0; size <= kept[i].fiber.stack_size; size += 8) {
			f.stack_size = size;
			if (!ins_walk_cache_walk(cache, &f, &by_rules)) {
				refused++;
				continue;
			}
			ins_unwind(unwinder, &f, &by_unwinder);
			expect_equal();
		}
		assert_true(refused > 10 && refused * 8 < kept[i].fiber.stack_size);
	}
}

static void test_registers_that_lie_are_not_walked_by_rules(void **state)
{
	static const uint64_t lies[] = {0, 1, 8, UINT64_MAX, UINT64_MAX - 7, INT64_MAX};
	size_t i;

	(void)state;
	learn(0);
	for (i = 0; i < sizeof lies / sizeof lies[0]; i++) {
		struct ins_fiber f = kept[0].fiber;

		f.row.pc = lies[i];
		assert_false(ins_walk_cache_walk(cache, &f, &by_rules));
		f = kept[0].fiber;
		f.row.fp = lies[i]; /* its value was saved on the stack, so fp is not used */
		assert_true(ins_walk_cache_walk(cache, &f, &by_rules));
	}
}

static void test_rules_that_lead_elsewhere_than_the_walk_are_none(void **state)
{
	unsigned i = 0;

	(void)state;
	while (!kept[i].fiber.stack)
		i++;
	ins_unwind(unwinder, &kept[i].fiber, &by_unwinder);
	/* Pretend that the unwinder has found a frame between two frames. */
	memmove(&by_unwinder.pc[3], &by_unwinder.pc[2],
		(by_unwinder.count - 2) * sizeof by_unwinder.pc[0]);
	by_unwinder.count++;
	ins_walk_cache_learn(cache, &kept[i].fiber, &by_unwinder);
	assert_false(ins_walk_cache_walk(cache, &kept[i].fiber, &by_rules));
}

static int begin(void **state)
{
	struct target *t = *state;

	source = t->source;
	unwinder = t->unwinder;
	kept = t->kept;
	count = t->count;
	return ins_walk_cache_new(source, &cache);
}

static int end(void **state)
{
	(void)state;
	ins_walk_cache_free(cache);
	ins_problems_free(&source->problems);
	return 0;
}

static int start_target(struct target *t, const char *path)
{
	const struct ins_request request = {.stacks = true};
	struct ins_error error = {""};
	struct ins_summary summary;

	t->crowd = crowd_begin(path, "42");
	if (!t->crowd || ins_source_open_live(t->crowd->pid, &error, &t->source) < 0 ||
	    ins_unwinder_new(t->source, &t->unwinder) < 0 ||
	    ins_source_read(t->source, &request, keep, t, &summary, &error) < 0) {
		print_error("%s\n", error.text);
		return -1;
	}
	ins_unwinder_drop_cache(t->unwinder);
	return t->count == COUNT ? 0 : -1;
}

static int start(void **state)
{
	char path[HARNESS_PATH];

	(void)state;
	/* A build with a sanitizer has only one crowd. */
	snprintf(path, sizeof path, "%s/O0/bin/crowd", harness_build());
	return start_target(&usual, NULL) < 0 ||
	       start_target(&framed, *harness_sanitizer() ? NULL : path) < 0;
}

static void stop_target(struct target *t)
{
	ins_unwinder_free(t->unwinder);
	ins_source_close(t->source);
	harness_free(t->crowd);
}

static int stop(void **state)
{
	(void)state;
	stop_target(&usual);
	stop_target(&framed);
	return 0;
}

#define CACHE_TEST(name, target)                                  \
	{                                                         \
#name " of " #target, name, begin, end, &(target) \
	}
#define BOTH(name) CACHE_TEST(name, usual), CACHE_TEST(name, framed)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(test_a_cache_that_learned_nothing_walks_nothing),
		BOTH(test_who_stands_where_another_stood_is_walked_by_rules),
		BOTH(test_a_stack_damaged_at_any_word_is_walked_as_the_unwinders_do_or_not),
		BOTH(test_a_stack_cut_at_any_word_is_walked_as_the_unwinders_do_or_not),
		BOTH(test_registers_that_lie_are_not_walked_by_rules),
		BOTH(test_rules_that_lead_elsewhere_than_the_walk_are_none),
	};

	return HEAD_RUN(tests, start, stop);
}
