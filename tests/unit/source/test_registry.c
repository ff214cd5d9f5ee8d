/* SPDX-License-Identifier: MIT */
/* test_registry.c - from a module's note to a registry that is plausible */
#include <errno.h>
#include <string.h>

#include "tests/harness/inspect/elf_bytes.h"
#include "tests/harness/inspect/head.h"
#include "inspect/source/registry.h"
#include "tests/harness/inspect/room.h"
#include "tests/harness/inspect/rows.h"

#define BASE	 UINT64_C(0x7f0000000000)
#define DISTANCE INT64_C(-0x100000) /* the registry may be below or above its note */

static struct elf_bytes elf;
static struct room room;
static struct fib_layout layout, found;
static struct ins_error error;
static struct ins_modules *modules;
static uint64_t note_at;

static void make(void)
{
	const struct fib_layout_note note = {DISTANCE};
	uint64_t notes;

	elf_start(&elf, ET_DYN);
	notes = elf_append(&elf, NULL, 0);
	note_at = elf_note(&elf, FIB_LAYOUT_NOTE_NAME, FIB_LAYOUT_NOTE_TYPE, &note, sizeof note);
	elf_add(&elf, PT_LOAD, 0, 0, elf.size);
	elf_add(&elf, PT_NOTE, notes, notes, elf.size - notes);
	rows_layout(&layout);
	memset(&room, 0, sizeof room);
	room_add(&room, BASE, elf.at, elf.size);
	room_add(&room, BASE + note_at + (uint64_t)DISTANCE, &layout, sizeof layout);
}

static int find(void)
{
	int rc;

	assert_int_equal(ins_modules_new(0, room_read, &room, NULL, &modules), 0);
	assert_int_equal(ins_modules_add(modules, BASE, BASE + 0x1000, 0, 1, "/nonexistent/a"), 0);
	ins_modules_sort(modules);
	error.text[0] = 0;
	rc = ins_registry_find(modules, &found, &error);
	ins_modules_free(modules);
	return rc;
}

static void expect_error(int rc, const char *why)
{
	assert_int_equal(find(), rc);
	if (!strstr(error.text, why))
		print_error("'%s' is not in '%s'\n", why, error.text);
	assert_non_null(strstr(error.text, why));
}

static void test_the_note_leads_to_the_registry(void **state)
{
	(void)state;
	make();
	assert_int_equal(find(), 0);
	assert_memory_equal(&found, &layout, sizeof layout);
}

/*
 * A program from before the last fields were added; its registry is at the very end of its memory.
 */
static void test_a_shorter_registry_is_read_as_far_as_it_goes(void **state)
{
	(void)state;
	make();
	layout.size = FIB_LAYOUT_SIZE_1 + 4;
	layout.registers[0].number = 77;
	room.piece[1].size = FIB_LAYOUT_SIZE_1 + 4;
	memset(&found, 0xff, sizeof found);
	assert_int_equal(find(), 0);
	assert_memory_equal(&found, &layout, FIB_LAYOUT_SIZE_1 + 4);
	assert_int_equal(found.registers[0].number, 0);
	/* A size larger than the memory. */
	layout.size = UINT32_MAX;
	expect_error(-ENODATA, "cannot be read");
}

static void test_a_program_without_the_note_has_no_fibers(void **state)
{
	(void)state;
	make();
	elf.at[note_at - 8] = 'F';
	expect_error(-ENOENT, "not a fiber program");
	make();
	elf_header(&elf)->e_phnum = 1;
	expect_error(-ENOENT, "not a fiber program");
}

static void test_a_registry_that_is_not_there_is_named(void **state)
{
	(void)state;
	make();
	room.pieces = 1;
	expect_error(-ENODATA, "cannot be read");
	make();
	memset(layout.magic, 0, sizeof layout.magic);
	expect_error(-ENODATA, "no fiber runtime has been started yet");
	make();
	layout.magic[0] = 'x';
	expect_error(-ENODATA, "magic");
}

