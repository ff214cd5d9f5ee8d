/* SPDX-License-Identifier: MIT */
/* test_vdso.c - the kernel's library can be opened, and is the one that is mapped. */
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#include "head.h"
#include "inspect/vdso.h"

static void test_vdso_is_a_file_with_what_is_mapped(void **state)
{
	const void *mapped = (const void *)getauxval(AT_SYSINFO_EHDR); // NOLINT
	unsigned char bytes[4096];
	char path[64], again[64];
	FILE *file;

	(void)state;
	if (!mapped)
		skip();
	assert_int_equal(ins_vdso_path(path, sizeof path), 0);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fread(bytes, 1, sizeof bytes, file), sizeof bytes);
	fclose(file);
	assert_memory_equal(bytes, ELFMAG, SELFMAG);
	assert_memory_equal(bytes, mapped, sizeof bytes);
	assert_int_equal(ins_vdso_path(again, sizeof again), 0);
	assert_string_equal(again, path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vdso_is_a_file_with_what_is_mapped),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
