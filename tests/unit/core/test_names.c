/* SPDX-License-Identifier: MIT */
/* test_names.c - a name is cut between characters, and readers always find a terminated name */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <fiber/sync.h>

#include "core/names.h"
#include "os/os.h"
#include "tests/harness/watchdog.h"

#define SIZE  32
#define LOOKS 20000

static void test_name_that_fits_is_kept_whole_and_padded(void **state)
{
	char field[SIZE], zeros[SIZE] = {0};

	(void)state;
	memset(field, 'x', sizeof field);
	assert_int_equal(fib_name_copy(field, sizeof field, "accept"), 0);
	assert_string_equal(field, "accept");
	assert_memory_equal(field + 6, zeros, SIZE - 6);
}

static void test_name_of_31_bytes_fits_and_of_32_loses_one(void **state)
{
	char field[SIZE] = {0};

	(void)state;
	assert_int_equal(fib_name_copy(field, sizeof field, "0123456789012345678901234567890"), 0);
	assert_string_equal(field, "0123456789012345678901234567890");
	assert_int_equal(fib_name_copy(field, sizeof field, "abcdefghijklmnopqrstuvwxyz123456"), 1);
	assert_string_equal(field, "abcdefghijklmnopqrstuvwxyz12345");
}

static void test_name_is_cut_at_a_whole_character(void **state)
{
	/* 30 bytes, then characters of 2, 3 and 4 bytes that do not fit into the last byte. */
	static const char *const wide[] = {"012345678901234567890123456789\xc3\xa4",
					   "012345678901234567890123456789\xe2\x82\xac",
					   "012345678901234567890123456789\xf0\x9f\x90\x8c"};
	char field[SIZE] = {0};
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		assert_int_equal(fib_name_copy(field, sizeof field, wide[i]), 2 + i);
		assert_string_equal(field, "012345678901234567890123456789");
	}
	/* 29 bytes and a 2-byte character fit exactly. The next character must not cut it. */
	assert_int_equal(
		fib_name_copy(field, sizeof field, "01234567890123456789012345678\xc3\xa4\xc3\xa4"),
		2);
	assert_string_equal(field, "01234567890123456789012345678\xc3\xa4");
}

static void test_name_null_or_empty_clears(void **state)
{
	char field[SIZE] = {0}, zeros[SIZE] = {0};

	(void)state;
	fib_name_copy(field, sizeof field, "something");
	assert_int_equal(fib_name_copy(field, sizeof field, NULL), 0);
	assert_memory_equal(field, zeros, SIZE);
	fib_name_copy(field, sizeof field, "something");
	assert_int_equal(fib_name_copy(field, sizeof field, ""), 0);
	assert_memory_equal(field, zeros, SIZE);
}

static void test_name_of_an_object_touches_nothing_else_of_it(void **state)
{
	static const char longer[] = "a name that is longer than the thirty-one bytes there are";
	struct fiber_mutex mutex, before;

	(void)state;
	memset(&mutex, 0xa5, sizeof mutex);
	before = mutex;
	assert_int_equal(fiber_object_name(&mutex, longer), sizeof longer - 1 - 31);
	assert_int_equal(strlen(mutex.name), 31);
	assert_memory_equal((char *)&mutex + 32, (char *)&before + 32, sizeof mutex - 32);
}

static char shared[SIZE];
static atomic_bool over;

static void *rename_it(void *arg)
{
	static const char *const names[] = {"a", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "",
					    "cccccccccccccccc"};
	unsigned i;

	(void)arg;
	for (i = 0; !atomic_load(&over); i++)
		fib_name_copy(shared, sizeof shared, names[i % 4]);
	return NULL;
}

static void test_name_always_has_an_end_for_a_reader_beside_the_writer(void **state)
{
	unsigned i, endless = 0, foreign = 0;
	char copy[SIZE + 1] = {0};
	pthread_t writer;

	(void)state;
	pthread_create(&writer, NULL, rename_it, NULL);
	for (i = 0; i < LOOKS; i++) {
		/* Read like the service thread and the tools: the kernel copies. */
		if (fib_os_peek((uint64_t)(uintptr_t)shared, copy, SIZE) < 0)
			break;
		endless += copy[SIZE - 1] != 0;
		foreign += strspn(copy, "abc") != strlen(copy);
	}
	atomic_store(&over, true);
	pthread_join(writer, NULL);
	assert_int_equal(i, LOOKS);
	assert_int_equal(endless, 0);
	assert_int_equal(foreign, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_name_that_fits_is_kept_whole_and_padded),
		cmocka_unit_test(test_name_of_31_bytes_fits_and_of_32_loses_one),
		cmocka_unit_test(test_name_is_cut_at_a_whole_character),
		cmocka_unit_test(test_name_null_or_empty_clears),
		cmocka_unit_test(test_name_of_an_object_touches_nothing_else_of_it),
		cmocka_unit_test(test_name_always_has_an_end_for_a_reader_beside_the_writer),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
