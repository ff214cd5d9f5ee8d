/* SPDX-License-Identifier: MIT */
/* test_spawn.c - a spawn makes a complete fiber, or leaves nothing behind */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "life/discard.h"
#include "tests/harness/paths.h"
#include "tests/harness/watchdog.h"
#include "tests/unit/sched/carriers.h"

static void *nothing(void *arg)
{
	return arg;
}

static int make(const struct fiber_attr *attr, struct fiber **ret)
{
	return fib_make(attr, NULL, nothing, NULL, (void *)0x1234, ret);
}

static void test_spawn_made_is_created_and_named(void **state)
{
	struct fiber_attr attr = {.size = sizeof attr, .name = "made", .flags = FIBER_BOUND};
	struct fiber *f, *g;

	(void)state;
	assert_int_equal(make(&attr, &f), 0);
	assert_int_equal(make(NULL, &g), 0);
	assert_true(fiber_id(f) > 0);
	assert_true(fiber_id(g) == fiber_id(f) + 1);
	assert_string_equal(fiber_name(f), "made");
	assert_string_equal(fiber_name(g), "");
	assert_int_equal(fiber_state(f), FIBER_CREATED);
	assert_int_equal(f->flags, FIBER_BOUND);
	assert_int_equal(f->spawn_pc, 0x1234);
	assert_int_equal(f->parent, 0);
	assert_null(f->sched);
	assert_true(f->stack.size >= FIB_STACK_DEFAULT);
	assert_int_equal(fib_load(&f->seq), 0);
	fib_unmake(f);
	fib_unmake(g);
}

static void test_spawn_reused_record_remembers_nothing(void **state)
{
	struct fiber *f, *again;
	uint64_t id;

	(void)state;
	assert_int_equal(make(NULL, &f), 0);
	id = fiber_id(f);
	fib_store(&f->token, 1);
	f->pins = 3;
	f->cpu = 99;
	assert_int_equal(fiber_set_name(f, "before"), 0);
	strcpy(f->failure, "failed");
	f->result.error = -5;
	fib_unmake(f);
	assert_int_equal(make(NULL, &again), 0);
	assert_ptr_equal(again, f); /* the free list is last in, first out */
	assert_true(fiber_id(again) > id);
	assert_int_equal(fib_load(&again->token), 0);
	assert_int_equal(again->pins, 0);
	assert_int_equal(again->cpu, 0);
	assert_string_equal(again->name, "");
	assert_string_equal(again->failure, "");
	assert_int_equal(again->result.error, 0);
	fib_unmake(again);
}

/* The call fails with rc, and leaves no trace. */
static void fails(const struct fiber_attr *attr, fiber_fn *fn, int rc)
{
	struct fiber *before, *after, *f = (void *)0x5555;
	unsigned fibers = carriers_fibers();
	uint64_t id;

	assert_int_equal(make(NULL, &before), 0);
	id = fiber_id(before);
	fib_unmake(before);
	assert_int_equal(fib_make(attr, NULL, fn, NULL, NULL, &f), rc);
	assert_ptr_equal(f, (void *)0x5555);
	assert_int_equal(carriers_fibers(), fibers);
	/* The record was freed, so the next fiber gets it, and no id was used up. */
	assert_int_equal(make(NULL, &after), 0);
	assert_ptr_equal(after, before);
	assert_true(fiber_id(after) == id + 1);
	fib_unmake(after);
}

static unsigned class_of(size_t size, size_t guard)
{
	unsigned class = ~0u;

	assert_int_equal(fib_stack_class(size, guard, &class, &size), 0);
	return class;
}

static void test_spawn_with_a_bad_attribute_leaves_nothing_behind(void **state)
{
	static char large[FIB_STACK_MIN];
	char small[64];
	struct {
		struct fiber_attr known;
		uint64_t unknown;
	} newer = {.known.size = sizeof newer, .unknown = 1};
	const struct fiber_local local = {0};
	const struct fiber_attr bad[] = {
		{.size = 0},
		{.size = offsetof(struct fiber_attr, guard_size) - 1},
		{.size = 5000},
		{.size = sizeof(struct fiber_attr), .flags = 1u << 20},
		{.size = sizeof(struct fiber_attr), .stack_size = FIB_STACK_MAX + 1},
		{.size = sizeof(struct fiber_attr), .stack = small, .stack_size = sizeof small},
		{.size = sizeof(struct fiber_attr), .stack = small},
		{.size = sizeof(struct fiber_attr), .locals = &local, .nlocals = 1},
		{.size = sizeof(struct fiber_attr), .nlocals = 1},
		{.size = sizeof(struct fiber_attr), .guard_size = FIB_GUARD_MAX + 1},
		{.size = sizeof(struct fiber_attr), .guard_size = SIZE_MAX},
		{.size = sizeof(struct fiber_attr),
		 .stack = large,
		 .stack_size = sizeof large,
		 .guard_size = 4096},
	};
	size_t i;

	(void)state;
	for (i = 0; i < fib_countof(bad); i++)
		fails(&bad[i], nothing, -EINVAL);
	fails(NULL, NULL, -EINVAL);
	fails(&newer.known, nothing, -EINVAL);
}