static void test_a_registry_that_makes_no_sense_is_refused(void **state)
{
	(void)state;
	make();
	layout.version++;
	expect_error(-ENODATA, "version");
	make();
	layout.record_size = 1 << 20;
	expect_error(-ENODATA, "record size");
	make();
	layout.committed = layout.capacity + 1;
	expect_error(-ENODATA, "number of records");
	make();
	layout.fields[FIB_FIELD_ID].offset = (uint16_t)layout.record_size;
	expect_error(-ENODATA, "outside its record");
	make();
	layout.fields[FIB_FIELD_SEQ].size = 0;
	expect_error(-ENODATA, "lacks a field");
	make();
	memset(layout.program, 'x', sizeof layout.program);
	expect_error(-ENODATA, "not terminated");
}

static void test_fibers_of_another_machine_are_refused_by_name(void **state)
{
	(void)state;
	make();
	layout.machine = EM_RISCV;
	expect_error(-ENODATA, "riscv");
	/* EM_NONE is the generic port's machine; its stacks are not walked. */
	make();
	layout.machine = EM_NONE;
	layout.recipe = FIB_RECIPE_NONE;
	assert_int_equal(find(), 0);
	make();
	layout.machine = EM_NONE;
	expect_error(-ENODATA, "machine 0");
}

static void test_the_registry_that_is_used_is_taken_of_several(void **state)
{
	struct fib_layout unused = {0};
	struct elf_bytes first;

	(void)state;
	make();
	first = elf;
	room_add(&room, BASE - 0x1000000, first.at, first.size);
	room_add(&room, BASE - 0x1000000 + note_at + (uint64_t)DISTANCE, &unused, sizeof unused);
	assert_int_equal(ins_modules_new(0, room_read, &room, NULL, &modules), 0);
	ins_modules_add(modules, BASE - 0x1000000, BASE - 0x1000000 + 0x1000, 0, 1,
			"/nonexistent/b");
	ins_modules_add(modules, BASE, BASE + 0x1000, 0, 1, "/nonexistent/a");
	ins_modules_sort(modules);
	assert_int_equal(ins_registry_find(modules, &found, &error), 0);
	assert_memory_equal(&found, &layout, sizeof layout);
	ins_modules_free(modules);
}

static void test_every_flipped_byte_is_survived(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < elf.size; i++) {
		make();
		elf.at[i] ^= 0xff;
		if (find() < 0)
			assert_true(error.text[0] != 0);
	}
	for (i = 0; i < sizeof layout; i++) {
		make();
		((unsigned char *)&layout)[i] ^= 0xff;
		if (find() < 0)
			assert_true(error.text[0] != 0);
	}
}

static struct ins_problems problems;

/*
 * There is a second registry in another module. The registry with running carriers is shown; the
 * other is a problem.
 */
static int find_of_two(uint32_t first_runs, uint32_t second_runs, const char *expected)
{
	const uint64_t other = BASE + 0x1000000;
	struct fib_layout second;
	int rc;

	make();
	second = layout;
	layout.carriers = first_runs;
	second.carriers = second_runs;
	strcpy(layout.program, "first");
	strcpy(second.program, "second");
	room_add(&room, other, elf.at, elf.size);
	room_add(&room, other + note_at + (uint64_t)DISTANCE, &second, sizeof second);
	assert_int_equal(ins_modules_new(0, room_read, &room, NULL, &modules), 0);
	assert_int_equal(ins_modules_add(modules, BASE, BASE + 0x1000, 0, 1, "/nonexistent/a"), 0);
	assert_int_equal(ins_modules_add(modules, other, other + 0x1000, 0, 2, "/nonexistent/b"),
			 0);
	ins_modules_sort(modules);
	modules->problems = &problems;
	rc = ins_registry_find(modules, &found, &error);
	ins_modules_free(modules);
	if (rc == 0)
		assert_string_equal(found.program, expected);
	return rc;
}

