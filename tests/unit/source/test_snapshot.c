/* SPDX-License-Identifier: MIT */
/* test_snapshot.c - a file of answers: whole ones are found, wrong lengths are reported */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/inspect/elf_bytes.h"
#include "tests/harness/inspect/head.h"
#include "tests/harness/inspect/snapshots.h"

static char path[HARNESS_PATH];
static struct snapshot_file file;
static struct ins_snapshot *snapshot;
static struct ins_error error;

static void expect_error(const char *why)
{
	snapshot_save(&file, path);
	assert_int_equal(ins_snapshot_open(path, &error, &snapshot), -EINVAL);
	if (!strstr(error.text, why) || !strstr(error.text, path))
		print_error("'%s' is not in '%s'\n", why, error.text);
	assert_non_null(strstr(error.text, why));
	assert_non_null(strstr(error.text, path));
}

static void test_a_whole_one_has_its_answers_frame_by_frame(void **state)
{
	struct ins_snapshot_frames frames;
	struct fib_wire_header header;
	const void *payload;
	unsigned n = 0;

	(void)state;
	snapshot_whole(&file);
	snapshot_save(&file, path);
	assert_int_equal(ins_snapshot_open(path, &error, &snapshot), 0);
	assert_string_equal(ins_snapshot_head(snapshot)->name, "remote");
	assert_string_equal(ins_snapshot_head(snapshot)->host, "elsewhere");
	assert_true(ins_snapshot_answer(snapshot, FIB_WIRE_POLICY, &frames));
	assert_true(ins_snapshot_next(&frames, &header, &payload));
	assert_int_equal(header.type, FIB_WIRE_POLICY_IS);
	assert_int_equal(header.length, sizeof(struct fib_wire_policy_is));
	assert_true(ins_snapshot_next(&frames, &header, &payload));
	assert_int_equal(header.type, FIB_WIRE_END);
	assert_false(ins_snapshot_next(&frames, &header, &payload));
	assert_true(ins_snapshot_answer(snapshot, FIB_WIRE_STACK, &frames));
	while (ins_snapshot_next(&frames, &header, &payload))
		n++;
	assert_int_equal(n, 8);
	assert_false(ins_snapshot_answer(snapshot, FIB_WIRE_CARRIERS, &frames));
	assert_false(ins_snapshot_answer(snapshot, INS_SNAPSHOT_FILES, &frames));
	ins_snapshot_close(snapshot);
}

static void test_a_longer_header_and_unknown_sections_are_skipped(void **state)
{
	struct ins_snapshot_frames frames;
	static struct snapshot_file old;
	const uint32_t longer = sizeof(struct ins_snapshot_head) + 24;

	(void)state;
	snapshot_whole(&old);
	file.size = 0;
	snapshot_put(&file, old.at, sizeof(struct ins_snapshot_head));
	snapshot_put(&file, "of a later version......", 24);
	memcpy(file.at + offsetof(struct ins_snapshot_head, head_size), &longer, sizeof longer);
	snapshot_section(&file, 0x20002);
	snapshot_put(&file, "anything", 8);
	snapshot_section_end(&file);
	snapshot_put(&file, old.at + sizeof(struct ins_snapshot_head),
		     old.size - sizeof(struct ins_snapshot_head));
	snapshot_save(&file, path);
	assert_int_equal(ins_snapshot_open(path, &error, &snapshot), 0);
	assert_true(ins_snapshot_answer(snapshot, FIB_WIRE_STACK, &frames));
	ins_snapshot_close(snapshot);
}

static void test_what_is_none_is_called_so(void **state)
{
	(void)state;
	assert_int_equal(ins_snapshot_open("/nonexistent/file", &error, &snapshot), -ENOENT);
	assert_non_null(strstr(error.text, "/nonexistent/file"));
	assert_int_equal(ins_snapshot_open(harness_folder(), &error, &snapshot), -EINVAL);
	assert_false(ins_snapshot_meant(harness_folder()));
	assert_false(ins_snapshot_meant("/nonexistent/file"));
	file.size = 0;
	expect_error("is empty: 'fiberctl snapshot PROCESS -o FILE' writes one");
	assert_true(ins_snapshot_meant(path));
	assert_false(ins_snapshot_begins(path));
	snapshot_whole(&file);
	snapshot_save(&file, path);
	assert_true(ins_snapshot_begins(path));
	memcpy(file.at,
	       "\x7f"
	       "ELF",
	       4);
	expect_error("fibertrace --core");
	memset(file.at, ' ', sizeof(struct ins_snapshot_head));
	expect_error("is no snapshot");
}

