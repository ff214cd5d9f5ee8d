/* SPDX-License-Identifier: MIT */
/* test_core.c - memory by address from a core file: whole, cut and wrong files */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/inspect/elf_bytes.h"
#include "tests/harness/inspect/head.h"
#include "inspect/corefile/core.h"
#include "tests/harness/paths.h"

#define LOW  UINT64_C(0x10000)
#define NEXT (LOW + 0x1000) /* adjacent to LOW */
#define HIGH UINT64_C(0x7fff00000000)

static struct elf_bytes elf;
static char path[HARNESS_PATH];
static struct ins_error error;
static struct ins_core core;
static uint64_t first, second;

/*
 * Notes, two adjacent segments (the second listed first), and a distant one of which the file has
 * half.
 */
static void make(void)
{
	const Elf64_auxv_t auxv[] = {{AT_PHDR, {0x400040}},
				     {AT_ENTRY, {0x401000}},
				     {AT_SYSINFO_EHDR, {HIGH}},
				     {AT_NULL, {0}}};
	struct elf_prpsinfo info = {.pr_pid = 4711, .pr_fname = "sixteen-letters!"};
	uint64_t notes, at;

	elf_start(&elf, ET_CORE);
	notes = elf_append(&elf, NULL, 0);
	elf_note(&elf, "CORE", NT_PRPSINFO, &info, sizeof info);
	elf_note(&elf, "CORE", NT_AUXV, auxv, sizeof auxv);
	elf_note(&elf, "LINUX", NT_FILE, "not a list of files", 20);
	elf_add(&elf, PT_NOTE, notes, 0, elf.size - notes);
	second = elf_append(&elf, NULL, 0x1000);
	first = elf_append(&elf, NULL, 0x1000);
	memset(elf.at + second, '2', 0x1000);
	memset(elf.at + first, '1', 0x1000);
	elf_add(&elf, PT_LOAD, second, NEXT, 0x1000);
	elf_add(&elf, PT_LOAD, first, LOW, 0x1000);
	at = elf_append(&elf, NULL, 0x800);
	elf_add(&elf, PT_LOAD, at, HIGH, 0x800)->p_memsz = 0x1000;
}

static int open_cut(size_t size)
{
	elf_write(&elf, path, size);
	error.text[0] = 0;
	return ins_core_open(path, &error, &core);
}

static void test_memory_is_read_across_segments_and_not_across_gaps(void **state)
{
	char buf[0x2000];

	(void)state;
	make();
	assert_int_equal(open_cut(elf.size), 0);
	assert_int_equal(core.missing, 0);
	assert_int_equal(ins_core_read(&core, NEXT - 2, buf, 4), 0);
	assert_memory_equal(buf, "1122", 4);
	assert_int_equal(ins_core_read(&core, LOW, buf, 0x2000), 0);
	assert_int_equal(ins_core_read(&core, NEXT + 0xffc, buf, 8), -EFAULT);
	assert_int_equal(ins_core_read_some(&core, NEXT + 0xffc, buf, 8), 4);
	assert_int_equal(ins_core_read(&core, LOW - 1, buf, 1), -EFAULT);
	assert_int_equal(ins_core_read(&core, 0, buf, 1), -EFAULT);
	assert_int_equal(ins_core_read(&core, UINT64_MAX, buf, 16), -EFAULT);
	/* The process had this memory and the file does not have it. */
	assert_int_equal(ins_core_read_some(&core, HIGH + 0x7fe, buf, 8), 2);
	assert_int_equal(ins_core_read(&core, HIGH + 0x900, buf, 1), -EFAULT);
	ins_core_close(&core);
}

static void test_only_what_a_segment_says_is_certain_to_be_no_code(void **state)
{
	unsigned i;

	(void)state;
	make();
	for (i = 0; i < elf_header(&elf)->e_phnum; i++)
		if (elf_segment(&elf, i)->p_vaddr == NEXT)
			elf_segment(&elf, i)->p_flags = PF_R | PF_X;
	assert_int_equal(open_cut(elf.size), 0);
	assert_true(ins_core_no_code(&core, LOW));
	assert_false(ins_core_no_code(&core, NEXT));
	/*
	 * Memory between segments may have been left out of the core. No program has code at
	 * address 0.
	 */
	assert_false(ins_core_no_code(&core, HIGH - 1));
	assert_true(ins_core_no_code(&core, 0));
	ins_core_close(&core);
}

