/* SPDX-License-Identifier: MIT */
/* test_modules.c - parse /proc/PID/maps, odd lines too, and find modules by address */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/inspect/head.h"
#include "inspect/elf/modules.h"

static struct ins_modules *modules;
static struct ins_problems problems;

static void parse_bytes(const char *text, size_t size)
{
	assert_int_equal(ins_modules_new(0, NULL, NULL, &problems, &modules), 0);
	assert_int_equal(ins_modules_parse_maps(modules, text, size), 0);
	ins_modules_sort(modules);
}

static void parse(const char *text)
{
	parse_bytes(text, strlen(text));
}

static int drop(void **state)
{
	(void)state;
	ins_modules_free(modules);
	modules = NULL;
	ins_problems_free(&problems);
	return 0;
}

static void expect(size_t i, uint64_t start, uint64_t first_end, uint64_t end, const char *path)
{
	assert_true(i < modules->count);
	assert_int_equal(modules->at[i].start, start);
	assert_int_equal(modules->at[i].first_end, first_end);
	assert_int_equal(modules->at[i].end, end);
	assert_string_equal(modules->at[i].path, path);
}

static void test_the_mappings_of_a_file_are_one_module(void **state)
{
	(void)state;
	parse("00400000-00401000 r--p 00000000 08:01 11                 /bin/a\n"
	      "00401000-00405000 r-xp 00001000 08:01 11                 /bin/a\n"
	      "00405000-00406000 rw-p 00004000 08:01 11                 /bin/a\n"
	      "00406000-00407000 rw-p 00000000 00:00 0 \n"
	      "7f0000000000-7f0000001000 r--p 00000000 08:01 12         /lib/b.so\n"
	      "7f0000001000-7f0000002000 rw-p 00000000 00:00 0 \n"
	      "7f0000002000-7f0000003000 rw-p 00001000 08:01 12         /lib/b.so\n"
	      "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0          [stack]\n"
	      "7ffc00030000-7ffc00032000 r-xp 00000000 00:00 0          [vdso]\n"
	      "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]\n");
	assert_int_equal(modules->count, 3);
	expect(0, 0x400000, 0x401000, 0x406000, "/bin/a");
	expect(1, 0x7f0000000000, 0x7f0000001000, 0x7f0000003000, "/lib/b.so");
	expect(2, 0x7ffc00030000, 0x7ffc00032000, 0x7ffc00032000, "[vdso]");
	assert_int_equal(modules->at[0].inode, 11);
}

static void test_odd_paths_are_read_as_the_kernel_writes_them(void **state)
{
	(void)state;
	parse("1000-2000 r--p 00000000 08:01 1 /tmp/with  two spaces \n"
	      "3000-4000 r--p 00000000 08:01 2 /tmp/new\\012line\n"
	      "5000-6000 r--p 00000000 08:01 3 /tmp/gone (deleted)\n"
	      "7000-8000 r--p 00000000 08:01 4 /tmp/called (deleted) (deleted)\n"
	      "9000-a000 r--p 00000000 08:01 5 /tmp/\xff\x1b[2J\n"
	      "b000-c000 r--s 00000000 00:01 6 /memfd:jit (deleted)\n"
	      "d000-e000 r--p 00000000 08:01 7  (deleted)\n");
	assert_int_equal(modules->count, 6);
	expect(0, 0x1000, 0x2000, 0x2000, "/tmp/with  two spaces ");
	expect(1, 0x3000, 0x4000, 0x4000, "/tmp/new\nline");
	expect(2, 0x5000, 0x6000, 0x6000, "/tmp/gone");
	assert_true(modules->at[2].deleted);
	expect(3, 0x7000, 0x8000, 0x8000, "/tmp/called (deleted)");
	assert_true(modules->at[3].deleted);
	expect(4, 0x9000, 0xa000, 0xa000, "/tmp/\xff\x1b[2J");
	assert_false(modules->at[4].deleted);
	expect(5, 0xb000, 0xc000, 0xc000, "/memfd:jit");
}

static void test_a_file_mapped_twice_is_two_modules(void **state)
{
	(void)state;
	parse("1000-2000 r--p 00000000 08:01 1 /lib/x\n"
	      "2000-3000 r-xp 00001000 08:01 1 /lib/x\n"
	      "8000-9000 r--p 00000000 08:01 1 /lib/x\n"
	      "9000-a000 r-xp 00001000 08:01 1 /lib/x\n"
	      /* The same name, but another file. */
	      "a000-b000 r-xp 00001000 08:01 2 /lib/x\n");
	assert_int_equal(modules->count, 2);
	expect(0, 0x1000, 0x2000, 0x3000, "/lib/x");
	expect(1, 0x8000, 0x9000, 0xa000, "/lib/x");
}

