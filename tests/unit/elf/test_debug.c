/* SPDX-License-Identifier: MIT */
/* test_debug.c - modules are reported to libdw once, and only those that have a file */
#include <stdlib.h>
#include <unistd.h>

#include "tests/harness/inspect/elf_bytes.h"
#include "tests/harness/inspect/head.h"
#include "inspect/elf/debug.h"
#include "inspect/process/memory.h"
#include "inspect/text/read_file.h"
#include "tests/harness/paths.h"

static struct ins_memory memory;
static struct ins_problems problems;

static int read_self(void *reader, uint64_t address, void *buf, size_t size)
{
	const struct ins_memory_piece piece = {address, buf, size};

	return ins_memory_read(reader, &piece, 1);
}

static struct ins_modules *own_modules(void)
{
	struct ins_modules *modules;
	char *text;
	size_t size;

	memory = (struct ins_memory){.pid = getpid(), .file = -1};
	assert_int_equal(ins_read_file("/proc/self/maps", &text, &size), 0);
	assert_int_equal(ins_modules_new(getpid(), read_self, &memory, &problems, &modules), 0);
	assert_int_equal(ins_modules_parse_maps(modules, text, size), 0);
	free(text);
	ins_modules_sort(modules);
	return modules;
}

static void test_a_module_is_reported_when_first_needed_and_once(void **state)
{
	struct ins_modules *modules = own_modules();
	struct ins_module *m = ins_modules_find(modules, (uintptr_t)own_modules);
	Dwfl_Module *first;

	(void)state;
	assert_non_null(m);
	assert_null(modules->debug);
	first = ins_debug_module(modules, m);
	assert_non_null(first);
	assert_ptr_equal(ins_debug_module(modules, m), first);
	assert_ptr_equal(dwfl_addrmodule(ins_debug_session(modules), (uintptr_t)own_modules),
			 first);
	/* Reporting the other modules does not remove this one. */
	ins_debug_all(modules);
	assert_ptr_equal(ins_debug_module(modules, m), first);
	assert_ptr_equal(dwfl_addrmodule(modules->debug, (uintptr_t)own_modules), first);
	assert_non_null(dwfl_addrmodule(modules->debug, (uintptr_t)getpid));
	ins_modules_free(modules);
}

static void test_a_module_without_a_file_is_not_reported(void **state)
{
	struct ins_modules *modules;

	(void)state;
	assert_int_equal(ins_modules_new(0, NULL, NULL, &problems, &modules), 0);
	ins_modules_add(modules, 0x1000, 0x2000, 0, 1, "/nonexistent/library");
	ins_modules_sort(modules);
	ins_debug_all(modules);
	assert_null(ins_debug_module(modules, ins_modules_find(modules, 0x1000)));
	ins_modules_free(modules);
	/* Without a session there is nothing to free. */
	assert_int_equal(ins_modules_new(0, NULL, NULL, &problems, &modules), 0);
	ins_debug_free(modules);
	ins_modules_free(modules);
}

static void test_a_file_that_libdw_cannot_read_is_no_module_and_no_crash(void **state)
{
	static struct elf_bytes elf;
	struct ins_modules *modules;
	char path[HARNESS_PATH];
	size_t i;

	(void)state;
	harness_file(path, "spoilt.so");
	for (i = 0; i < 300; i++) {
		elf_start(&elf, ET_DYN);
		elf_add(&elf, PT_LOAD, 0, 0, 0x1000);
		elf_append(&elf, "text", 4);
		if (i >= 16)
			elf.at[i] ^= (unsigned char)(1u << (i % 8));
		elf_write(&elf, path, elf.size);
		assert_int_equal(ins_modules_new(0, NULL, NULL, &problems, &modules), 0);
		ins_modules_add(modules, 0x100000, 0x101000, 0, 1, path);
		ins_modules_sort(modules);
		ins_debug_all(modules);
		ins_debug_module(modules, &modules->at[0]);
		ins_modules_free(modules);
	}
	ins_problems_free(&problems);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_module_is_reported_when_first_needed_and_once),
		cmocka_unit_test(test_a_module_without_a_file_is_not_reported),
		cmocka_unit_test(test_a_file_that_libdw_cannot_read_is_no_module_and_no_crash),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