static void test_notes_say_whose_core_it_is(void **state)
{
	(void)state;
	make();
	assert_int_equal(open_cut(elf.size), 0);
	assert_int_equal(core.pid, 4711);
	assert_string_equal(core.program, "sixteen-letters!");
	assert_int_equal(core.phdr, 0x400040);
	assert_int_equal(core.entry, 0x401000);
	assert_int_equal(core.vdso, HIGH);
	assert_int_equal(core.files_at, 0); /* that note is not from CORE */
	ins_core_close(&core);
}

static void test_the_lowest_used_page_is_found_and_unknown_where_cut(void **state)
{
	(void)state;
	make();
	memset(elf.at + first, 0, 0x1000);
	memset(elf.at + second, 0, 0x1000);
	elf.at[second + 0x10] = 1;
	assert_int_equal(open_cut(elf.size), 0);
	assert_int_equal(ins_core_lowest_used(&core, LOW, LOW + 0x2000), NEXT);
	assert_int_equal(ins_core_lowest_used(&core, LOW, NEXT), NEXT);
	assert_int_equal(ins_core_lowest_used(&core, LOW, LOW + 0x3000), NEXT);
	assert_true(ins_core_lowest_used(&core, NEXT + 0x800, NEXT + 0x2000) == UINT64_MAX);
	assert_true(ins_core_lowest_used(&core, HIGH + 0x800, HIGH + 0x1000) == UINT64_MAX);
	ins_core_close(&core);
}

static void test_a_hole_of_a_sparse_core_is_skipped(void **state)
{
	const uint64_t size = UINT64_C(64) << 20;
	int fd;

	(void)state;
	make();
	elf_header(&elf)->e_phnum = 1;
	elf_add(&elf, PT_LOAD, 0x10000, HIGH, size);
	elf_write(&elf, path, elf.size);
	fd = open(path, O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)(0x10000 + size)), 0);
	assert_int_equal(pwrite(fd, "x", 1, (off_t)(0x10000 + size - 100)), 1);
	close(fd);
	assert_int_equal(ins_core_open(path, &error, &core), 0);
	assert_int_equal(ins_core_lowest_used(&core, HIGH, HIGH + size), HIGH + size - 4096);
	ins_core_close(&core);
}

/* A segment of 64 GiB of which the file has part of a page. */
static void test_a_hole_of_a_sparse_core_is_one_run(void **state)
{
	const uint64_t size = UINT64_C(64) << 30;
	bool there;

	(void)state;
	make();
	((Elf64_Phdr *)(elf.at + elf_header(&elf)->e_phoff))[3].p_filesz = size;
	((Elf64_Phdr *)(elf.at + elf_header(&elf)->e_phoff))[3].p_memsz = size;
	elf_write(&elf, path, elf.size);
	assert_int_equal(truncate(path, (off_t)(elf.size - 0x800 + size)), 0);
	assert_int_equal(ins_core_open(path, &error, &core), 0);
	assert_true(ins_core_run(&core, HIGH, size, &there) < 0x3000);
	assert_true(there);
	assert_true(ins_core_run(&core, HIGH + 0x10000, size - 0x10000, &there) == size - 0x10000);
	assert_false(there);
	assert_int_equal(ins_core_run(&core, HIGH + 0x10000, 100, &there), 100);
	assert_false(there);
	/* For an address without memory the later read reports the error. */
	assert_int_equal(ins_core_run(&core, 0x1000, 100, &there), 100);
	assert_true(there);
	ins_core_close(&core);
}

static void test_a_core_cut_at_every_length_is_refused_or_says_what_is_missing(void **state)
{
	size_t size, whole;
	char buf[16];

	(void)state;
	make();
	whole = elf.size;
	for (size = 0; size < whole; size += size < 1400 ? 1 : 97) {
		int rc = open_cut(size);

		assert_true(rc <= 0);
		if (rc < 0) {
			assert_non_null(strstr(error.text, path));
			assert_non_null(strstr(error.text, size >= 52 ? "truncated" : "core file")
						? error.text
						: strstr(error.text, "truncated"));
			continue;
		}
		assert_true(core.missing > 0);
		ins_core_read_some(&core, LOW, buf, sizeof buf);
		ins_core_read_some(&core, HIGH, buf, sizeof buf);
		ins_core_close(&core);
	}
}