static void test_another_version_is_named(void **state)
{
	const size_t at = offsetof(struct ins_snapshot_head, version);
	const uint32_t later = 2;

	(void)state;
	snapshot_whole(&file);
	memcpy(file.at + at, &later, sizeof later);
	expect_error("version 2, this tool reads version 1");
}

/* Then all other numbers make no sense. tests/cli/test_fibertrace_machines.c has whole ones. */
static void test_one_with_only_its_version_in_another_byte_order_is_refused(void **state)
{
	const size_t at = offsetof(struct ins_snapshot_head, version);
	const uint32_t swapped = 0x01000000;

	(void)state;
	snapshot_whole(&file);
	memcpy(file.at + at, &swapped, sizeof swapped);
	expect_error("is cut");
}

static void test_one_that_is_cut_anywhere_is_refused(void **state)
{
	size_t cut;

	(void)state;
	snapshot_whole(&file);
	snapshot_save(&file, path);
	for (cut = 0; cut < file.size; cut += cut < 600 ? 1 : 37) {
		assert_int_equal(truncate(path, (off_t)cut), 0);
		assert_int_equal(ins_snapshot_open(path, &error, &snapshot), -EINVAL);
		snapshot_save(&file, path);
	}
	assert_non_null(strstr(error.text, "is cut"));
	file.size = 100;
	expect_error("is cut: it has 100 bytes; copy it again, or take another one");
	file.size = 4;
	expect_error("is cut: it has 4 bytes; ");
	memcpy(file.at, "text", 4);
	expect_error("is no snapshot: ");
}

static void test_one_with_something_behind_it_is_refused(void **state)
{
	(void)state;
	snapshot_whole(&file);
	snapshot_save(&file, path);
	assert_int_equal(truncate(path, (off_t)file.size + 1), 0);
	assert_int_equal(ins_snapshot_open(path, &error, &snapshot), -EINVAL);
	assert_non_null(strstr(error.text, "has bytes behind its end, 1 more than "));
}

static void test_sections_and_frames_that_do_not_fit_are_refused(void **state)
{
	const size_t first = sizeof(struct ins_snapshot_head);
	const uint64_t huge = UINT64_MAX, small = 20;
	const uint32_t no_head = 8;

	(void)state;
	snapshot_whole(&file);
	memcpy(file.at + first + offsetof(struct ins_snapshot_section, size), &huge, sizeof huge);
	expect_error("damaged at byte");
	memcpy(file.at + first + offsetof(struct ins_snapshot_section, size), &small, sizeof small);
	expect_error("is not whole");
	snapshot_whole(&file);
	file.at[first] ^= 1;
	expect_error("damaged at byte");
	snapshot_whole(&file);
	file.at[first + sizeof(struct ins_snapshot_section)] ^= 1; /* the magic of a frame */
	expect_error("is not whole");
	snapshot_whole(&file);
	memcpy(file.at + offsetof(struct ins_snapshot_head, head_size), &no_head, sizeof no_head);
	expect_error("no sensible length");
	/* A section without its last frame, and a section with a frame after its last frame. */
	snapshot_begin(&file);
	snapshot_section(&file, FIB_WIRE_STACK);
	snapshot_preface(&file);
	snapshot_section_end(&file);
	expect_error("is not whole");
	snapshot_end(&file, 0, 0, 0);
	snapshot_end(&file, 0, 0, 0);
	snapshot_section_end(&file);
	expect_error("is not whole");
}

static void test_each_byte_of_one_with_checksums_counts(void **state)
{
	size_t at;

	(void)state;
	snapshot_whole(&file);
	snapshot_sums(&file);
	snapshot_save(&file, path);
	assert_int_equal(ins_snapshot_open(path, &error, &snapshot), 0);
	ins_snapshot_close(snapshot);
	for (at = 0; at < file.size; at++) {
		FILE *out = fopen(path, "r+");

		file.at[at] ^= (unsigned char)(1u << at % 8);
		assert_int_equal(fseek(out, (long)at, SEEK_SET), 0);
		assert_int_equal(fwrite(file.at + at, 1, 1, out), 1);
		assert_int_equal(fclose(out), 0);
		if (ins_snapshot_open(path, &error, &snapshot) != -EINVAL)
			fail_msg("byte %zu does not count", at);
		file.at[at] ^= (unsigned char)(1u << at % 8);
		out = fopen(path, "r+");
		fseek(out, (long)at, SEEK_SET);
		fwrite(file.at + at, 1, 1, out);
		fclose(out);
	}
}

