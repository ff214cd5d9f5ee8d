/* SPDX-License-Identifier: MIT */
/* test_core_write.c - a core reads back as it was written, with holes where nothing was written */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/inspect/head.h"
#include "inspect/corefile/core.h"
#include "inspect/corefile/core_threads.h"
#include "inspect/corefile/core_write.h"
#include "tests/harness/paths.h"

#define PAGE UINT64_C(4096)
#define LOW  UINT64_C(0x10000)
#define FAR  UINT64_C(0x7f0000000000)
#define MANY 70000

static char path[HARNESS_PATH];
static struct ins_core_writer writer;
static struct ins_core core;
static struct ins_error error;

static void begin(struct ins_core_part *part, size_t parts)
{
	int fd = open(harness_file(path, "core"), O_RDWR | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ins_core_writer_begin(&writer, fd, part, parts), 0);
}

static void end(void)
{
	assert_int_equal(ins_core_writer_end(&writer), 0);
	close(writer.fd);
	ins_core_writer_free(&writer);
	assert_int_equal(ins_core_open(path, &error, &core), 0);
}

static void test_memory_is_where_it_was_written_and_zero_elsewhere(void **state)
{
	struct ins_core_part part[] = {
		{.start = LOW, .end = LOW + 2 * PAGE, .size = 2 * PAGE, .flags = PF_R | PF_W},
		{.start = LOW + 2 * PAGE, .end = LOW + 3 * PAGE, .size = PAGE, .flags = PF_R},
		{.start = LOW + 4 * PAGE, .end = LOW + 5 * PAGE, .size = 0, .flags = PF_X},
		{.start = FAR, .end = FAR + (UINT64_C(1) << 40), .size = UINT64_C(1) << 40},
	};
	unsigned char all[6 * 4096], buf[16];
	struct stat st;

	(void)state;
	memset(all, 'x', sizeof all);
	begin(part, 4);
	/*
	 * The write starts before the first of the adjacent parts and ends after the last; bytes in
	 * no part are dropped.
	 */
	assert_int_equal(ins_core_writer_memory(&writer, LOW - PAGE / 2, all, sizeof all, false),
			 0);
	assert_int_equal(
		ins_core_writer_memory(&writer, FAR + (UINT64_C(1) << 39), "far", 3, false), 0);
	end();
	assert_int_equal(core.loads, 4);
	assert_int_equal(core.missing, 0);
	assert_int_equal(core.load[0].flags, PF_R | PF_W);
	assert_int_equal(ins_core_read_some(&core, LOW, all, sizeof all), 3 * PAGE);
	assert_true(all[0] == 'x' && all[3 * PAGE - 1] == 'x');
	assert_int_equal(ins_core_read(&core, LOW + 4 * PAGE, buf, 1), -EFAULT);
	assert_int_equal(ins_core_read(&core, FAR + (UINT64_C(1) << 39) - 1, buf, 5), 0);
	assert_memory_equal(buf, "\0far\0", 5);
	/* An untouched terabyte takes no blocks. */
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size > (off_t)1 << 40 && st.st_blocks < 1 << 12);
	ins_core_close(&core);
}

static void test_zeros_stay_holes_unless_they_replace_something(void **state)
{
	struct ins_core_part part = {.start = LOW, .end = LOW + 4 * PAGE, .size = 4 * PAGE};
	static unsigned char all[4 * 4096], buf[4 * 4096];

	(void)state;
	begin(&part, 1);
	memset(all, 0, sizeof all);
	memset(all + PAGE, 'a', PAGE);
	assert_int_equal(ins_core_writer_memory(&writer, LOW, all, sizeof all, false), 0);
	assert_int_equal(ins_core_writer_memory(&writer, LOW + PAGE + 10, all + 2 * PAGE, 20, true),
			 0);
	end();
	memset(all + PAGE + 10, 0, 20);
	assert_int_equal(ins_core_read(&core, LOW, buf, sizeof buf), 0);
	assert_memory_equal(buf, all, sizeof buf);
	assert_int_equal(ins_core_lowest_used(&core, LOW, LOW + 4 * PAGE), LOW + PAGE);
	ins_core_close(&core);
}

