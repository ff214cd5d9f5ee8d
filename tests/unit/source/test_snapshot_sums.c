/* SPDX-License-Identifier: MIT */
/* test_snapshot_sums.c - checksums of parts are those of zlib, and the first wrong one is found */
#include <string.h>

#include "inspect/source/snapshot_sums.h"
#include "tests/harness/inspect/head.h"

static void test_a_sum_is_the_crc_32_in_any_number_of_pieces(void **state)
{
	(void)state;
	/* The check value of CRC-32, as in the documents of gzip and PNG. */
	assert_int_equal(ins_snapshot_sum(0, "123456789", 9), 0xcbf43926u);
	assert_int_equal(ins_snapshot_sum(ins_snapshot_sum(0, "1234", 4), "56789", 5), 0xcbf43926u);
	assert_int_equal(ins_snapshot_sum(0, "", 0), 0);
}

static void test_the_first_part_that_differs_is_found(void **state)
{
	struct ins_snapshot_sums kept = {0}, found = {0};
	uint32_t i;
	size_t size;

	(void)state;
	for (i = 0; i < 5; i++) {
		assert_true(ins_snapshot_sums_add(&kept, i * 7));
		assert_true(ins_snapshot_sums_add(&found, i * 7));
	}
	size = ins_snapshot_sums_end(&kept);
	assert_int_equal(size, 6 * sizeof(uint32_t));
	assert_int_equal(ins_snapshot_sums_compare(&found, kept.at, size), -1);
	found.at[4] ^= 1;
	assert_int_equal(ins_snapshot_sums_compare(&found, kept.at, size), 4);
	found.at[2] ^= 1;
	assert_int_equal(ins_snapshot_sums_compare(&found, kept.at, size), 2);
	/* The numbers themselves are damaged, or are of another number of parts. */
	kept.at[0] ^= 1;
	assert_int_equal(ins_snapshot_sums_compare(&found, kept.at, size), 5);
	kept.at[0] ^= 1;
	assert_int_equal(ins_snapshot_sums_compare(&found, kept.at, size - 4), 5);
	assert_int_equal(ins_snapshot_sums_compare(&found, kept.at, 0), 5);
}

static void test_too_many_parts_are_refused(void **state)
{
	struct ins_snapshot_sums sums = {0};
	uint32_t i;

	(void)state;
	for (i = 0; i < INS_SNAPSHOT_PARTS; i++)
		assert_true(ins_snapshot_sums_add(&sums, i));
	assert_false(ins_snapshot_sums_add(&sums, i));
	assert_int_equal(ins_snapshot_sums_end(&sums), (INS_SNAPSHOT_PARTS + 1) * sizeof(uint32_t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_sum_is_the_crc_32_in_any_number_of_pieces),
		cmocka_unit_test(test_the_first_part_that_differs_is_found),
		cmocka_unit_test(test_too_many_parts_are_refused),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
