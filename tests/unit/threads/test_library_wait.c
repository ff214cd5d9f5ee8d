/* SPDX-License-Identifier: MIT */
/* test_library_wait.c - a thread's wait in the library is beside the word that it sleeps on */
#include <fiber/fiber.h>
#include <linux/futex.h>
#include <string.h>

#include "inspect/model/words.h"
#include "inspect/threads/library_wait.h"
#include "tests/harness/inspect/asleep.h"

/* Not libfiber's own order. */
static struct {
	uint64_t arg, object;
	uint32_t kind, word;
	uint64_t who;
} waiter;

static struct {
	char name[8];
	uint64_t holder;
} mutex = {.name = "cfg"};

static struct {
	uint64_t id;
	uint32_t unused, joiner;
} records[3] = {{.id = 0}, {.id = 41}}; /* the last one is no record: reads end in it */

#define FIELD(of, member)                                         \
	(struct fib_layout_field)                                 \
	{                                                         \
		offsetof(typeof(of), member), sizeof((of).member) \
	}

static struct ins_source source = {.memory = asleep_memory};
static struct ins_thread_at at;
static const struct ins_sleeper sleeper = {.source = &source, .at = &at};
static struct fib_row row;

static int begin(void **state)
{
	struct fib_layout *l = &source.layout;

	(void)state;
	memset(l, 0, sizeof *l);
	l->records = (uint64_t)(uintptr_t)records;
	l->record_size = sizeof records[0];
	l->committed = 2;
	l->field_count = FIB_FIELD_COUNT;
	l->fields[FIB_FIELD_ID] = FIELD(records[0], id);
	l->fields[FIB_FIELD_JOINER] = FIELD(records[0], joiner);
	l->objects[FIB_WAIT_MUTEX].name = FIELD(mutex, name);
	l->objects[FIB_WAIT_MUTEX].holder = FIELD(mutex, holder);
	l->thread_wait = (struct fib_layout_thread_wait){FIELD(waiter, word), FIELD(waiter, who),
							 FIELD(waiter, kind), FIELD(waiter, object),
							 FIELD(waiter, arg)};
	waiter.kind = FIB_WAIT_MUTEX;
	waiter.object = (uint64_t)(uintptr_t)&mutex;
	waiter.arg = 0;
	waiter.who = FIB_HOLDER_THREAD | 70;
	mutex.holder = 5;
	return 0;
}

/* Thread 70 sleeps on a word, while that has this value. */
static bool find_by(const uint32_t *word, uint32_t value)
{
	row = (struct fib_row){.wait_kind = FIB_WAIT_FUTEX, .wait_arg = 99};
	at = (struct ins_thread_at){
		.inner = 70,
		.call = SYS_futex,
		.argument = {(uint64_t)(uintptr_t)word, FUTEX_WAIT_BITSET_PRIVATE, value}};
	return ins_library_wait(&sleeper, &row);
}

static bool find(const uint32_t *word)
{
	return find_by(word, *word);
}

static void test_the_wait_has_its_object_with_name_and_holder(void **state)
{
	(void)state;
	assert_true(find(&waiter.word));
	assert_int_equal(row.wait_kind, FIB_WAIT_MUTEX);
	assert_int_equal(row.wait_object, (uint64_t)(uintptr_t)&mutex);
	assert_int_equal(row.wait_arg, 0);
	assert_int_equal(row.holder, 5);
	assert_string_equal(row.object_name, "cfg");
	mutex.holder = FIB_HOLDER_THREAD | FIB_HOLDER_CONTENDED | 71;
	assert_true(find(&waiter.word));
	assert_int_equal(row.holder, FIB_HOLDER_THREAD | 71);
}

static void test_an_object_that_cannot_be_read_has_no_holder(void **state)
{
	(void)state;
	waiter.object = 16;
	assert_true(find(&waiter.word));
	assert_int_equal(row.wait_object, 16);
	assert_int_equal(row.holder, 0);
}

static void expect_none(const uint32_t *word)
{
	assert_false(find(word));
	assert_int_equal(row.wait_kind, FIB_WAIT_FUTEX);
	assert_int_equal(row.wait_arg, 99);
}

static void test_a_word_of_another_thread_says_nothing(void **state)
{
	(void)state;
	waiter.who = FIB_HOLDER_THREAD | 71;
	expect_none(&waiter.word);
	waiter.who = 70;
	expect_none(&waiter.word);
}

static void test_a_kind_that_does_not_exist_says_nothing(void **state)
{
	(void)state;
	waiter.kind = INS_WAIT_CALL;
	expect_none(&waiter.word);
	waiter.kind = FIB_WAIT_NONE;
	expect_none(&waiter.word);
	waiter.kind = UINT32_MAX;
	expect_none(&waiter.word);
}

static void test_a_program_that_does_not_publish_waits_of_threads_has_none(void **state)
{
	(void)state;
	source.layout.thread_wait.word.size = 0;
	expect_none(&waiter.word);
	source.layout.fields[FIB_FIELD_JOINER].size = 0;
	expect_none(&records[1].joiner);
	source.layout.record_size = 0;
	expect_none(&records[1].joiner);
}

static void test_a_word_of_a_record_is_a_join_of_its_fiber(void **state)
{
	(void)state;
	assert_true(find(&records[1].joiner));
	assert_int_equal(row.wait_kind, FIB_WAIT_JOIN);
	assert_int_equal(row.wait_arg, 41);
	/* A free record, another word of the record, and one beyond the last. */
	expect_none(&records[0].joiner);
	expect_none(&records[1].unused);
	source.layout.committed = 1;
	expect_none(&records[1].joiner);
}

static void expect_over(const uint32_t *word)
{
	assert_true(find_by(word, *word + 16));
	assert_int_equal(row.wait_kind, FIB_WAIT_NONE);
	assert_int_equal(row.state, FIBER_RUNNABLE);
	assert_int_equal(row.wait_object, 0);
	assert_int_equal(row.holder, 0);
	assert_int_equal(row.deadline, INT64_MAX);
}

static void test_a_thread_whose_word_has_changed_waits_no_more(void **state)
{
	(void)state;
	mutex.holder = FIB_HOLDER_THREAD | 70;
	expect_over(&waiter.word);
	expect_over(&records[1].joiner);
	/* The word that a pinned fiber's carrier sleeps on. */
	expect_over(&records[1].unused);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_the_wait_has_its_object_with_name_and_holder, begin),
		cmocka_unit_test_setup(test_an_object_that_cannot_be_read_has_no_holder, begin),
		cmocka_unit_test_setup(test_a_word_of_another_thread_says_nothing, begin),
		cmocka_unit_test_setup(test_a_kind_that_does_not_exist_says_nothing, begin),
		cmocka_unit_test_setup(
			test_a_program_that_does_not_publish_waits_of_threads_has_none, begin),
		cmocka_unit_test_setup(test_a_thread_whose_word_has_changed_waits_no_more, begin),
		cmocka_unit_test_setup(test_a_word_of_a_record_is_a_join_of_its_fiber, begin),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
