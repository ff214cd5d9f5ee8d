/* SPDX-License-Identifier: MIT */
/* test_mappings.c - parse smaps and maps, as the kernel writes them and malformed */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/harness/inspect/head.h"
#include "inspect/elf/mappings.h"

static struct ins_mappings maps;

static void parse(const char *text)
{
	FILE *f = fmemopen((void *)text, strlen(text), "r");

	memset(&maps, 0, sizeof maps);
	assert_int_equal(ins_mappings_parse(f, &maps), 0);
	fclose(f);
}

static void test_lines_of_smaps_are_taken_apart(void **state)
{
	(void)state;
	parse("00400000-00452000 r-xp 00001000 08:02 173521      /usr/bin/a name\n"
	      "Size:                328 kB\n"
	      "VmFlags: rd ex mr mw me sd \n"
	      "7f00000000-7f00021000 rw-s 00000000 00:01 12 /dev/zero (deleted)\n"
	      "VmFlags: rd wr sh dd \n"
	      "7f00100000-7f00121000 ---p 00000000 00:00 0 \n"
	      "7ffd1000-7ffd2000 r--p 00000000 00:00 0                          [vvar]\n"
	      "VmFlags: rd mr io de \n");
	assert_int_equal(maps.count, 4);
	assert_int_equal(maps.at[0].start, 0x400000);
	assert_int_equal(maps.at[0].end, 0x452000);
	assert_int_equal(maps.at[0].offset, 0x1000);
	assert_int_equal(maps.at[0].inode, 173521);
	assert_int_equal(maps.at[0].flags, PF_R | PF_X);
	assert_string_equal(maps.at[0].path, "/usr/bin/a name");
	assert_false(maps.at[0].shared || maps.at[0].deleted || maps.at[0].withheld);
	assert_true(maps.at[1].shared && maps.at[1].deleted && maps.at[1].withheld);
	assert_string_equal(maps.at[1].path, "/dev/zero");
	assert_int_equal(maps.at[2].flags, 0);
	assert_string_equal(maps.at[2].path, "");
	assert_string_equal(maps.at[3].path, "[vvar]");
	assert_true(maps.at[3].withheld);
	ins_mappings_free(&maps);
}

static void test_lines_that_are_none_are_skipped(void **state)
{
	(void)state;
	parse("VmFlags: dd\n\nzzz\n10-\n20-10 rwxp 0 0:0 0\n1000-2000 rw-p 0 00:00\n"
	      "1000-2000 rw-p 00000000 00:00 0\n(deleted)\n");
	assert_int_equal(maps.count, 1);
	assert_int_equal(maps.at[0].start, 0x1000);
	ins_mappings_free(&maps);
}

static void test_what_a_process_withholds_is_known(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;
	char *at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned found = 0;
	struct ins_error error;

	(void)state;
	assert_int_equal(madvise(at, page, MADV_DONTDUMP), 0);
	assert_int_equal(ins_mappings_read(getpid(), &maps, &error), 0);
	for (i = 0; i < maps.count; i++)
		if (maps.at[i].start <= (uintptr_t)at && (uintptr_t)at < maps.at[i].end)
			found += maps.at[i].withheld && maps.at[i].flags == (PF_R | PF_W);
	assert_int_equal(found, 1);
	for (i = 1; i < maps.count; i++)
		assert_true(maps.at[i - 1].end <= maps.at[i].start);
	ins_mappings_free(&maps);
	munmap(at, page);
	assert_true(ins_mappings_read(0x7ffffff0, &maps, &error) < 0);
	ins_mappings_free(&maps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_of_smaps_are_taken_apart),
		cmocka_unit_test(test_lines_that_are_none_are_skipped),
		cmocka_unit_test(test_what_a_process_withholds_is_known),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
