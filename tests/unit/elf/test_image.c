/* SPDX-License-Identifier: MIT */
/* test_image.c - parse ELF headers from arbitrary bytes */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness/inspect/elf_bytes.h"
#include "tests/harness/inspect/head.h"
#include "inspect/elf/image.h"
#include "tests/harness/inspect/room.h"

#define BASE	  UINT64_C(0x7f0000001000)
#define VADDR	  UINT64_C(0x400000)
#define NOTE_TYPE 7u

static struct elf_bytes elf;
static struct ins_image image;

/* A library with a build-id and another note, mapped at BASE. */
static void make(void)
{
	uint64_t begin, contents;

	elf_start(&elf, ET_DYN);
	begin = elf_append(&elf, NULL, 0);
	contents = elf_note(&elf, "GNU", NT_GNU_BUILD_ID, "\x01\x02\x03\x04\x05", 5);
	assert_true(contents > begin);
	elf_note(&elf, "fiber", NOTE_TYPE, "12345678", 8);
	elf_add(&elf, PT_LOAD, 0, VADDR, elf.size);
	elf_add(&elf, PT_NOTE, begin, VADDR + begin, elf.size - begin);
}

static const char *read_at(uint64_t base, bool loaded)
{
	struct room room = {0};

	room_add(&room, base, elf.at, elf.size);
	return ins_image_read(&image, room_read, &room, base, loaded);
}

static void test_headers_and_build_id_are_read_from_memory_and_file(void **state)
{
	static const unsigned char id[] = {1, 2, 3, 4, 5};

	(void)state;
	make();
	assert_null(read_at(BASE, true));
	assert_int_equal(image.segments, 2);
	assert_int_equal(image.type, ET_DYN);
	assert_int_equal(image.bias, BASE - VADDR);
	assert_int_equal(image.build_id_size, 5);
	assert_memory_equal(image.build_id, id, 5);
	assert_null(read_at(0, false));
	assert_int_equal(image.bias, 0);
	assert_int_equal(image.build_id_size, 5);
}

static void test_a_note_is_found_by_name_and_type_with_its_address(void **state)
{
	struct room room = {0};
	char contents[12];
	uint64_t address;
	uint32_t size;

	(void)state;
	make();
	assert_null(read_at(BASE, true));
	room_add(&room, BASE, elf.at, elf.size);
	memset(contents, '#', sizeof contents);
	assert_int_equal(ins_image_note(&image, room_read, &room, "fiber", NOTE_TYPE, contents,
					sizeof contents, &address, &size),
			 0);
	assert_int_equal(size, 8);
	assert_memory_equal(contents, "12345678\0\0\0", sizeof contents);
	assert_int_equal(memcmp(elf.at + (address - BASE), "12345678", 8), 0);
	assert_int_equal(ins_image_note(&image, room_read, &room, "fiber", NOTE_TYPE + 1, contents,
					sizeof contents, &address, &size),
			 -ENOENT);
	assert_int_equal(ins_image_note(&image, room_read, &room, "fibe", NOTE_TYPE, contents,
					sizeof contents, &address, &size),
			 -ENOENT);
}

/* As mold writes it: the second note begins 36 bytes behind the first, the segment says 8. */
static void test_a_note_is_found_behind_one_of_a_smaller_alignment_than_the_segment(void **state)
{
	struct room room = {0};
	char contents[8];
	uint64_t begin, address;
	uint32_t size;

	(void)state;
	elf_start(&elf, ET_DYN);
	begin = elf_append(&elf, NULL, 0);
	elf_note(&elf, "GNU", NT_GNU_BUILD_ID, "12345678901234567890", 20);
	elf_note(&elf, "fiber", NOTE_TYPE, "contents", 8);
	elf_add(&elf, PT_LOAD, 0, VADDR, elf.size);
	elf_add(&elf, PT_NOTE, begin, VADDR + begin, elf.size - begin);
	elf_segment(&elf, 1)->p_align = 8;
	assert_null(read_at(BASE, true));
	assert_int_equal(image.build_id_size, 20);
	room_add(&room, BASE, elf.at, elf.size);
	assert_int_equal(ins_image_note(&image, room_read, &room, "fiber", NOTE_TYPE, contents,
					sizeof contents, &address, &size),
			 0);
	assert_memory_equal(contents, "contents", 8);
}

static void test_foreign_files_are_named(void **state)
{
	(void)state;
	make();
	elf.at[0] = 'M';
	assert_string_equal(read_at(0, false), "is not an ELF file");
	make();
	elf_header(&elf)->e_ident[EI_CLASS] = ELFCLASS32;
	assert_non_null(strstr(read_at(0, false), "32-bit"));
	make();
	elf_header(&elf)->e_ident[EI_DATA] = 3;
	assert_non_null(strstr(read_at(0, false), "byte order"));
	make();
	elf_header(&elf)->e_ident[EI_CLASS] = 9;
	assert_non_null(read_at(0, false));
	make();
	elf_header(&elf)->e_phnum = INS_IMAGE_SEGMENTS + 1;
	assert_non_null(read_at(0, false));
	make();
	elf_header(&elf)->e_phnum = 0;
	assert_non_null(read_at(0, false));
	make();
	elf_header(&elf)->e_phentsize = 3;
	assert_non_null(read_at(0, false));
	make();
	elf_header(&elf)->e_phoff = UINT64_MAX - 8;
	assert_non_null(read_at(0, false));
	make();
	elf_segment(&elf, 0)->p_offset = 0x100000;
	assert_non_null(read_at(BASE, true));
}

