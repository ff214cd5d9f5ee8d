/* SPDX-License-Identifier: MIT */
/* test_windows.c - memory is copied once, as far as it can be read */
#include "tests/harness/inspect/marked.h"

static int begin(void **state)
{
	(void)state;
	marked_begin(4 * INS_WINDOW);
	for (uint64_t i = 0; i < MARKED_SIZE / 8; i++)
		marked.words[i] = i;
	return 0;
}

static int end(void **state)
{
	(void)state;
	marked_end();
	return 0;
}

static void test_a_window_is_read_once(void **state)
{
	(void)state;
	assert_int_equal(ins_windows_word(marked.windows, MARKED_BASE + 80), 10);
	assert_int_equal(ins_windows_word(marked.windows, MARKED_BASE + INS_WINDOW),
			 INS_WINDOW / 8);
	assert_int_equal(ins_windows_word(marked.windows, MARKED_BASE + 88), 11);
	assert_int_equal(marked.reads, 2);
	assert_int_equal(ins_windows_bytes(marked.windows), 2 * INS_WINDOW);
}

static void test_windows_that_share_a_slot_replace_each_other(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 2; round++)
		for (uint64_t i = 0; i < 8; i++)
			assert_int_equal(
				ins_windows_word(marked.windows, MARKED_BASE + i * INS_WINDOW + 8),
				i * INS_WINDOW / 8 + 1);
	assert_int_equal(marked.reads, 16);
}

static void test_bytes_reach_to_the_end_of_their_window(void **state)
{
	size_t size;

	(void)state;
	ins_windows_at(marked.windows, MARKED_BASE + 100, &size);
	assert_int_equal(size, INS_WINDOW - 100);
}

static void test_a_page_that_cannot_be_read_is_zeros_and_the_others_are_not(void **state)
{
	(void)state;
	marked.hole = MARKED_BASE + 4096;
	marked.hole_end = marked.hole + 4096;
	assert_int_equal(ins_windows_word(marked.windows, MARKED_BASE + 8), 1);
	assert_int_equal(ins_windows_word(marked.windows, MARKED_BASE + 4096 + 8), 0);
	assert_int_equal(ins_windows_word(marked.windows, MARKED_BASE + 8192), 1024);
}

static uint64_t failure;

static void on_failure(void *reader, uint64_t address)
{
	(void)reader;
	failure = address;
}

static void test_a_page_that_cannot_be_read_is_told(void **state)
{
	(void)state;
	marked.reader.failed = on_failure;
	marked.hole = MARKED_BASE + 4096;
	marked.hole_end = marked.hole + 4096;
	failure = 0;
	assert_int_equal(ins_windows_word(marked.windows, MARKED_BASE + 8), 1);
	assert_int_equal(failure, MARKED_BASE + 4096);
}

static void test_forgotten_windows_are_read_again(void **state)
{
	(void)state;
	assert_int_equal(ins_windows_word(marked.windows, MARKED_BASE + 8), 1);
	marked_put(8, 77);
	assert_int_equal(ins_windows_word(marked.windows, MARKED_BASE + 8), 1);
	ins_windows_forget(marked.windows);
	assert_int_equal(ins_windows_word(marked.windows, MARKED_BASE + 8), 77);
}

/* The first half of each 128 KiB was never written. */
static uint64_t run(void *reader, uint64_t address, uint64_t size, bool *ret_there)
{
	const uint64_t half = 65536, left = half - address % half;

	(void)reader;
	*ret_there = address / half % 2;
	return left < size ? left : size;
}

static void test_memory_that_was_never_written_is_not_read(void **state)
{
	uint64_t words[2 * 8192];

	(void)state;
	marked.reader.run = run;
	memset(words, 1, sizeof words);
	ins_windows_copy(marked.windows, MARKED_BASE, words, sizeof words);
	assert_int_equal(words[1], 0);
	assert_int_equal(words[8193], 8193);
	assert_int_equal(marked.reads, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_window_is_read_once, begin, end),
		cmocka_unit_test_setup_teardown(test_windows_that_share_a_slot_replace_each_other,
						begin, end),
		cmocka_unit_test_setup_teardown(test_bytes_reach_to_the_end_of_their_window, begin,
						end),
		cmocka_unit_test_setup_teardown(
			test_a_page_that_cannot_be_read_is_zeros_and_the_others_are_not, begin,
			end),
		cmocka_unit_test_setup_teardown(test_a_page_that_cannot_be_read_is_told, begin,
						end),
		cmocka_unit_test_setup_teardown(test_forgotten_windows_are_read_again, begin, end),
		cmocka_unit_test_setup_teardown(test_memory_that_was_never_written_is_not_read,
						begin, end),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
