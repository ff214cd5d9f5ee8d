/* SPDX-License-Identifier: MIT */
/*
 * test_registry.c - the registry is the allocator: records are reused, ids are not
 *
 * The effect of limits is tested in children. The children of the first tests inherit a registry
 * that was not started yet, so these tests come first.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>

#include "core/record_cache.h"
#include "core/registry.h"
#include "os/os.h"
#include "tests/harness/child.h"
#include "tests/harness/watchdog.h"

#define CHUNK 4096u

static struct harness_child child;

static void assert_child_was_content(int (*fn)(void *))
{
	harness_child(fn, NULL, 60, &child);
	if (child.code != 0)
		print_error("# the child left by line %d, signal %d: %s\n", child.code * 2,
			    child.signal, child.text);
	assert_int_equal(child.signal, 0);
	assert_int_equal(child.code, 0);
}

/* In a child: if the condition fails, exit with half the line number, which fits an exit code. */
#define must(condition)                      \
	do {                                 \
		if (!(condition))            \
			return __LINE__ / 2; \
	} while (0)

static int take(unsigned n, struct fiber **ret)
{
	unsigned count;

	return fib_registry_take(n, ret, &count);
}

/* Every record that was ever taken and not freed is in use: take all up to the last. */
static void take_all_committed(void)
{
	struct fiber *fiber;
	unsigned count;

	fiber_registry.capacity = fib_registry_committed();
	while (fib_registry_take(1000, &fiber, &count) == 0)
		;
}

/* The function of a fiber that never runs. */
static void *rest(void *arg)
{
	return arg;
}

/* -- limits; before the registry starts -- */

static int start_in_a_gigabyte(void *arg)
{
	struct fiber *fiber;

	(void)arg;
	harness_limit_space((size_t)1 << 30);
	must(fib_registry_init() == 0);
	must(fiber_registry.capacity * sizeof(struct fiber) <= (size_t)1 << 30);
	must(fiber_registry.capacity >= 65536);
	must(fib_layout_check(&fiber_registry) == NULL);
	must(take(1, &fiber) == 0);
	return 0;
}

static void test_registry_makes_do_with_the_address_space_there_is(void **state)
{
	(void)state;
	assert_child_was_content(start_in_a_gigabyte);
}

/* Too small for even a thirty-second part of a small registry. */
static int start_in_eight_megabytes(void *arg)
{
	uint64_t taken = 0;
	struct fiber *fiber;
	int rc;

	(void)arg;
	harness_limit_space((size_t)8 << 20);
	must(fib_registry_init() == 0);
	must(fiber_registry.capacity >= CHUNK && fiber_registry.capacity <= 2 * CHUNK);
	while ((rc = take(1, &fiber)) == 0)
		taken++;
	must(rc == -EAGAIN);
	must(taken == fiber_registry.capacity);
	return 0;
}

/* Part of the address space is in use: the registry halves its size until it fits. */
static int start_in_what_is_left(void *arg)
{
	void *filler = NULL;

	(void)arg;
	harness_limit_space((size_t)1 << 30);
	must(fib_os_reserve(((size_t)1 << 30) - ((size_t)12 << 20), &filler) == 0);
	must(fib_registry_init() == 0);
	must(fiber_registry.capacity == 4 * CHUNK); /* 8 MiB of the free 12 */
	return 0;
}

static void test_registry_tries_smaller_ones_and_is_full_at_its_end(void **state)
{
	(void)state;
	assert_child_was_content(start_in_eight_megabytes);
	assert_child_was_content(start_in_what_is_left);
}

static int start_again_with_more(void *arg)
{
	(void)arg;
	harness_limit_space(1 << 20);
	must(fib_registry_init() == -ENOMEM);
	harness_limit_space(SIZE_MAX);
	must(fib_registry_init() == 0);
	return 0;
}

static void test_registry_that_had_no_room_says_what_it_wanted_and_may_start_later(void **state)
{
	unsigned long long wanted = 0, least = 0, limit = 0;

	(void)state;
	assert_child_was_content(start_again_with_more);
	assert_int_equal(
		sscanf(child.text,
		       "libfiber: no address space for the registry of fibers: %llu bytes were "
		       "wanted, %llu are needed at least, the limit (ulimit -v) is %llu\n",
		       &wanted, &least, &limit),
		3);
	assert_int_equal(least, CHUNK * sizeof(struct fiber));
	assert_true(wanted >= least && wanted <= limit / 32 + least && limit > 1 << 20);
}

static int start_in_nothing(void *arg)
{
	struct fiber *fiber;

	(void)arg;
	harness_limit_space(1 << 20);
	must(fib_registry_init() == -ENOMEM);
	must(fib_registry_init() == -ENOMEM);
	must(fib_layout_check(&fiber_registry) != NULL);
	must(take(1, &fiber) < 0);
	must(fib_registry_committed() == 0);
	return 0;
}