static void test_damage_is_named_by_its_part(void **state)
{
	size_t head = sizeof(struct ins_snapshot_head), end;

	(void)state;
	snapshot_whole(&file);
	end = file.size;
	snapshot_sums(&file);
	file.at[offsetof(struct ins_snapshot_head, name)] ^= 1;
	expect_error("is damaged: its header differs from its checksum; copy it again");
	file.at[offsetof(struct ins_snapshot_head, name)] ^= 1;
	file.at[head + sizeof(struct ins_snapshot_section) + sizeof(struct fib_wire_header)] ^= 1;
	expect_error("is damaged: section 1 differs from its checksum");
	file.at[head + sizeof(struct ins_snapshot_section) + sizeof(struct fib_wire_header)] ^= 1;
	file.at[file.size - 1] ^= 1;
	expect_error("is damaged: its list of checksums is wrong");
	file.at[file.size - 1] ^= 1;
	file.at[end + offsetof(struct ins_snapshot_section, type)] ^= 0x80;
	expect_error("is damaged: its checksums are missing");
	file.at[end + offsetof(struct ins_snapshot_section, type)] ^= 0x80;
	file.at[offsetof(struct ins_snapshot_head, flags)] ^= INS_SNAPSHOT_SUMMED;
	expect_error("is damaged: its header denies its checksums");
	file.at[offsetof(struct ins_snapshot_head, flags)] ^= INS_SNAPSHOT_SUMMED;
	snapshot_section(&file, 0x20002);
	snapshot_section_end(&file);
	expect_error("is damaged: its checksums are not at its end");
}

static struct ins_modules *modules_at(uint64_t start, struct ins_problems *problems)
{
	struct ins_modules *modules;

	assert_int_equal(ins_modules_new(0, NULL, NULL, problems, &modules), 0);
	assert_int_equal(ins_modules_add(modules, start, start + 0x100000, 0, 1, "/proc/self/exe"),
			 0);
	ins_modules_sort(modules);
	return modules;
}

static void test_a_module_is_told_what_its_file_was(void **state)
{
	struct ins_problems problems = {0};
	struct ins_modules *modules = modules_at(UINT64_C(0x7f0000000000), &problems);

	(void)state;
	snapshot_whole(&file);
	snapshot_save(&file, path);
	assert_int_equal(ins_snapshot_open(path, &error, &snapshot), 0);
	ins_snapshot_files(snapshot, modules);
	assert_int_equal(modules->at[0].image.build_id_size, strlen("a build id"));
	/* The file at that path is another program. */
	ins_modules_look(modules, &modules->at[0]);
	assert_true(modules->at[0].other);
	assert_null(modules->at[0].bytes);
	ins_modules_free(modules);
	/* The snapshot has no build id for this module, so the file at the path is used. */
	modules = modules_at(UINT64_C(0x600000), &problems);
	ins_snapshot_files(snapshot, modules);
	ins_modules_look(modules, &modules->at[0]);
	assert_false(modules->at[0].other);
	assert_non_null(modules->at[0].bytes);
	ins_modules_free(modules);
	ins_snapshot_close(snapshot);
	ins_problems_free(&problems);
}

/* A snapshot with a vdso of build id `build_id`, and with `written` as the module's build id. */
static struct ins_modules *kept_vdso(const char *build_id, const char *written,
				     struct ins_problems *problems)
{
	static struct elf_bytes elf;
	struct ins_modules *modules;
	uint64_t note;

	elf_start(&elf, ET_DYN);
	note = elf.size;
	elf_note(&elf, "GNU", NT_GNU_BUILD_ID, build_id, 8);
	elf_add(&elf, PT_NOTE, note, note, elf.size - note);
	elf_add(&elf, PT_LOAD, 0, 0, elf.size)->p_flags = PF_R | PF_X;
	snapshot_begin(&file);
	snapshot_section(&file, INS_SNAPSHOT_FILES);
	snapshot_module(&file, UINT64_C(0x7f0000000000), written);
	snapshot_section_end(&file);
	snapshot_section(&file, INS_SNAPSHOT_VDSO);
	snapshot_put(&file, elf.at, elf.size);
	snapshot_section_end(&file);
	snapshot_save(&file, path);
	assert_int_equal(ins_snapshot_open(path, &error, &snapshot), 0);
	assert_int_equal(ins_modules_new(0, NULL, NULL, problems, &modules), 0);
	assert_int_equal(ins_modules_add(modules, UINT64_C(0x7f0000000000),
					 UINT64_C(0x7f0000002000), 0, 0, "[vdso]"),
			 0);
	ins_modules_sort(modules);
	ins_snapshot_files(snapshot, modules);
	ins_modules_look(modules, &modules->at[0]);
	ins_snapshot_close(snapshot);
	return modules;
}

