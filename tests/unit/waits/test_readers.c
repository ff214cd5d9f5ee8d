/* SPDX-License-Identifier: MIT */
/* test_readers.c - who holds a rwlock for reading, from the rows of fibers and the lock's own word */
#include "inspect/waits/readers.h"
#include "tests/harness/inspect/waiting.h"

#define THREAD(tid) (FIB_HOLDER_THREAD | (tid))

static struct waiting w;
static struct ins_readers *readers;

static int begin(void **state)
{
	(void)state;
	w = waiting_new();
	readers = NULL;
	return 0;
}

static int end(void **state)
{
	(void)state;
	ins_readers_free(readers);
	ins_table_free(w.table);
	return 0;
}

/* A fiber that sleeps and reads a lock, or none (0). */
static void put_reader(uint64_t id, uint64_t object)
{
	struct ins_fiber fiber = waiting_for(id, FIB_WAIT_SLEEP, 0, 0);

	if (object)
		waiting_read(&fiber, object);
	waiting_put(&w, &fiber);
}

/* A fiber that waits to write lock 1, which `who` hold. */
static void put_writer(uint64_t id, const uint64_t who[], size_t n)
{
	struct ins_fiber fiber = waiting_for_readers(id, true, 1, waiting_readers(who, n));

	waiting_put(&w, &fiber);
}

static const struct ins_read_lock *the_lock(void)
{
	assert_int_equal(ins_readers_new(w.table, &readers), 0);
	assert_int_equal(ins_readers_count(readers), 1);
	return ins_readers_at(readers, 0);
}

static uint64_t id_of(size_t i)
{
	struct ins_fiber fiber;

	ins_table_get(w.table, i, &fiber);
	return fiber.row.id;
}

static void expect(const struct ins_read_lock *l, size_t known, uint64_t other, uint64_t unknown)
{
	assert_int_equal(l->count, known);
	assert_true(l->other == other);
	assert_int_equal(l->unknown, unknown);
}

static void test_all_readers_are_found_by_id(void **state)
{
	static const uint64_t who[] = {7, 3, 5};
	const struct ins_read_lock *l;

	(void)state;
	put_writer(9, who, 3);
	put_reader(7, 1);
	put_reader(5, 1);
	put_reader(3, 1);
	put_reader(4, 2); /* another lock */
	put_reader(6, 0);
	l = the_lock();
	expect(l, 3, 0, 0);
	assert_int_equal(l->object, 0x1000);
	assert_int_equal(l->total, 3);
	assert_int_equal(id_of(l->fibers[0]), 3);
	assert_int_equal(id_of(l->fibers[1]), 5);
	assert_int_equal(id_of(l->fibers[2]), 7);
	assert_int_equal(id_of(l->writer), 9);
}

static void test_a_fiber_that_reads_twice_is_one_reader(void **state)
{
	static const uint64_t who[] = {7, 7};
	struct ins_fiber fiber = waiting_for(7, FIB_WAIT_SLEEP, 0, 0);
	const struct ins_read_lock *l;

	(void)state;
	put_writer(9, who, 2);
	waiting_read(&fiber, 1);
	waiting_read(&fiber, 1);
	waiting_put(&w, &fiber);
	l = the_lock();
	expect(l, 1, 0, 0);
	assert_int_equal(l->total, 2);
}

static void test_the_only_one_without_a_slot_is_computed(void **state)
{
	static const uint64_t who[] = {7, THREAD(4711), 3};

	(void)state;
	put_writer(9, who, 3);
	put_reader(7, 1);
	put_reader(3, 1);
	expect(the_lock(), 2, THREAD(4711), 0);
}

static void test_a_fiber_with_too_many_locks_is_computed_too(void **state)
{
	static const uint64_t who[] = {7, 3};
	const struct ins_read_lock *l;

	(void)state;
	put_writer(9, who, 2);
	put_reader(7, 1);
	put_reader(3, 0);
	l = the_lock();
	expect(l, 2, 0, 0);
	assert_int_equal(id_of(l->fibers[0]), 3);
	assert_int_equal(id_of(l->fibers[1]), 7);
}

/* Its row has no room for the last of its locks, which it reads for the second time. */
static void test_a_fiber_that_reads_again_without_a_slot_is_one_reader(void **state)
{
	static const uint64_t who[] = {7, 7, 8};
	struct ins_fiber fiber = waiting_for(7, FIB_WAIT_SLEEP, 0, 0);
	const struct ins_read_lock *l;

	(void)state;
	waiting_read(&fiber, 1);
	waiting_put(&w, &fiber);
	put_reader(8, 1);
	put_writer(9, who, 3);
	l = the_lock();
	expect(l, 2, 0, 0);
	assert_int_equal(id_of(l->fibers[0]), 7);
	assert_int_equal(id_of(l->fibers[1]), 8);
}