/* Make the image one of the other byte order. */
static void turn(void)
{
	const unsigned segments = elf_header(&elf)->e_phnum;
	uint64_t at = elf_segment(&elf, 1)->p_offset, end = at + elf_segment(&elf, 1)->p_filesz;
	unsigned i;

	while (at < end) {
		Elf64_Nhdr *nh = (Elf64_Nhdr *)(elf.at + at);

		at += sizeof *nh + ((nh->n_namesz + 3) & ~3u) + ((nh->n_descsz + 3) & ~3u);
		ins_swap_members(nh, INS_SWAP_NHDR);
	}
	for (i = 0; i < segments; i++)
		ins_swap_members(elf_segment(&elf, i), INS_SWAP_PHDR);
	ins_swap_members(elf_header(&elf), INS_SWAP_EHDR);
	elf_header(&elf)->e_ident[EI_DATA] ^= ELFDATA2LSB ^ ELFDATA2MSB;
}

static void test_headers_and_notes_of_the_other_byte_order_are_converted(void **state)
{
	static const unsigned char id[] = {1, 2, 3, 4, 5};

	(void)state;
	make();
	elf_header(&elf)->e_machine = EM_S390;
	turn();
	assert_null(read_at(BASE, true));
	assert_int_equal(image.machine.number, EM_S390);
	assert_true(image.machine.swapped);
	assert_int_equal(image.segments, 2);
	assert_int_equal(image.type, ET_DYN);
	assert_int_equal(image.bias, BASE - VADDR);
	assert_int_equal(image.build_id_size, 5);
	assert_memory_equal(image.build_id, id, 5);
}

static void test_every_length_and_every_flipped_byte_is_survived(void **state)
{
	const size_t whole = (make(), elf.size);
	size_t i;

	(void)state;
	for (i = 0; i < whole; i++) {
		make();
		elf.size = i;
		read_at(BASE, true);
		make();
		elf.at[i] ^= 0xff;
		read_at(BASE, true);
		assert_in_range(image.segments, 0, INS_IMAGE_SEGMENTS);
		assert_in_range(image.build_id_size, 0, INS_BUILD_ID_MAX);
		read_at(0, false);
		make();
		elf.at[i] = 0xff;
		read_at(BASE, true);
	}
}

static void test_notes_whose_sizes_lie_end_the_search(void **state)
{
	struct {
		Elf64_Nhdr nh;
		char rest[52];
	} bytes = {{6, 8, 1}, "fiber\0\0\0contents"};
	static const uint32_t sizes[] = {0, 1, 17, 64, 0x7fffffff, 0xfffffffc, 0xffffffff};
	struct room room = {0};
	struct ins_notes notes;
	struct ins_note note;
	size_t i, k;

	(void)state;
	room_add(&room, BASE, &bytes, sizeof bytes);
	for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		for (k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
			unsigned steps = 0;

			bytes.nh.n_namesz = sizes[i];
			bytes.nh.n_descsz = sizes[k];
			notes = (struct ins_notes){BASE, BASE + sizeof bytes, 4, false};
			while (ins_note_next(room_read, &room, &notes, &note)) {
				assert_in_range(note.at, BASE, BASE + sizeof bytes);
				assert_in_range(note.size, 0, BASE + sizeof bytes - note.at);
				assert_true(++steps < 10);
			}
		}
	}
	/* The end is before the start, as from an overflowed sum. */
	notes = (struct ins_notes){BASE, 5, 4, false};
	assert_false(ins_note_next(room_read, &room, &notes, &note));
}

static void test_machines_have_names(void **state)
{
	char buf[32];

	(void)state;
	assert_string_equal(ins_machine_name(EM_AARCH64, buf, sizeof buf), "arm64");
	assert_string_equal(ins_machine_name(54321, buf, sizeof buf), "machine 54321");
	assert_true(ins_machine_self() != EM_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headers_and_build_id_are_read_from_memory_and_file),
		cmocka_unit_test(test_a_note_is_found_by_name_and_type_with_its_address),
		cmocka_unit_test(
			test_a_note_is_found_behind_one_of_a_smaller_alignment_than_the_segment),
		cmocka_unit_test(test_foreign_files_are_named),
		cmocka_unit_test(test_headers_and_notes_of_the_other_byte_order_are_converted),
		cmocka_unit_test(test_every_length_and_every_flipped_byte_is_survived),
		cmocka_unit_test(test_notes_whose_sizes_lie_end_the_search),
		cmocka_unit_test(test_machines_have_names),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