static void test_the_vdso_of_another_kernel_is_in_it(void **state)
{
	struct ins_problems problems = {0};
	struct ins_modules *modules = kept_vdso("its vdso", "its vdso", &problems);
	unsigned char bytes[4];

	(void)state;
	assert_non_null(modules->at[0].bytes);
	assert_int_equal(ins_modules_read(modules, UINT64_C(0x7f0000000000), bytes, 4, false), 0);
	assert_memory_equal(bytes, ELFMAG, SELFMAG);
	ins_modules_free(modules);
	/* The build id matches neither the vdso in the snapshot nor this machine's. */
	modules = kept_vdso("its vdso", "another.", &problems);
	assert_null(modules->at[0].bytes);
	ins_modules_free(modules);
	ins_problems_free(&problems);
}

static int start(void **state)
{
	(void)state;
	harness_file(path, "a.snap");
	return 0;
}

#define FRAME  ((uint32_t)1 << 20)
#define FRAMES 64

/* One answer of 64 MiB, whose payloads are holes except for the first byte. */
static void save_large(void)
{
	const uint64_t answer =
		FRAMES * (sizeof(struct fib_wire_header) + FRAME) + sizeof(struct fib_wire_header);
	const struct ins_snapshot_section section = {INS_SNAPSHOT_SECTION, FIB_WIRE_STACK, answer};
	const struct ins_snapshot_head head = {
		.magic = INS_SNAPSHOT_MAGIC,
		.version = INS_SNAPSHOT_VERSION,
		.head_size = sizeof head,
		.size = sizeof head + sizeof section + answer,
	};
	struct fib_wire_header frame = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_STACKS, FRAME};
	FILE *out = fopen(path, "w");
	unsigned char i;

	assert_non_null(out);
	fwrite(&head, sizeof head, 1, out);
	fwrite(&section, sizeof section, 1, out);
	for (i = 0; i < FRAMES; i++) {
		fwrite(&frame, sizeof frame, 1, out);
		fputc(i, out);
		fseek(out, FRAME - 1, SEEK_CUR);
	}
	frame.type = FIB_WIRE_END;
	frame.length = 0;
	fwrite(&frame, sizeof frame, 1, out);
	assert_int_equal(fclose(out), 0);
}

/* KiB of mapped files that are resident. */
static long resident(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;

	assert_non_null(status);
	while (kib < 0 && fgets(line, sizeof line, status))
		sscanf(line, "RssFile: %ld", &kib);
	fclose(status);
	return kib;
}

static void test_a_large_one_is_not_in_memory_as_a_whole(void **state)
{
	const unsigned char *first = NULL;
	struct ins_snapshot_frames frames;
	struct fib_wire_header header;
	const void *payload;
	long before, most = 0;
	unsigned sum = 0, n = 0, i;

	(void)state;
	save_large();
	assert_int_equal(ins_snapshot_open(path, &error, &snapshot), 0);
	before = resident();
	assert_true(ins_snapshot_answer(snapshot, FIB_WIRE_STACK, &frames));
	for (; ins_snapshot_next(&frames, &header, &payload) && header.length; n++) {
		const unsigned char *at = payload;

		first = first ? first : at;
		assert_int_equal(at[0], n);
		for (i = 1; i < FRAME; i += 512)
			sum += at[i];
		if (resident() - before > most)
			most = resident() - before;
	}
	assert_int_equal(n, FRAMES);
	assert_int_equal(sum, 0);
	assert_in_range(most, 1, 32 << 10);
	/* Released pages can still be read. */
	for (i = 0; i < FRAMES; i++)
		assert_int_equal(first[i * (sizeof header + FRAME)], i);
	ins_snapshot_close(snapshot);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_whole_one_has_its_answers_frame_by_frame),
		cmocka_unit_test(test_a_longer_header_and_unknown_sections_are_skipped),
		cmocka_unit_test(test_what_is_none_is_called_so),
		cmocka_unit_test(test_another_version_is_named),
		cmocka_unit_test(test_one_with_only_its_version_in_another_byte_order_is_refused),
		cmocka_unit_test(test_one_that_is_cut_anywhere_is_refused),
		cmocka_unit_test(test_one_with_something_behind_it_is_refused),
		cmocka_unit_test(test_sections_and_frames_that_do_not_fit_are_refused),
		cmocka_unit_test(test_each_byte_of_one_with_checksums_counts),
		cmocka_unit_test(test_damage_is_named_by_its_part),
		cmocka_unit_test(test_a_module_is_told_what_its_file_was),
		cmocka_unit_test(test_the_vdso_of_another_kernel_is_in_it),
		cmocka_unit_test(test_a_large_one_is_not_in_memory_as_a_whole),
	};

	return HEAD_RUN(tests, start, NULL);
}