static void test_registry_without_address_space_has_no_magic_and_no_records(void **state)
{
	(void)state;
	/* While there is no registry, a reader from outside must not accept one. */
	assert_non_null(fib_layout_check(&fiber_registry));
	assert_child_was_content(start_in_nothing);
}

/* -- records and ids -- */

static int setup(void **state)
{
	(void)state;
	return fib_registry_init();
}

static void test_registry_reuses_a_record_and_never_an_id(void **state)
{
	struct fiber *first, *fiber;
	uint64_t last = 0;
	int i;

	(void)state;
	assert_int_equal(take(1, &first), 0);
	fib_registry_give(first, first, 1);
	for (i = 0; i < 100000; i++) {
		assert_int_equal(take(1, &fiber), 0);
		assert_ptr_equal(fiber, first);
		assert_int_equal(fiber->id, 0);
		fib_record_name(NULL, fiber);
		assert_true(fiber->id > last);
		last = fiber->id;
		fib_publish(&fiber->id, 0);
		fib_registry_give(fiber, fiber, 1);
	}
}

static void test_registry_takes_and_gives_whole_lists(void **state)
{
	uint64_t committed;
	struct fiber *list, *again, *last = NULL, *f;
	unsigned count, n = 0;

	(void)state;
	assert_int_equal(fib_registry_take(3 * CHUNK, &list, &count), 0);
	assert_int_equal(count, 3 * CHUNK);
	committed = fib_registry_committed();
	assert_true(committed >= 3 * CHUNK && committed % CHUNK == 0);
	for (f = list; f; f = f->link) {
		assert_true(f >= fib_registry_at(0) && f < fib_registry_at(committed));
		assert_int_equal((uintptr_t)f % FIB_CACHE_LINE, 0);
		assert_int_equal(f->id, 0);
		f->wait_arg = 0x5eed; /* a record that is in the list twice has it already */
		last = f;
		n++;
	}
	assert_int_equal(n, count);
	for (f = list; f; f = f->link) {
		assert_int_equal(f->wait_arg, 0x5eed);
		f->wait_arg = 0;
	}
	fib_registry_give(list, last, count);
	assert_int_equal(take(1, &f), 0);
	fib_registry_give(f, f, 1);
	assert_int_equal(fib_registry_take(3 * CHUNK, &again, &count), 0);
	assert_int_equal(count, 3 * CHUNK);
	assert_int_equal(fib_registry_committed(), committed);
	for (last = again; last->link; last = last->link)
		;
	assert_int_equal(fib_registry_taken(), count);
	fib_registry_give(again, last, count);
	assert_int_equal(fib_registry_taken(), 0);
}

/* Give back the first n records of *list as one batch, and move *list behind them. */
static void give_first(struct fiber **list, unsigned n)
{
	struct fiber *first = *list, *last = first;
	unsigned i;

	for (i = 1; i < n; i++)
		last = last->link;
	*list = last->link;
	fib_registry_give(first, last, n);
}

/* Take `wanted`, get `expected`, all different. */
static struct fiber *take_some(unsigned wanted, unsigned expected)
{
	struct fiber *list, *f;
	unsigned count, n = 0;

	assert_int_equal(fib_registry_take(wanted, &list, &count), 0);
	assert_int_equal(count, expected);
	for (f = list; f; f = f->link) {
		assert_true(f->arg == NULL); /* in no other list that was taken */
		f->arg = f;
		n++;
	}
	assert_int_equal(n, count);
	return list;
}

static void give_all(struct fiber *list, unsigned n)
{
	struct fiber *f;

	for (f = list; f; f = f->link)
		f->arg = NULL;
	give_first(&list, n);
	assert_null(list);
}

/* So that a taker need not read records that another carrier has written. */
static void test_registry_gives_a_batch_as_it_was_given_back(void **state)
{
	struct fiber *list, *a, *b, *c, *first;

	(void)state;
	list = take_some(96, 96);
	for (first = list; first; first = first->link)
		first->arg = NULL;
	first = list;
	give_first(&list, 40);
	give_first(&list, 30);
	give_first(&list, 26);
	a = take_some(32, 26); /* 26 are enough: more would split the batch of 30 */
	b = take_some(32, 30);
	c = take_some(32, 32); /* the batch of 40 is split */
	assert_ptr_equal(c, first);
	give_all(take_some(1, 1), 1);
	give_all(a, 26);
	give_all(b, 30);
	give_all(c, 32);
	assert_int_equal(fib_registry_taken(), 0);
	give_all(take_some(64, 32), 32); /* half is enough */
	give_all(take_some(66, 62), 62); /* 32 and 30 */
	assert_int_equal(fib_registry_taken(), 0);
}

