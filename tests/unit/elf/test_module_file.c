/* SPDX-License-Identifier: MIT */
/* test_module_file.c - a file is used only if it is the one that is mapped */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/inspect/elf_bytes.h"
#include "tests/harness/inspect/head.h"
#include "inspect/process/memory.h"
#include "inspect/elf/modules.h"
#include "inspect/text/read_file.h"
#include "tests/harness/inspect/room.h"
#include "tests/harness/paths.h"

#define BASE  UINT64_C(0x7f0000000000)
#define VADDR UINT64_C(0x1000)

static struct ins_problems problems;
static struct ins_error error;
static char path[HARNESS_PATH];
static struct elf_bytes elf;

/* A library of one segment with a build-id that begins with `id`. */
static void make(unsigned char id)
{
	const unsigned char contents[4] = {id, 2, 3, 4};
	uint64_t notes;

	elf_start(&elf, ET_DYN);
	notes = elf_append(&elf, NULL, 0);
	elf_note(&elf, "GNU", NT_GNU_BUILD_ID, contents, sizeof contents);
	elf_add(&elf, PT_LOAD, 0, VADDR, elf.size);
	elf_add(&elf, PT_NOTE, notes, VADDR + notes, elf.size - notes);
}

static struct ins_modules *module_at_path(fib_read_fn *read, void *reader)
{
	struct ins_modules *modules;

	assert_int_equal(ins_modules_new(0, read, reader, &problems, &modules), 0);
	assert_int_equal(ins_modules_add(modules, BASE, BASE + 0x1000, 0, 1, path), 0);
	ins_modules_sort(modules);
	return modules;
}

static int read_self(void *memory, uint64_t address, void *buf, size_t size)
{
	const struct ins_memory_piece piece = {address, buf, size};

	return ins_memory_read(memory, &piece, 1);
}

static void test_the_modules_of_this_process_are_found_with_their_files(void **state)
{
	struct ins_memory memory = {.pid = getpid(), .file = -1};
	struct ins_modules *modules;
	struct ins_module *m;
	char *text, byte;
	size_t size;

	(void)state;
	assert_int_equal(ins_read_file("/proc/self/maps", &text, &size), 0);
	assert_int_equal(ins_modules_new(getpid(), read_self, &memory, &problems, &modules), 0);
	assert_int_equal(ins_modules_parse_maps(modules, text, size), 0);
	free(text);
	ins_modules_sort(modules);
	m = ins_modules_find(
		modules,
		(uint64_t)(uintptr_t)test_the_modules_of_this_process_are_found_with_their_files);
	assert_non_null(m);
	assert_true(m->known && m->bytes && !m->unsure);
	assert_non_null(strstr(m->path, "test_module_file"));
	/* Code is read from the file, and equals the code in memory. */
	assert_int_equal(ins_modules_read(modules, (uint64_t)(uintptr_t)read_self, &byte, 1, false),
			 0);
	assert_int_equal(byte, *(const char *)(uintptr_t)read_self);
	/* Bytes of a writable segment are returned, as linked, only on request. */
	assert_int_equal(ins_modules_read(modules, (uint64_t)(uintptr_t)&problems, &byte, 1, false),
			 -EFAULT);
	m = ins_modules_find(modules, (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "printf"));
	assert_true(m && m->known && m->bytes);
	ins_modules_free(modules);
}

static void test_another_build_id_is_another_file(void **state)
{
	struct room room = {0};
	struct ins_modules *modules;
	struct elf_bytes memory;

	(void)state;
	make(1);
	memory = elf;
	room_add(&room, BASE, memory.at, memory.size);
	make(9);
	elf_write(&elf, path, elf.size);
	modules = module_at_path(room_read, &room);
	assert_true(ins_modules_look(modules, &modules->at[0]));
	assert_null(modules->at[0].bytes);
	assert_true(modules->at[0].other);
	/* A file with another build-id cannot be given either. */
	assert_int_equal(ins_modules_give(modules, &modules->at[0], path, &error), -EINVAL);
	assert_non_null(strstr(error.text, "build-id"));
	/* A file with the right build-id can be given. */
	make(1);
	elf_write(&elf, path, elf.size);
	assert_int_equal(ins_modules_give(modules, &modules->at[0], path, &error), 0);
	assert_non_null(modules->at[0].bytes);
	assert_int_equal(modules->at[0].bias, BASE - VADDR);
	ins_modules_free(modules);
}