static void test_every_flipped_byte_of_the_headers_is_survived(void **state)
{
	static const unsigned char flips[] = {0xff, 0x80, 0x01};
	size_t headers, i, k;
	char buf[64];

	(void)state;
	make();
	headers = second;
	for (i = 0; i < headers; i++) {
		for (k = 0; k < sizeof flips; k++) {
			make();
			elf.at[i] ^= flips[k];
			if (open_cut(elf.size) < 0) {
				assert_true(error.text[0] != 0);
				continue;
			}
			ins_core_read_some(&core, LOW, buf, sizeof buf);
			ins_core_read_some(&core, NEXT + 0xff0, buf, sizeof buf);
			ins_core_lowest_used(&core, LOW, LOW + 0x4000);
			ins_core_close(&core);
		}
	}
}

static void test_more_segments_than_a_header_counts_are_found(void **state)
{
	Elf64_Shdr sh = {0};
	char buf[4];

	(void)state;
	make();
	sh.sh_info = elf_header(&elf)->e_phnum;
	elf_header(&elf)->e_phnum = PN_XNUM;
	elf_header(&elf)->e_shoff = elf_append(&elf, &sh, sizeof sh);
	assert_int_equal(open_cut(elf.size), 0);
	assert_int_equal(ins_core_read(&core, LOW, buf, 4), 0);
	ins_core_close(&core);
	/* An impossible count. */
	sh.sh_info = UINT32_MAX;
	memcpy(elf.at + elf_header(&elf)->e_shoff, &sh, sizeof sh);
	assert_int_equal(open_cut(elf.size), -EINVAL);
}

static void test_a_core_of_any_machine_is_read(void **state)
{
	char buf[4];

	(void)state;
	make();
	elf_header(&elf)->e_machine = EM_MIPS;
	assert_int_equal(open_cut(elf.size), 0);
	assert_int_equal(core.machine.number, EM_MIPS);
	assert_int_equal(ins_core_read(&core, LOW, buf, 4), 0);
	ins_core_close(&core);
}

static void test_what_is_no_core_is_named(void **state)
{
	(void)state;
	make();
	elf_header(&elf)->e_type = ET_DYN;
	assert_int_equal(open_cut(elf.size), -EINVAL);
	assert_non_null(strstr(error.text, "program or library"));
	make();
	elf_header(&elf)->e_ident[EI_CLASS] = ELFCLASS32;
	assert_int_equal(open_cut(elf.size), -EINVAL);
	assert_non_null(strstr(error.text, "32-bit"));
	assert_int_equal(ins_core_open("/dev/null", &error, &core), -EINVAL);
	assert_non_null(strstr(error.text, "not a regular file"));
	assert_int_equal(ins_core_open("/nonexistent", &error, &core), -ENOENT);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(ins_core_open(path, &error, &core), -EINVAL);
	unlink(path);
}

static int start(void **state)
{
	(void)state;
	harness_file(path, "core");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_is_read_across_segments_and_not_across_gaps),
		cmocka_unit_test(test_only_what_a_segment_says_is_certain_to_be_no_code),
		cmocka_unit_test(test_notes_say_whose_core_it_is),
		cmocka_unit_test(test_the_lowest_used_page_is_found_and_unknown_where_cut),
		cmocka_unit_test(test_a_hole_of_a_sparse_core_is_skipped),
		cmocka_unit_test(test_a_hole_of_a_sparse_core_is_one_run),
		cmocka_unit_test(
			test_a_core_cut_at_every_length_is_refused_or_says_what_is_missing),
		cmocka_unit_test(test_every_flipped_byte_of_the_headers_is_survived),
		cmocka_unit_test(test_more_segments_than_a_header_counts_are_found),
		cmocka_unit_test(test_a_core_of_any_machine_is_read),
		cmocka_unit_test(test_what_is_no_core_is_named),
	};

	return HEAD_RUN(tests, start, NULL);
}
