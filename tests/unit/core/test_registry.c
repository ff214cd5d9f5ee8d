/* SPDX-License-Identifier: MIT */
/*
 * test_registry.c - the registry is the allocator: records are reused, ids are not, nobody reads a torn one
 *
 * What limits do to it is tried in children: those of the first tests inherit a registry that has not
 * been started yet, so these tests come first.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/names.h"
#include "core/registry.h"
#include "layout/row.h"
#include "os/os.h"
#include "tests/harness/child.h"
#include "tests/harness/watchdog.h"

#define CHUNK  4096u
#define OWNERS 3u
#define HELD   8u
#define COPIES 20000u

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

/* In a child: leave with half the line, which fits an exit code, when something is not so. */
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

/* Everything that was ever taken and not given back is in use: take it up to the last record. */
static void take_all_committed(void)
{
	struct fiber *fiber;
	unsigned count;

	fiber_registry.capacity = fib_registry_committed();
	while (fib_registry_take(1000, &fiber, &count) == 0)
		;
}

/* What a fiber that never runs would run. */
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
	/* As long as nothing is there, a reader from outside must not believe that it is. */
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
	fib_registry_give(first, first);
	for (i = 0; i < 100000; i++) {
		assert_int_equal(take(1, &fiber), 0);
		assert_ptr_equal(fiber, first);
		assert_int_equal(fiber->id, 0);
		fib_registry_name(fiber);
		assert_true(fiber->id > last);
		last = fiber->id;
		fib_publish(&fiber->id, 0);
		fib_registry_give(fiber, fiber);
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
	fib_registry_give(list, last);
	assert_int_equal(fib_registry_take(3 * CHUNK, &again, &count), 0);
	assert_int_equal(count, 3 * CHUNK);
	assert_int_equal(fib_registry_committed(), committed);
	for (last = again; last->link; last = last->link)
		;
	fib_registry_give(again, last);
}

static int fill(void *arg)
{
	struct fiber *fiber, *mine;
	unsigned count;
	uint64_t id;

	(void)arg;
	must(take(1, &mine) == 0);
	fib_registry_name(mine);
	id = mine->id;
	take_all_committed();
	must(take(1, &fiber) == -EAGAIN);
	must(fib_registry_committed() == fiber_registry.capacity);
	must(fiber_create(NULL, rest, NULL, &fiber) == -EAGAIN);
	/* One comes back: it is there for the next, and a wish for more gets what there is. */
	fib_publish(&mine->id, 0);
	fib_registry_give(mine, mine);
	must(fib_registry_take(10, &fiber, &count) == 0);
	must(count == 1 && fiber == mine && !fiber->link);
	fib_registry_name(fiber);
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
	fib_registry_give(spare, spare);
	harness_limit_space(64 << 20);
	must(fiber_create(&attr, rest, NULL, &fiber) == -ENOMEM);
	harness_limit_space(SIZE_MAX);
	/* Neither a record nor an id is gone. */
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

/* -- readers -- */

/* One life in a record: every field that is looked at says the same number. */
static void live(struct fiber *f, uint64_t number)
{
	char name[32];

	snprintf(name, sizeof name, "%llu", (unsigned long long)number);
	fib_store(&f->seq, 0);
	f->parent = number;
	f->spawn_pc = number;
	fib_name_copy(f->name, sizeof f->name, name);
	f->wait_object = number;
	f->wait_arg = number;
	fib_store(&f->state, FIBER_SUSPENDED);
	fib_store(&f->wait_kind, FIB_WAIT_PARK);
	fib_registry_name(f);

	/* It runs, and changes; then it is left. */
	fib_store(&f->seq, 1);
	fib_fence_release();
	f->wait_object = number * 3;
	f->wait_arg = number * 3;
	fib_store_release(&f->seq, 2);
}

static _Atomic uint32_t read_enough;

static void *own(void *arg)
{
	uint64_t number = (uint64_t)(uintptr_t)arg << 32;
	struct fiber *held[HELD] = {0}, *f;
	unsigned i;

	for (i = 0; !fib_load(&read_enough); i++) {
		f = held[i % HELD];
		if (f) {
			fib_publish(&f->id, 0);
			f->link = NULL;
			fib_registry_give(f, f);
			held[i % HELD] = NULL;
		}
		if (take(1, &f) < 0)
			break;
		live(f, ++number);
		held[i % HELD] = f;
	}
	for (i = 0; i < HELD; i++) {
		if (held[i]) {
			fib_publish(&held[i]->id, 0);
			fib_registry_give(held[i], held[i]);
		}
	}
	return NULL;
}

/* What record.h tells readers to do. 1: a copy of one moment is in *row; 0: free, running or moving. */
static int sample(struct fiber *f, struct fib_row *row)
{
	static char copy[sizeof(struct fiber)];
	uint64_t id = fib_observe(&f->id);
	uint64_t seq = fib_load_acquire(&f->seq);

	if (!id || seq & 1)
		return 0;
	if (fib_os_peek((uint64_t)(uintptr_t)f, copy, sizeof copy) < 0)
		return -1;
	fib_fence_acquire();
	if (fib_load_acquire(&f->seq) != seq || fib_observe(&f->id) != id)
		return 0;
	return fib_row_decode(&fiber_registry, copy, (uint64_t)(uintptr_t)f, 0, row) &&
	       row->id == id;
}

static bool whole(const struct fib_row *row)
{
	char name[32];

	snprintf(name, sizeof name, "%llu", (unsigned long long)row->parent);
	return row->parent == row->spawn_pc && strcmp(row->name, name) == 0 &&
	       row->wait_object == row->wait_arg &&
	       row->wait_arg == (row->seq ? row->parent * 3 : row->parent);
}

static void test_registry_reader_beside_owners_never_takes_a_torn_record(void **state)
{
	struct fiber *records[HELD * OWNERS], *list;
	unsigned torn = 0, taken = 0, failed = 0, i;
	pthread_t threads[OWNERS];
	struct fib_row row;

	(void)state;
	/* The newest on the free list are what the owners will go round in. */
	assert_int_equal(take(HELD * OWNERS, &list), 0);
	for (i = 0; i < HELD * OWNERS; i++, list = list->link)
		records[i] = list;
	fib_registry_give(records[0], records[i - 1]);
	for (i = 0; i < OWNERS; i++)
		pthread_create(&threads[i], NULL, own, (void *)(uintptr_t)(i + 1));
	for (i = 0; taken < COPIES && !failed; i++) {
		int rc = sample(records[i % (HELD * OWNERS)], &row);

		failed += rc < 0;
		taken += rc > 0;
		torn += rc > 0 && !whole(&row);
	}
	fib_store(&read_enough, 1);
	for (i = 0; i < OWNERS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(failed, 0);
	assert_int_equal(torn, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registry_makes_do_with_the_address_space_there_is),
		cmocka_unit_test(test_registry_without_address_space_has_no_magic_and_no_records),
		cmocka_unit_test_setup(test_registry_reuses_a_record_and_never_an_id, setup),
		cmocka_unit_test_setup(test_registry_takes_and_gives_whole_lists, setup),
		cmocka_unit_test_setup(test_registry_that_is_full_says_so_and_goes_on, setup),
		cmocka_unit_test_setup(test_registry_that_cannot_grow_is_as_before, setup),
		cmocka_unit_test_setup(test_registry_gets_the_record_back_when_there_is_no_stack,
				       setup),
		cmocka_unit_test_setup(test_registry_reader_beside_owners_never_takes_a_torn_record,
				       setup),
	};

	harness_watchdog(100);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