/* Bytes beyond attr.size are not read. */
static void test_spawn_takes_an_older_attr_without_a_guard(void **state)
{
	struct fiber_attr old;
	struct fiber *f;

	(void)state;
	memset(&old, 0xff, sizeof old);
	memset(&old, 0, offsetof(struct fiber_attr, guard_size));
	old.size = offsetof(struct fiber_attr, guard_size);
	old.name = "older";
	assert_int_equal(make(&old, &f), 0);
	assert_string_equal(fiber_name(f), "older");
	assert_int_equal(f->stack.class, class_of(FIB_STACK_DEFAULT, 0));
	fib_unmake(f);
}

static void test_spawn_gives_the_guard_of_the_attr_else_of_the_runtime(void **state)
{
	const struct fiber_runtime_options o = {.carriers = 1,
						.carriers_max = 1,
						.stack_size = FIB_STACK_MIN,
						.guard_size = 256 << 10,
						.pinned_policy = FIBER_PINNED_SILENT};
	struct fiber_attr attr = {.size = sizeof attr};
	struct fib_sched s;
	struct fiber *f;

	(void)state;
	assert_int_equal(fib_sched_start(&s, &o, carriers_ignore), 0);
	assert_int_equal(s.stack_class, class_of(FIB_STACK_MIN, 256 << 10));
	assert_int_equal(fib_make(&attr, &s, nothing, NULL, NULL, &f), 0);
	assert_int_equal(f->stack.class, s.stack_class);
	fib_unmake(f);
	attr.guard_size = 1;
	assert_int_equal(fib_make(&attr, &s, nothing, NULL, NULL, &f), 0);
	assert_int_equal(f->stack.class, class_of(FIB_STACK_MIN, 4096));
	fib_unmake(f);
	attr.guard_size = 1 << 20;
	attr.stack_size = FIB_STACK_DEFAULT;
	assert_int_equal(fib_make(&attr, &s, nothing, NULL, NULL, &f), 0);
	assert_int_equal(f->stack.class, class_of(FIB_STACK_DEFAULT, 1 << 20));
	fib_unmake(f);
	carriers_stop(&s);
}

static void test_spawn_takes_a_newer_attr_that_asks_for_nothing_new(void **state)
{
	struct {
		struct fiber_attr known;
		uint64_t unknown;
	} newer = {.known.size = sizeof newer, .known.name = "newer"};
	struct fiber *f;

	(void)state;
	assert_int_equal(make(&newer.known, &f), 0);
	assert_string_equal(fiber_name(f), "newer");
	fib_unmake(f);
}

static void test_spawn_without_memory_for_a_stack_leaves_nothing_behind(void **state)
{
	struct fiber_attr attr = {.size = sizeof attr, .stack_size = 512u << 20};
	struct rlimit before, none;

	(void)state;
	if (!strcmp(harness_sanitizer(), "thread"))
		skip(); /* TSan itself dies without memory */
	assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
	none = before;
	none.rlim_cur = 1u << 20;
	assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
	fails(&attr, nothing, -ENOMEM);
	setrlimit(RLIMIT_AS, &before);
}

static void *where(void *arg)
{
	*(void **)arg = __builtin_frame_address(0);
	return NULL;
}

static void test_spawn_runs_on_the_caller_s_stack(void **state)
{
	struct fiber_attr attr = {.size = sizeof attr, .stack_size = 64u << 10};
	char *stack = aligned_alloc(64, attr.stack_size), *at = NULL;
	struct fib_sched s;
	struct fiber *f;

	(void)state;
	assert_non_null(stack);
	attr.stack = stack;
	carriers_start(&s, 1);
	assert_int_equal(fib_make(&attr, &s, where, &at, NULL, &f), 0);
	assert_int_equal(fib_submit(&s, f), 0);
	assert_int_equal(fiber_join(f, NULL, FIBER_FOREVER), 0);
	assert_true(at > stack && at < stack + attr.stack_size);
	carriers_stop(&s);
	free(stack);
}

static void test_submit_twice_is_refused_and_counts_once(void **state)
{
	struct fib_sched s;
	struct fiber *f;

	(void)state;
	carriers_start(&s, 1);
	assert_int_equal(make(NULL, &f), 0);
	assert_int_equal(fib_submit(&s, f), 0);
	assert_int_equal(fib_submit(&s, f), -EINVAL);
	assert_int_equal(fiber_join(f, NULL, FIBER_FOREVER), 0);
	assert_int_equal(fib_live_count(&s), 0);
	carriers_stop(&s);
}

