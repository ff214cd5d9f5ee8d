/* SPDX-License-Identifier: MIT */
/*
 * test_gc_roots.c - every place where libfiber keeps a value of the program is in a root range
 *
 * Each test hides a value that exists nowhere else, and looks for it from a thread that is no carrier.
 */
#include "tests/system/gc_find.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "tests/harness/fibers.h"

#define FIBERS 500u

static struct fiber_runtime *rt;
static struct fiber_event proceed;
static _Atomic bool ready;

static struct fiber *spawn(fiber_fn *fn, void *arg)
{
	struct fiber *fiber = NULL;

	assert_int_equal(fiber_runtime_spawn(rt, NULL, fn, arg, &fiber), 0);
	return fiber;
}

static void await_ready(struct fiber *fiber)
{
	carriers_await_suspended(fiber);
	while (!fiber_gc_stop(FIBER_FOREVER)) {
		bool runs = fiber_state(fiber) != FIBER_SUSPENDED;

		fiber_gc_go();
		if (!runs)
			return;
	}
}

/* -- fibers -- */

struct census {
	uint64_t ids[FIBERS];
	unsigned stacks[FIBERS], results[FIBERS], strange;
};

static int take_census(const struct fiber_gc_range *range, void *arg)
{
	struct census *census = arg;

	for (unsigned i = 0; i < FIBERS; i++) {
		if (census->ids[i] != range->fiber)
			continue;
		census->stacks[i] += range->kind == FIBER_GC_STACK;
		census->results[i] += range->kind == FIBER_GC_RESULT;
		census->strange += range->low >= range->high || range->flags != 0;
	}
	return 0;
}

static void test_gc_ranges_have_each_fiber_once(void **state)
{
	static struct census census;
	struct fiber *fibers[FIBERS];

	(void)state;
	for (unsigned i = 0; i < FIBERS; i++) {
		fibers[i] = spawn(harness_park, NULL);
		census.ids[i] = fiber_id(fibers[i]);
	}
	for (unsigned i = 0; i < FIBERS; i++)
		await_ready(fibers[i]);
	for (int stopped = 0; stopped < 2; stopped++) {
		if (stopped)
			assert_int_equal(fiber_gc_stop(FIBER_FOREVER), 0);
		assert_int_equal(fiber_gc_each_root_range(take_census, &census), 0);
		if (stopped)
			assert_int_equal(fiber_gc_go(), 0);
		for (unsigned i = 0; i < FIBERS; i++) {
			assert_int_equal(census.stacks[i], stopped + 1);
			assert_int_equal(census.results[i], stopped + 1);
		}
		assert_int_equal(census.strange, 0);
	}
	for (unsigned i = 0; i < FIBERS; i++) {
		fiber_unpark(fibers[i]);
		fiber_join(fibers[i], NULL, FIBER_FOREVER);
	}
}

static void test_gc_ranges_have_the_argument_of_a_fiber_that_has_not_started(void **state)
{
	struct fiber *fiber = NULL;

	(void)state;
	assert_int_equal(fiber_create(NULL, harness_nothing, (void *)gc_value(1), &fiber), 0);
	assert_int_equal(gc_kinds_with(gc_value(1)), KIND(ARGUMENT));
	assert_int_equal(gc_kinds_with_stopped(gc_value(1)), KIND(ARGUMENT));
	fiber_detach(fiber);
	assert_int_equal(gc_kinds_with_stopped(gc_value(1)), 0);
}

static void test_gc_ranges_have_the_result_until_the_fiber_is_joined(void **state)
{
	struct fiber *fiber = spawn(harness_nothing, (void *)gc_value(2));

	(void)state;
	while (fiber_state(fiber) != FIBER_DEAD)
		sched_yield();
	assert_true(gc_kinds_with_stopped(gc_value(2)) & KIND(RESULT));
	fiber_join(fiber, NULL, FIBER_FOREVER);
	assert_int_equal(gc_kinds_with_stopped(gc_value(2)) & KIND(RESULT), 0);
}

static fiber_key_t key;

static void ignore(void *arg)
{
	(void)arg;
}

static void *set_local(void *arg)
{
	fiber_setspecific(key, (void *)gc_value(3));
	fiber_park(FIBER_FOREVER);
	return arg;
}