static void test_lines_that_are_none_are_skipped(void **state)
{
	static const char bad[] = "\n"
				  "nonsense\n"
				  "1000\n"
				  "1000-\n"
				  "1000-2000\n"
				  "1000-2000 \n"
				  "1000-2000 r--p\n"
				  "1000-2000 r--p \n"
				  "1000-2000 r--p 0\n"
				  "1000-2000 r--p 0 08:01\n"
				  "1000-2000 r--p 0 08:01 \n"
				  "1000-2000 r--p 0 08:01 5\n"
				  "1000-2000 r--p 0 08:01 5 \n"
				  "1000-2000 r--p 0 08:01 5 relative\n"
				  "2000-1000 r--p 0 08:01 5 /backwards\n"
				  "2000-2000 r--p 0 08:01 5 /empty\n"
				  "1000-2000 r--p 0 08:01 5 /with\0nul\n"
				  "fffffffffffffffff-1 r--p 0 08:01 5 /overflow\n"
				  "4000-5000 r--p 0 08:01 5 /good";

	(void)state;
	parse_bytes(bad, sizeof bad - 1);
	assert_int_equal(modules->count, 1);
	expect(0, 0x4000, 0x5000, 0x5000, "/good");
}

static void test_every_beginning_of_the_text_is_survived(void **state)
{
	static const char text[] = "00400000-00401000 r--p 00000000 08:01 11    /bin/a\n"
				   "00401000-00405000 r-xp 00001000 08:01 11    /bin/a (deleted)\n";
	size_t n;

	(void)state;
	for (n = 0; n < sizeof text; n++) {
		char *copy = malloc(n + 1); /* so that ASan sees a read past its end */

		assert_non_null(copy);
		memcpy(copy, text, n);
		parse_bytes(copy, n);
		assert_in_range(modules->count, 0, 1);
		drop(NULL);
		free(copy);
	}
	parse("");
}

static void test_a_line_longer_than_any_path_is_skipped(void **state)
{
	char *text = malloc(40000);
	size_t n;

	(void)state;
	assert_non_null(text);
	n = (size_t)sprintf(text, "1000-2000 r--p 00000000 08:01 1 /");
	memset(text + n, 'x', 30000);
	sprintf(text + n + 30000, "\n3000-4000 r--p 00000000 08:01 2 /short\n");
	parse(text);
	assert_int_equal(modules->count, 1);
	expect(0, 0x3000, 0x4000, 0x4000, "/short");
	free(text);
}

static void test_addresses_are_found_in_their_module_only(void **state)
{
	(void)state;
	parse("1000-2000 r--p 00000000 08:01 1 /nonexistent/a\n"
	      "5000-6000 r--p 00000000 08:01 2 /nonexistent/b\n");
	assert_null(ins_modules_find(modules, 0xfff));
	assert_ptr_equal(ins_modules_find(modules, 0x1000), &modules->at[0]);
	assert_ptr_equal(ins_modules_find(modules, 0x1fff), &modules->at[0]);
	assert_null(ins_modules_find(modules, 0x2000));
	assert_ptr_equal(ins_modules_find(modules, 0x5abc), &modules->at[1]);
	assert_null(ins_modules_find(modules, UINT64_MAX));
}

static void test_more_modules_than_the_limit_are_left_out(void **state)
{
	unsigned i;

	(void)state;
	assert_int_equal(ins_modules_new(0, NULL, NULL, &problems, &modules), 0);
	for (i = 1; i < 70000; i++)
		assert_int_equal(
			ins_modules_add(modules, i * 0x1000ull, i * 0x1000ull + 1, 0, i, "/x"), 0);
	assert_int_equal(modules->count, 65536);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_the_mappings_of_a_file_are_one_module, drop),
		cmocka_unit_test_teardown(test_odd_paths_are_read_as_the_kernel_writes_them, drop),
		cmocka_unit_test_teardown(test_a_file_mapped_twice_is_two_modules, drop),
		cmocka_unit_test_teardown(test_lines_that_are_none_are_skipped, drop),
		cmocka_unit_test_teardown(test_every_beginning_of_the_text_is_survived, drop),
		cmocka_unit_test_teardown(test_a_line_longer_than_any_path_is_skipped, drop),
		cmocka_unit_test_teardown(test_addresses_are_found_in_their_module_only, drop),
		cmocka_unit_test_teardown(test_more_modules_than_the_limit_are_left_out, drop),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