static void expect_said(const char *path)
{
	char text[512], wanted[512];

	snprintf(wanted, sizeof wanted,
		 "the fibers of /nonexistent/%s, which has a registry of its own, are not shown: "
		 "--module %s shows those",
		 path, path);
	assert_int_equal(ins_problems_lines(&problems), 1);
	assert_string_equal(ins_problems_text(&problems, 0, text, sizeof text), wanted);
	ins_problems_free(&problems);
}

static void test_of_two_registries_the_one_whose_carriers_run_is_shown(void **state)
{
	(void)state;
	assert_int_equal(find_of_two(2, 0, "first"), 0);
	assert_int_equal(find_of_two(0, 2, "second"), 0);
	assert_int_equal(find_of_two(0, 0, "first"), 0);
	assert_int_equal(ins_problems_lines(&problems), 0);
	assert_int_equal(find_of_two(1, 2, "first"), 0);
	expect_said("b");
}

static void test_of_two_registries_the_chosen_one_is_shown(void **state)
{
	(void)state;
	ins_registry_choose("b");
	assert_int_equal(find_of_two(1, 2, "second"), 0);
	ins_registry_choose("/nonexistent/b");
	assert_int_equal(find_of_two(1, 0, "second"), 0);
	ins_registry_choose("a");
	assert_int_equal(find_of_two(1, 2, "first"), 0);
	/* The chosen module is shown, so nothing is reported. */
	assert_int_equal(ins_problems_lines(&problems), 0);
	ins_registry_choose("c");
	assert_int_equal(find_of_two(1, 2, NULL), -ENODATA);
	assert_string_equal(error.text,
			    "no module of it is c and has a fiber registry; there is one in a, b");
	ins_registry_choose(NULL);
}

/* A corrupt second registry is not reported, and a registry is never looked up in a file. */
static void test_another_registry_that_makes_no_sense_is_not_told_of(void **state)
{
	const uint64_t other = BASE + 0x1000000;
	struct fib_layout broken;

	(void)state;
	make();
	layout.carriers = 1;
	broken = layout;
	broken.version++;
	room_add(&room, other, elf.at, elf.size);
	room_add(&room, other + note_at + (uint64_t)DISTANCE, &broken, sizeof broken);
	assert_int_equal(ins_modules_new(0, room_read, &room, &problems, &modules), 0);
	ins_modules_add(modules, BASE, BASE + 0x1000, 0, 1, "/nonexistent/a");
	ins_modules_add(modules, other, other + 0x1000, 0, 2, "/nonexistent/b");
	ins_modules_add(modules, 2 * other, 2 * other + 0x1000, 0, 3, "/nonexistent/c");
	ins_modules_sort(modules);
	assert_int_equal(ins_registry_find(modules, &found, &error), 0);
	assert_int_equal(ins_problems_lines(&problems), 0);
	assert_false(modules->at[2].looked);
	ins_modules_free(modules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_note_leads_to_the_registry),
		cmocka_unit_test(test_a_shorter_registry_is_read_as_far_as_it_goes),
		cmocka_unit_test(test_a_program_without_the_note_has_no_fibers),
		cmocka_unit_test(test_a_registry_that_is_not_there_is_named),
		cmocka_unit_test(test_a_registry_that_makes_no_sense_is_refused),
		cmocka_unit_test(test_fibers_of_another_machine_are_refused_by_name),
		cmocka_unit_test(test_the_registry_that_is_used_is_taken_of_several),
		cmocka_unit_test(test_every_flipped_byte_is_survived),
		cmocka_unit_test(test_of_two_registries_the_one_whose_carriers_run_is_shown),
		cmocka_unit_test(test_of_two_registries_the_chosen_one_is_shown),
		cmocka_unit_test(test_another_registry_that_makes_no_sense_is_not_told_of),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