static void *set_handler(void *arg)
{
	fiber_at_exit(ignore, (void *)gc_value(4));
	fiber_at_exit(ignore, NULL);
	fiber_park(FIBER_FOREVER);
	return arg;
}

static void assert_found_while_parked(fiber_fn *fn, uintptr_t value, unsigned kind)
{
	struct fiber *fiber = spawn(fn, NULL);

	await_ready(fiber);
	assert_true(gc_kinds_with(value) & kind);
	assert_true(gc_kinds_with_stopped(value) & kind);
	fiber_unpark(fiber);
	fiber_join(fiber, NULL, FIBER_FOREVER);
	assert_int_equal(gc_kinds_with_stopped(value) & kind, 0);
}

static void test_gc_ranges_have_fiber_local_values(void **state)
{
	(void)state;
	assert_int_equal(fiber_key_create(&key, NULL), 0);
	assert_found_while_parked(set_local, gc_value(3), KIND(LOCALS));
	fiber_key_delete(key);
}

static void test_gc_ranges_have_the_arguments_of_exit_handlers(void **state)
{
	(void)state;
	assert_found_while_parked(set_handler, gc_value(4), KIND(EXIT_HANDLER));
}

/* -- what is not a fiber's -- */

static void test_gc_ranges_have_the_elements_of_a_channel_and_none_that_was_received(void **state)
{
	struct fiber_chan *chan = NULL;
	uintptr_t value;

	(void)state;
	assert_int_equal(fiber_chan_new(sizeof value, 4, &chan), 0);
	/* Around the end of the ring. */
	for (unsigned i = 0; i < 6; i++) {
		value = gc_value(10 + i);
		assert_int_equal(fiber_chan_send(chan, &value, FIBER_FOREVER), 0);
		if (i < 2)
			assert_int_equal(fiber_chan_recv(chan, &value, FIBER_FOREVER), 0);
	}
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(gc_kinds_with_stopped(gc_value(10 + i)),
				 i < 2 ? 0 : KIND(CHANNEL));
	assert_int_equal(gc_kinds_with(gc_value(15)), KIND(CHANNEL));
	assert_int_equal(fiber_chan_recv(chan, &value, FIBER_FOREVER), 0);
	assert_int_equal(gc_kinds_with_stopped(gc_value(12)), 0);
	fiber_chan_unref(chan);
	assert_int_equal(gc_kinds_with_stopped(gc_value(15)), 0);
}

static void *wait_outside(void *arg)
{
	ready = true;
	fiber_event_wait(&proceed, FIBER_FOREVER);
	return (void *)((uintptr_t)arg + 1);
}

static void *offload(void *arg)
{
	return (void *)(intptr_t)fiber_block(wait_outside, arg, NULL, FIBER_FOREVER);
}

static void test_gc_ranges_have_the_argument_of_a_blocking_call(void **state)
{
	struct fiber *fiber;

	(void)state;
	ready = false;
	fiber_event_reset(&proceed);
	fiber = spawn(offload, (void *)gc_value(20));
	while (!ready)
		sched_yield();
	assert_true(gc_kinds_with(gc_value(20)) & KIND(OFFLOAD));
	assert_true(gc_kinds_with_stopped(gc_value(20)) & KIND(OFFLOAD));
	fiber_event_set(&proceed);
	fiber_join(fiber, NULL, FIBER_FOREVER);
	/* The call lasts until the thread that ran it has left it too. */
	while (gc_kinds_with_stopped(gc_value(20)) & KIND(OFFLOAD))
		sched_yield();
}

/* -- registers -- */

#ifdef __x86_64__
/* Park with the values in all registers that a callee keeps, and nowhere else. */
static void *park_with_registers(void *arg)
{
	int64_t deadline = FIBER_FOREVER;

	__asm__ volatile("pushq %%rbp\n\t"
			 "movabsq $0xa5a5000000010001, %%rax\n\t"
			 "movabsq $0x0000000000010001, %%rcx\n\t"
			 "movq %%rax, %%rbx\n\t"
			 "addq %%rcx, %%rax\n\t"
			 "movq %%rax, %%rbp\n\t"
			 "addq %%rcx, %%rax\n\t"
			 "movq %%rax, %%r12\n\t"
			 "addq %%rcx, %%rax\n\t"
			 "movq %%rax, %%r13\n\t"
			 "addq %%rcx, %%rax\n\t"
			 "movq %%rax, %%r14\n\t"
			 "addq %%rcx, %%rax\n\t"
			 "movq %%rax, %%r15\n\t"
			 "movq %%rsp, %%rax\n\t"
			 "subq $256, %%rsp\n\t"
			 "andq $-16, %%rsp\n\t"
			 "pushq %%rax\n\t"
			 "subq $8, %%rsp\n\t"
			 "call fiber_park\n\t"
			 "addq $8, %%rsp\n\t"
			 "popq %%rsp\n\t"
			 "popq %%rbp"
			 : "+D"(deadline)
			 :
			 : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "r12",
			   "r13", "r14", "r15", "memory", "cc");
	return arg;
}

