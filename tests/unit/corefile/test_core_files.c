/* SPDX-License-Identifier: MIT */
/* test_core_files.c - mapped files of a core: with names, without names, and corrupt lists */
#include <stdio.h>
#include <string.h>

#include "tests/harness/inspect/elf_bytes.h"
#include "tests/harness/inspect/head.h"
#include "inspect/corefile/core.h"
#include "tests/harness/paths.h"

#define IMAGE UINT64_C(0x7f0000000000)

static struct elf_bytes elf;
static char path[HARNESS_PATH];
static struct ins_core core;
static struct ins_modules *modules;
static struct ins_problems problems;
static uint64_t list_at;
static uint32_t list_size;

/*
 * A list of two files, one with two mappings, and memory with an image that the list does not name.
 */
static void make(void)
{
	static const struct {
		uint64_t count, page;
		uint64_t at[3][3];
		char names[64];
	} list = {3,
		  4096,
		  {{0x400000, 0x401000, 0}, {0x500000, 0x502000, 0}, {0x402000, 0x404000, 2}},
		  "/bin/first\0/lib/second (deleted)\0/bin/first"};
	Elf64_Ehdr *eh;
	uint64_t notes, at;

	elf_start(&elf, ET_CORE);
	notes = elf_append(&elf, NULL, 0);
	list_size = sizeof list;
	list_at = elf_note(&elf, "CORE", NT_FILE, &list, list_size);
	elf_add(&elf, PT_NOTE, notes, 0, elf.size - notes);
	at = elf_append(&elf, NULL, 0x1000);
	eh = (Elf64_Ehdr *)(elf.at + at);
	*eh = *elf_header(&elf);
	eh->e_type = ET_DYN;
	eh->e_phnum = 1;
	*(Elf64_Phdr *)(eh + 1) =
		(Elf64_Phdr){.p_type = PT_LOAD, .p_memsz = 0x3000, .p_filesz = 0x3000};
	elf_add(&elf, PT_LOAD, at, IMAGE, 0x1000);
}

static void read_modules(void)
{
	struct ins_error error = {""};

	elf_write(&elf, path, elf.size);
	assert_int_equal(ins_modules_new(0, NULL, NULL, &problems, &modules), 0);
	if (ins_core_open(path, &error, &core) == 0) {
		assert_int_equal(ins_core_modules(&core, modules), 0);
		ins_core_close(&core);
	}
}

static void test_files_are_those_of_the_note_and_those_only_memory_shows(void **state)
{
	(void)state;
	make();
	read_modules();
	assert_int_equal(modules->count, 3);
	assert_string_equal(modules->at[0].path, "/bin/first");
	assert_int_equal(modules->at[0].start, 0x400000);
	assert_string_equal(modules->at[1].path, "/lib/second");
	assert_true(modules->at[1].deleted);
	assert_string_equal(modules->at[2].path, "");
	assert_int_equal(modules->at[2].start, IMAGE);
	assert_int_equal(modules->at[2].end, IMAGE + 0x3000);
	ins_modules_free(modules);
}

static void test_the_vdso_is_known_by_its_address(void **state)
{
	const Elf64_auxv_t auxv[] = {{AT_SYSINFO_EHDR, {IMAGE}}, {AT_NULL, {0}}};
	uint64_t notes;

	(void)state;
	make();
	notes = elf_append(&elf, NULL, 0);
	elf_note(&elf, "CORE", NT_AUXV, auxv, sizeof auxv);
	elf_add(&elf, PT_NOTE, notes, 0, elf.size - notes);
	read_modules();
	assert_int_equal(modules->count, 3);
	assert_string_equal(modules->at[2].path, "[vdso]");
	ins_modules_free(modules);
}

static void test_a_list_that_lies_gives_what_it_can(void **state)
{
	static const uint64_t counts[] = {0, 4, 1000, UINT64_MAX, UINT64_MAX / 24, INT64_MAX};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof counts / sizeof counts[0]; i++) {
		make();
		memcpy(elf.at + list_at, &counts[i], 8);
		read_modules();
		assert_in_range(modules->count, 1, 3);
		ins_modules_free(modules);
	}
	/* Names without a terminating NUL. */
	make();
	memset(elf.at + list_at + 16 + 72, 'x', list_size - 88);
	read_modules();
	assert_int_equal(modules->count, 1);
	ins_modules_free(modules);
}

static void test_every_flipped_byte_of_the_list_is_survived(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < list_size; i++) {
		make();
		elf.at[list_at + i] ^= 0xff;
		read_modules();
		ins_modules_free(modules);
		make();
		elf.at[list_at + i] = 0x80;
		read_modules();
		ins_modules_free(modules);
	}
}

static int start(void **state)
{
	(void)state;
	harness_file(path, "core");
	make();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files_are_those_of_the_note_and_those_only_memory_shows),
		cmocka_unit_test(test_the_vdso_is_known_by_its_address),
		cmocka_unit_test(test_a_list_that_lies_gives_what_it_can),
		cmocka_unit_test(test_every_flipped_byte_of_the_list_is_survived),
	};

	return HEAD_RUN(tests, start, NULL);
}