static void test_computed_readers_are_in_the_order_of_ids_too(void **state)
{
	static const uint64_t who[] = {3, 7, 8};
	const struct ins_read_lock *l;

	(void)state;
	put_reader(3, 1);
	put_reader(7, 0);
	put_reader(8, 1);
	put_writer(9, who, 3);
	l = the_lock();
	expect(l, 3, 0, 0);
	assert_int_equal(id_of(l->fibers[1]), 7);
}

static void test_a_fiber_that_has_exited_is_computed_by_its_number(void **state)
{
	static const uint64_t who[] = {2};

	(void)state;
	put_writer(9, who, 1);
	expect(the_lock(), 0, 2, 0);
}

static void test_several_without_a_slot_are_counted(void **state)
{
	static const uint64_t who[] = {7, THREAD(4711), THREAD(4712)};

	(void)state;
	put_writer(9, who, 3);
	put_reader(7, 1);
	expect(the_lock(), 1, 0, 2);
}

static void test_more_slots_than_readers_are_not_believed(void **state)
{
	static const uint64_t who[] = {7};

	(void)state;
	put_writer(9, who, 1);
	put_reader(7, 1);
	put_reader(3, 1); /* another fiber has released its lock */
	expect(the_lock(), 0, 0, 1);
}

static void test_a_slot_of_another_than_the_reader_is_not_believed(void **state)
{
	static const uint64_t who[] = {THREAD(4711)};

	(void)state;
	put_writer(9, who, 1);
	put_reader(3, 1);
	expect(the_lock(), 0, 0, 1);
}

static void test_a_number_that_nothing_has_is_not_believed(void **state)
{
	static const uint64_t fiber[] = {1000}, thread[] = {THREAD(5000000)};

	(void)state;
	put_writer(9, fiber, 1); /* no fiber has more than 9 */
	expect(the_lock(), 0, 0, 1);
	end(state);
	begin(state);
	put_writer(9, thread, 1);
	expect(the_lock(), 0, 0, 1);
}

static void test_the_first_writer_is_the_one_that_waits_longest(void **state)
{
	static const uint64_t who[] = {3};
	const struct ins_read_lock *l;
	struct ins_fiber fiber;

	(void)state;
	put_reader(3, 1);
	for (uint64_t id = 10; id < 14; id++) {
		fiber = waiting_for_readers(id, id != 13, 1, waiting_readers(who, 1));
		fiber.row.age = id == 12 ? 100 : id == 13 ? 200 : 50;
		waiting_put(&w, &fiber);
	}
	l = the_lock();
	assert_int_equal(id_of(l->writer), 12);
	ins_table_get(w.table, l->writer, &fiber);
	assert_int_equal(ins_readers_find(readers, &fiber.row), 0);
}

static void test_a_lock_of_a_writer_or_without_readers_is_not_listed(void **state)
{
	struct ins_fiber fiber = waiting_for(1, FIB_WAIT_RWLOCK_WRITE, 1, 2);

	(void)state;
	fiber.row.readers = 1;
	waiting_put(&w, &fiber);
	fiber = waiting_for(3, FIB_WAIT_RWLOCK_READ, 1, 0);
	waiting_put(&w, &fiber);
	put_reader(4, 1);
	assert_int_equal(ins_readers_new(w.table, &readers), 0);
	assert_int_equal(ins_readers_count(readers), 0);
	assert_true(ins_readers_find(readers, &fiber.row) == SIZE_MAX);
}

#define READERS_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		READERS_TEST(test_all_readers_are_found_by_id),
		READERS_TEST(test_a_fiber_that_reads_twice_is_one_reader),
		READERS_TEST(test_the_only_one_without_a_slot_is_computed),
		READERS_TEST(test_a_fiber_with_too_many_locks_is_computed_too),
		READERS_TEST(test_a_fiber_that_reads_again_without_a_slot_is_one_reader),
		READERS_TEST(test_computed_readers_are_in_the_order_of_ids_too),
		READERS_TEST(test_a_fiber_that_has_exited_is_computed_by_its_number),
		READERS_TEST(test_several_without_a_slot_are_counted),
		READERS_TEST(test_more_slots_than_readers_are_not_believed),
		READERS_TEST(test_a_slot_of_another_than_the_reader_is_not_believed),
		READERS_TEST(test_a_number_that_nothing_has_is_not_believed),
		READERS_TEST(test_the_first_writer_is_the_one_that_waits_longest),
		READERS_TEST(test_a_lock_of_a_writer_or_without_readers_is_not_listed),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