static void test_without_memory_the_file_is_used_and_said_aloud(void **state)
{
	struct ins_modules *modules;
	char text[1024];

	(void)state;
	make(1);
	elf_write(&elf, path, elf.size);
	modules = module_at_path(NULL, NULL);
	assert_int_equal(ins_problems_lines(&problems), 0);
	assert_non_null(ins_modules_find(modules, BASE));
	assert_int_equal(ins_problems_lines(&problems), 1);
	assert_non_null(strstr(ins_problems_text(&problems, 0, text, sizeof text), path));
	assert_int_equal(modules->at[0].bias, BASE - VADDR);
	/* The problem is reported once. */
	ins_modules_find(modules, BASE + 8);
	assert_int_equal(ins_problems_lines(&problems), 1);
	assert_null(strstr(ins_problems_text(&problems, 0, text, sizeof text), "times"));
	ins_modules_free(modules);
	ins_problems_free(&problems);
}

static void test_a_file_of_another_machine_is_no_file_of_it(void **state)
{
	struct ins_modules *modules;

	(void)state;
	make(1);
	elf_header(&elf)->e_machine = EM_AARCH64;
	elf_write(&elf, path, elf.size);
	modules = module_at_path(NULL, NULL);
	assert_false(ins_modules_look(modules, &modules->at[0]));
	assert_null(modules->at[0].bytes);
	assert_int_equal(ins_modules_give(modules, &modules->at[0], path, &error), -EINVAL);
	assert_non_null(strstr(error.text, "arm64"));
	ins_modules_free(modules);
}

static void test_what_is_no_file_is_not_opened(void **state)
{
	struct ins_modules *modules;

	(void)state;
	/* Opening a FIFO for reading would be noticed by a process that opens it for writing. */
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	modules = module_at_path(NULL, NULL);
	assert_false(ins_modules_look(modules, &modules->at[0]));
	assert_int_equal(ins_modules_give(modules, &modules->at[0], path, &error), -EINVAL);
	assert_int_equal(ins_modules_give(modules, &modules->at[0], "/dev/zero", &error), -EINVAL);
	assert_int_equal(ins_modules_give(modules, &modules->at[0], "/", &error), -EINVAL);
	assert_int_equal(ins_modules_give(modules, &modules->at[0], "/nonexistent", &error),
			 -EINVAL);
	assert_non_null(strstr(error.text, "No such file"));
	assert_int_equal(open(path, O_WRONLY | O_NONBLOCK), -1);
	assert_int_equal(errno, ENXIO);
	ins_modules_free(modules);
	unlink(path);
}

static void test_a_file_cut_at_every_length_and_flipped_everywhere_is_survived(void **state)
{
	struct ins_modules *modules;
	size_t i, k, whole;
	char buf[32];

	(void)state;
	make(1);
	whole = elf.size;
	for (i = 0; i <= whole; i++) {
		make(1);
		if (i < whole)
			elf.at[i] ^= 0xff;
		for (k = 0; k < 2; k++) {
			elf_write(&elf, path, k ? i : whole);
			modules = module_at_path(NULL, NULL);
			ins_modules_look(modules, &modules->at[0]);
			ins_modules_read(modules, BASE, buf, sizeof buf, true);
			ins_modules_read(modules, BASE + elf.size - 1, buf, sizeof buf, true);
			ins_modules_read(modules, BASE + 0xff0, buf, sizeof buf, true);
			ins_modules_free(modules);
		}
	}
	ins_problems_free(&problems);
}

static int start(void **state)
{
	(void)state;
	harness_file(path, "library.so");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_modules_of_this_process_are_found_with_their_files),
		cmocka_unit_test(test_another_build_id_is_another_file),
		cmocka_unit_test(test_without_memory_the_file_is_used_and_said_aloud),
		cmocka_unit_test(test_a_file_of_another_machine_is_no_file_of_it),
		cmocka_unit_test(test_what_is_no_file_is_not_opened),
		cmocka_unit_test(
			test_a_file_cut_at_every_length_and_flipped_everywhere_is_survived),
	};

	return HEAD_RUN(tests, start, NULL);
}