static int fill(void *arg)
{
	struct fiber *fiber, *mine;
	unsigned count;
	uint64_t id;

	(void)arg;
	must(take(1, &mine) == 0);
	fib_record_name(NULL, mine);
	id = mine->id;
	take_all_committed();
	must(take(1, &fiber) == -EAGAIN);
	must(fib_registry_committed() == fiber_registry.capacity);
	must(fiber_create(NULL, rest, NULL, &fiber) == -EAGAIN);
	/* One record is freed: the next request gets it, even a request for more records. */
	fib_publish(&mine->id, 0);
	fib_registry_give(mine, mine, 1);
	must(fib_registry_take(10, &fiber, &count) == 0);
	must(count == 1 && fiber == mine && !fiber->link);
	fib_record_name(NULL, fiber);
	must(fiber->id == id + 1);
	return 0;
}

static void test_registry_that_is_full_says_so_and_goes_on(void **state)
{
	(void)state;
	assert_child_was_content(fill);
}

static int grow_without_memory(void *arg)
{
	uint64_t capacity = fiber_registry.capacity, committed;
	struct fiber *fiber;

	(void)arg;
	take_all_committed();
	fiber_registry.capacity = capacity;
	committed = fib_registry_committed();
	harness_limit_data(64 << 10);
	must(take(1, &fiber) == -ENOMEM);
	must(fib_registry_committed() == committed);
	harness_limit_data(SIZE_MAX);
	must(take(1, &fiber) == 0);
	must(fiber == fib_registry_at(committed));
	must(fib_registry_committed() == committed + CHUNK);
	return 0;
}

static void test_registry_that_cannot_grow_is_as_before(void **state)
{
	(void)state;
	assert_child_was_content(grow_without_memory);
}

static int create_without_a_stack(void *arg)
{
	struct fiber_attr attr = {.size = sizeof attr, .stack_size = 256 << 20};
	struct fiber *spare, *fiber;
	uint64_t id;

	(void)arg;
	must(fiber_create(NULL, rest, NULL, &fiber) == 0);
	id = fiber_id(fiber);
	fiber_detach(fiber);
	must(take(1, &spare) == 0);
	fib_registry_give(spare, spare, 1);
	harness_limit_space(64 << 20);
	must(fiber_create(&attr, rest, NULL, &fiber) == -ENOMEM);
	harness_limit_space(SIZE_MAX);
	/* Neither a record nor an id is lost. */
	must(fiber_create(&attr, rest, NULL, &fiber) == 0);
	must(fiber == spare);
	must(fiber_id(fiber) == id + 1);
	fiber_detach(fiber);
	return 0;
}

static void test_registry_gets_the_record_back_when_there_is_no_stack(void **state)
{
	(void)state;
	assert_child_was_content(create_without_a_stack);
}

/* In a child: a reused record keeps nothing of its last use, and ids continue. */
static int forgets(void *arg)
{
	struct fiber *fiber, *again;
	uint64_t id;

	(void)arg;
	must(fib_registry_init() == 0);
	must(take(1, &fiber) == 0);
	id = fiber->id = fib_registry_next_id();
	fiber->name[0] = 'x';
	fiber->labels = (void *)1;
	fib_registry_lock();
	fib_registry_forget();
	fib_registry_unlock();
	must(fiber->id == 0 && fiber->name[0] == 0 && !fiber->labels);
	must(take(1, &again) == 0);
	must(again == fib_registry_at(0));
	must(fib_registry_next_id() == id + 1);
	return 0;
}

static void test_registry_in_a_forked_child_is_empty(void **state)
{
	(void)state;
	assert_child_was_content(forgets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registry_makes_do_with_the_address_space_there_is),
		cmocka_unit_test(test_registry_tries_smaller_ones_and_is_full_at_its_end),
		cmocka_unit_test(
			test_registry_that_had_no_room_says_what_it_wanted_and_may_start_later),
		cmocka_unit_test(test_registry_without_address_space_has_no_magic_and_no_records),
		cmocka_unit_test_setup(test_registry_reuses_a_record_and_never_an_id, setup),
		cmocka_unit_test_setup(test_registry_takes_and_gives_whole_lists, setup),
		cmocka_unit_test_setup(test_registry_gives_a_batch_as_it_was_given_back, setup),
		cmocka_unit_test_setup(test_registry_that_is_full_says_so_and_goes_on, setup),
		cmocka_unit_test_setup(test_registry_that_cannot_grow_is_as_before, setup),
		cmocka_unit_test_setup(test_registry_gets_the_record_back_when_there_is_no_stack,
				       setup),
		cmocka_unit_test(test_registry_in_a_forked_child_is_empty),
	};

	harness_watchdog(100);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