static void test_gc_ranges_have_what_a_suspended_fiber_keeps_in_registers(void **state)
{
	struct fiber *fiber = spawn(park_with_registers, NULL);

	(void)state;
	await_ready(fiber);
	for (unsigned i = 1; i <= 6; i++) {
		assert_true(gc_kinds_with(gc_value(i)) & KIND(STACK));
		assert_true(gc_kinds_with_stopped(gc_value(i)) & KIND(STACK));
	}
	fiber_unpark(fiber);
	fiber_join(fiber, NULL, FIBER_FOREVER);
	for (unsigned i = 1; i <= 6; i++)
		assert_int_equal(gc_kinds_with(gc_value(i)) & KIND(STACK), 0);
}
#endif

/* -- copies -- */

static int first_stack(const struct fiber_gc_range *range, void *arg)
{
	struct fiber_gc_range *wanted = arg;

	if (range->kind != FIBER_GC_STACK || range->fiber != wanted->fiber)
		return 0;
	*wanted = *range;
	return 1;
}

static void *park_twice(void *arg)
{
	fiber_park(FIBER_FOREVER);
	ready = true;
	fiber_park(FIBER_FOREVER);
	return arg;
}

static void test_gc_copy_says_when_the_fiber_has_run_since(void **state)
{
	struct fiber *fiber = spawn(park_twice, NULL);
	struct fiber_gc_range range = {.fiber = fiber_id(fiber)};
	static char copy[1 << 20];

	(void)state;
	ready = false;
	await_ready(fiber);
	assert_int_equal(fiber_gc_each_root_range(first_stack, &range), 1);
	assert_int_equal(fiber_gc_copy_range(&range, copy), 0);
	assert_memory_equal(copy, range.low,
			    (size_t)((const char *)range.high - (const char *)range.low));
	fiber_unpark(fiber);
	while (!ready)
		sched_yield();
	assert_int_equal(fiber_gc_copy_range(&range, copy), -EAGAIN);
	await_ready(fiber);
	fiber_unpark(fiber);
	fiber_join(fiber, NULL, FIBER_FOREVER);
	assert_int_equal(fiber_gc_copy_range(&range, copy), -EAGAIN);
}

static void test_gc_copy_of_unmapped_memory_is_an_error(void **state)
{
	const struct fiber_gc_range range = {.low = (void *)4096, .high = (void *)4104};
	char copy[8];

	(void)state;
	assert_int_equal(fiber_gc_copy_range(&range, copy), -EFAULT);
}

static int begin(void **state)
{
	(void)state;
	rt = carriers_start();
	return 0;
}

static int end(void **state)
{
	(void)state;
	carriers_finish(rt);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gc_ranges_have_each_fiber_once),
		cmocka_unit_test(test_gc_ranges_have_the_argument_of_a_fiber_that_has_not_started),
		cmocka_unit_test(test_gc_ranges_have_the_result_until_the_fiber_is_joined),
		cmocka_unit_test(test_gc_ranges_have_fiber_local_values),
		cmocka_unit_test(test_gc_ranges_have_the_arguments_of_exit_handlers),
		cmocka_unit_test(
			test_gc_ranges_have_the_elements_of_a_channel_and_none_that_was_received),
		cmocka_unit_test(test_gc_ranges_have_the_argument_of_a_blocking_call),
#ifdef __x86_64__
		cmocka_unit_test(test_gc_ranges_have_what_a_suspended_fiber_keeps_in_registers),
#endif
		cmocka_unit_test(test_gc_copy_says_when_the_fiber_has_run_since),
		cmocka_unit_test(test_gc_copy_of_unmapped_memory_is_an_error),
	};

	harness_watchdog(100);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, begin, end);
}
