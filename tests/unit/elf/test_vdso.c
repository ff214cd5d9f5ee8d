/* SPDX-License-Identifier: MIT */
/* test_vdso.c - the vdso can be opened as a file, and is the one that is mapped */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/inspect/head.h"
#include "inspect/elf/vdso.h"

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

/* The caller's own memory follows the vdso and must not get into the file. */
static void test_vdso_is_no_longer_than_what_is_mapped(void **state)
{
	unsigned long start, end = 0;
	char path[64], line[512];
	struct stat st;
	FILE *maps;

	(void)state;
	if (ins_vdso_path(path, sizeof path) < 0)
		skip();
	maps = fopen("/proc/self/maps", "re");
	while (!end && fgets(line, sizeof line, maps))
		if (!strstr(line, "[vdso]") || sscanf(line, "%lx-%lx", &start, &end) != 2)
			end = 0;
	fclose(maps);
	assert_int_equal(stat(path, &st), 0);
	assert_in_range(st.st_size, 1, end - start);
}

static void test_bytes_of_another_one_become_a_file(void **state)
{
	static const char huge[(256 << 10) + 1];
	char bytes[16] = "";
	int fd = ins_vdso_keep("\x7f"
			       "ELF and more",
			       13);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, bytes, sizeof bytes, 0), 13);
	assert_memory_equal(bytes,
			    "\x7f"
			    "ELF and more",
			    13);
	close(fd);
	assert_int_equal(ins_vdso_keep("", 0), -EINVAL);
	assert_int_equal(ins_vdso_keep(huge, sizeof huge), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vdso_is_a_file_with_what_is_mapped),
		cmocka_unit_test(test_vdso_is_no_longer_than_what_is_mapped),
		cmocka_unit_test(test_bytes_of_another_one_become_a_file),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