static void test_notes_of_any_number_and_size_are_found_again(void **state)
{
	struct ins_core_part part = {.start = LOW, .end = LOW + PAGE, .size = PAGE};
	const struct elf_prpsinfo info = {.pr_pid = 4711, .pr_fname = "own"};
	struct ins_core_thread *thread;
	struct elf_prstatus status = {.pr_pid = 0};
	static char big[1 << 20];
	size_t count;

	(void)state;
	begin(&part, 1);
	assert_int_equal(ins_core_writer_note(&writer, "CORE", NT_FILE, big, sizeof big - 3), 0);
	for (status.pr_pid = 1; status.pr_pid <= 5000; status.pr_pid++) {
		assert_int_equal(
			ins_core_writer_note(&writer, "CORE", NT_PRSTATUS, &status, sizeof status),
			0);
		assert_int_equal(ins_core_writer_note(&writer, "LINUX", 0x202, "odd", 3), 0);
	}
	assert_int_equal(ins_core_writer_note(&writer, "CORE", NT_PRPSINFO, &info, sizeof info), 0);
	end();
	assert_int_equal(core.pid, 4711);
	assert_string_equal(core.program, "own");
	assert_int_equal(core.files_size, sizeof big - 3);
	assert_int_equal(ins_core_threads(&core, &thread, &count), 0);
	assert_int_equal(count, 5000);
	assert_int_equal(thread[0].tid, 1);
	assert_int_equal(thread[4999].tid, 5000);
	free(thread);
	ins_core_close(&core);
}

static void test_more_parts_than_a_header_counts_are_found_again(void **state)
{
	struct ins_core_part *part = calloc(MANY, sizeof *part);
	char byte;

	(void)state;
	assert_non_null(part);
	for (size_t i = 0; i < MANY; i++) {
		part[i].start = LOW + 2 * i * PAGE;
		part[i].end = part[i].start + PAGE;
		part[i].size = i % 1000 == 7 ? PAGE : 0;
	}
	begin(part, MANY);
	assert_int_equal(ins_core_writer_memory(&writer, part[69007].start + 5, "z", 1, false), 0);
	end();
	assert_int_equal(core.loads, MANY);
	assert_int_equal(ins_core_read(&core, part[69007].start + 5, &byte, 1), 0);
	assert_int_equal(byte, 'z');
	ins_core_close(&core);
	free(part);
}

static void is_at(uint64_t address, const char *text)
{
	char buf[16];

	assert_int_equal(ins_core_read(&core, address, buf, strlen(text)), 0);
	assert_memory_equal(buf, text, strlen(text));
}

