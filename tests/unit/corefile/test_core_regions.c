/* SPDX-License-Identifier: MIT */
/* test_core_regions.c - the memory areas in a core */
#include "inspect/corefile/core_regions.h"

#include <elf.h>
#include <stdlib.h>

#include "tests/harness/inspect/head.h"

static void test_areas_have_their_rights_and_files(void **state)
{
	struct ins_core_load loads[] = {
		{0x1000, 0, 0x1000, 0, PF_R | PF_X}, /* not in the core */
		{0x2000, 0x1000, 0x1000, 0, PF_R | PF_W},
		{0x5000, 0x800, 0x1000, 0, PF_R | PF_W}, /* cut */
		{0x7000, 0x1000, 0x1000, 0, 0},
		{UINT64_MAX - 8, 0x1000, 0x1000, 0, PF_R},
	};
	const struct ins_core core = {.load = loads, .loads = sizeof loads / sizeof loads[0]};
	struct ins_problems problems = {.count = 0};
	struct ins_modules *files;
	struct ins_regions got;

	(void)state;
	assert_int_equal(ins_modules_new(0, NULL, NULL, &problems, &files), 0);
	assert_int_equal(ins_modules_add(files, 0x1000, 0x3000, 0, 0, "/bin/it"), 0);
	ins_modules_sort(files);
	assert_int_equal(ins_core_regions(&core, files, &got), 0);
	assert_int_equal(got.count, 3);
	assert_true(got.at[0].file && !got.at[0].writable);
	assert_int_equal(got.at[1].start, 0x2000);
	assert_true(got.at[1].file && got.at[1].writable);
	assert_int_equal(got.at[2].start, 0x5000);
	assert_int_equal(got.at[2].end, 0x6000);
	assert_false(got.at[2].file);
	free(got.at);
	ins_modules_free(files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_areas_have_their_rights_and_files),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