static void test_submit_after_the_end_is_refused(void **state)
{
	struct fib_sched s;
	struct fiber *f;

	(void)state;
	carriers_start(&s, 1);
	assert_int_equal(make(NULL, &f), 0);
	assert_true(fib_close(&s));
	assert_int_equal(fib_submit(&s, f), -ESHUTDOWN);
	assert_int_equal(fiber_state(f), FIBER_CREATED);
	fib_unmake(f);
	fib_sched_stop(&s);
}

static void *parks(void *arg)
{
	fiber_park(FIBER_FOREVER);
	return arg;
}

static void test_close_is_refused_while_a_fiber_lives(void **state)
{
	struct fib_sched s;
	struct fiber *f;

	(void)state;
	carriers_start(&s, 1);
	f = carriers_spawn(&s, "parked", parks, NULL);
	assert_false(fib_close(&s));
	fiber_unpark(f);
	assert_int_equal(fiber_join(f, NULL, FIBER_FOREVER), 0);
	assert_true(fib_close(&s));
	assert_false(fib_close(&s)); /* only once */
	fib_sched_stop(&s);
}

static void *spawns(void *arg)
{
	struct fiber_attr attr = {.size = sizeof attr, .name = "child"};
	struct fiber_attr bad = {.size = 1};
	struct fiber *f = (void *)0x5555, *me = fiber_self();
	struct fiber_result result;
	unsigned fibers = carriers_fibers();

	must(fiber_spawn_attr(&bad, nothing, NULL, &f) == -EINVAL);
	must(fiber_spawn(NULL, NULL, &f) == -EINVAL);
	must(f == (void *)0x5555);
	must(carriers_fibers() == fibers);
	must(fib_live_count(me->sched) == 1);
	must(fiber_spawn_attr(&attr, nothing, arg, &f) == 0);
	must(f->parent == fiber_id(me));
	must(f->sched == me->sched);
	must(f->spawn_pc != 0);
	must(fiber_state(f) == FIBER_RUNNABLE);
	must(fib_live_count(me->sched) == 2);
	must(fiber_join(f, &result, FIBER_FOREVER) == 0);
	must(result.value == arg && result.error == 0);
	must(fib_live_count(me->sched) == 1);
	/* A detached fiber disappears when it has run. */
	must(fiber_spawn(nothing, NULL, NULL) == 0);
	must(carriers_fibers() == fibers + 1);
	fiber_yield();
	must(carriers_fibers() == fibers);
	return NULL;
}

static void test_spawn_in_a_fiber_knows_its_parent(void **state)
{
	(void)state;
	prove(1, spawns, (void *)77);
}

static void test_spawn_outside_a_fiber_is_refused(void **state)
{
	unsigned fibers = carriers_fibers();
	struct fiber *f;

	(void)state;
	assert_int_equal(fiber_spawn(nothing, NULL, &f), -EPERM);
	assert_int_equal(fiber_create(NULL, nothing, NULL, NULL), 0); /* the fiber is discarded */
	assert_int_equal(carriers_fibers(), fibers);
}

static void *tree(void *arg)
{
	uintptr_t depth = (uintptr_t)arg;
	struct fiber_result left, right;
	struct fiber *f, *g;

	if (!depth)
		return (void *)1;
	if (fiber_spawn(tree, (void *)(depth - 1), &f) < 0 ||
	    fiber_spawn(tree, (void *)(depth - 1), &g) < 0)
		return NULL;
	fiber_join(f, &left, FIBER_FOREVER);
	fiber_join(g, &right, FIBER_FOREVER);
	return (void *)((uintptr_t)left.value + (uintptr_t)right.value);
}

static void test_spawn_of_many_on_several_carriers_runs_each_once(void **state)
{
	unsigned fibers = carriers_fibers(), carriers;

	(void)state;
	for (carriers = 1; carriers <= 4; carriers *= 2)
		assert_int_equal((uintptr_t)carriers_run(carriers, tree, (void *)10), 1024);
	assert_int_equal(carriers_fibers(), fibers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spawn_made_is_created_and_named),
		cmocka_unit_test(test_spawn_reused_record_remembers_nothing),
		cmocka_unit_test(test_spawn_with_a_bad_attribute_leaves_nothing_behind),
		cmocka_unit_test(test_spawn_takes_an_older_attr_without_a_guard),
		cmocka_unit_test(test_spawn_gives_the_guard_of_the_attr_else_of_the_runtime),
		cmocka_unit_test(test_spawn_takes_a_newer_attr_that_asks_for_nothing_new),
		cmocka_unit_test(test_spawn_without_memory_for_a_stack_leaves_nothing_behind),
		cmocka_unit_test(test_spawn_runs_on_the_caller_s_stack),
		cmocka_unit_test(test_submit_twice_is_refused_and_counts_once),
		cmocka_unit_test(test_submit_after_the_end_is_refused),
		cmocka_unit_test(test_close_is_refused_while_a_fiber_lives),
		cmocka_unit_test(test_spawn_in_a_fiber_knows_its_parent),
		cmocka_unit_test(test_spawn_outside_a_fiber_is_refused),
		cmocka_unit_test(test_spawn_of_many_on_several_carriers_runs_each_once),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