/* The stack was mapped after the mappings were read. */
static void test_memory_that_comes_late_has_a_place(void **state)
{
	struct ins_core_part part[] = {
		{.start = LOW, .end = LOW + PAGE, .size = PAGE, .flags = PF_R | PF_W},
		{.start = LOW + 2 * PAGE, .end = LOW + 12 * PAGE},
		{.start = LOW + 12 * PAGE, .end = LOW + 13 * PAGE},
		{.start = FAR, .end = FAR + PAGE, .withheld = true},
		{.start = FAR + 4 * PAGE, .end = FAR + 5 * PAGE, .size = PAGE},
	};
	char pages[3 * 4096], byte;
	size_t i;

	(void)state;
	memset(pages, 'p', sizeof pages);
	begin(part, 5);
	/* Outside all parts only a write with `over` set gets a place. */
	assert_int_equal(ins_core_writer_memory(&writer, LOW + PAGE, "no", 2, false), 0);
	/*
	 * Between two parts, after all parts, across a part's end, inside a part, and there again.
	 */
	assert_int_equal(ins_core_writer_memory(&writer, LOW + 2 * PAGE - 3, "gap+cut", 7, true),
			 0);
	assert_int_equal(ins_core_writer_memory(&writer, FAR + 9 * PAGE + 5, "last", 4, true), 0);
	assert_int_equal(ins_core_writer_memory(&writer, LOW + 11 * PAGE + 9, pages, PAGE, true),
			 0);
	assert_int_equal(ins_core_writer_memory(&writer, LOW + 5 * PAGE, pages, 3 * PAGE, true), 0);
	assert_int_equal(ins_core_writer_memory(&writer, LOW + 6 * PAGE - 2, "over", 4, true), 0);
	/* Write from a part into a gap, and from a gap into a part. */
	assert_int_equal(ins_core_writer_memory(&writer, LOW + PAGE - 2, "both", 4, true), 0);
	assert_int_equal(ins_core_writer_memory(&writer, FAR + 4 * PAGE - 2, "both", 4, true), 0);
	assert_int_equal(ins_core_writer_memory(&writer, FAR, "kept", 4, true), 0);
	assert_int_equal(writer.left_out, 0);
	assert_int_equal(ins_core_writer_note(&writer, "CORE", NT_PRSTATUS, "note", 4), 0);
	assert_int_equal(ins_core_writer_memory(&writer, LOW + 8 * PAGE, "late", 4, true), 0);
	assert_int_equal(writer.left_out, 4);
	end();
	for (i = 1; i < core.loads; i++)
		assert_true(core.load[i].address >=
			    core.load[i - 1].address + core.load[i - 1].memory);
	is_at(LOW + 2 * PAGE - 3, "gap+cut");
	is_at(FAR + 9 * PAGE + 5, "last");
	is_at(LOW + 11 * PAGE + 9, "pppp");
	is_at(LOW + 12 * PAGE + 5, "pppp");
	is_at(LOW + 6 * PAGE - 4, "ppoverpp");
	is_at(LOW + 8 * PAGE - 2, "pp");
	is_at(LOW + PAGE - 2, "bo");
	is_at(LOW + PAGE, "th");
	is_at(FAR + 4 * PAGE - 2, "bo");
	is_at(FAR + 4 * PAGE, "th");
	assert_true(ins_core_read(&core, LOW + 4 * PAGE, &byte, 1) < 0);
	assert_true(ins_core_read(&core, LOW + 8 * PAGE, &byte, 1) < 0);
	assert_true(ins_core_read(&core, FAR, &byte, 1) < 0);
	ins_core_close(&core);
}

static void test_more_late_pieces_than_there_is_room_for_are_counted(void **state)
{
	struct ins_core_part part = {.start = LOW, .end = LOW + PAGE, .size = PAGE};
	uint64_t i;

	(void)state;
	begin(&part, 1);
	for (i = 0; i < INS_CORE_LATE_MOST + 3; i++)
		assert_int_equal(ins_core_writer_memory(&writer, FAR + i * 2 * PAGE, "ab", 2, true),
				 0);
	assert_int_equal(writer.left_out, 6);
	end();
	assert_int_equal(core.loads, 1 + INS_CORE_LATE_MOST);
	is_at(FAR + 2 * (INS_CORE_LATE_MOST - 1) * PAGE, "ab");
	ins_core_close(&core);
}

static void test_what_cannot_be_written_is_an_error(void **state)
{
	struct ins_core_part part = {.start = LOW, .end = LOW + PAGE, .size = PAGE};
	int fd = open("/dev/full", O_WRONLY);

	(void)state;
	if (fd < 0)
		fd = open("/dev/null", O_RDONLY);
	assert_int_equal(ins_core_writer_begin(&writer, fd, &part, 1), 0);
	assert_true(ins_core_writer_memory(&writer, LOW, "x", 1, false) < 0);
	assert_int_equal(ins_core_writer_note(&writer, "CORE", 1, "x", 1), 0);
	assert_true(ins_core_writer_end(&writer) < 0);
	assert_int_equal(ins_core_writer_note(&writer, "a name of 20 letters", 1, "x", 1), -EINVAL);
	ins_core_writer_free(&writer);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_is_where_it_was_written_and_zero_elsewhere),
		cmocka_unit_test(test_zeros_stay_holes_unless_they_replace_something),
		cmocka_unit_test(test_notes_of_any_number_and_size_are_found_again),
		cmocka_unit_test(test_more_parts_than_a_header_counts_are_found_again),
		cmocka_unit_test(test_memory_that_comes_late_has_a_place),
		cmocka_unit_test(test_more_late_pieces_than_there_is_room_for_are_counted),
		cmocka_unit_test(test_what_cannot_be_written_is_an_error),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
