/* SPDX-License-Identifier: MIT */
/* test_source_lines.c - the lines around a place, once each, and changed files */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/inspect/head.h"
#include "inspect/text/read_file.h"
#include "inspect/symbols/source_lines.h"
#include "tests/harness/paths.h"

static struct ins_modules *modules;
static struct ins_problems problems;
static char path[HARNESS_PATH];

/* Return what is printed for that place. */
static const char *put(struct ins_source_lines *lines, const char *file, int line)
{
	static char text[16384];
	FILE *out = fmemopen(text, sizeof text, "w");
	const struct ins_frame frame = {.pc = 0x10, .file = file, .line = line};

	assert_non_null(out);
	memset(text, 0, sizeof text);
	ins_source_lines_put(lines, out, &frame);
	fclose(out);
	return text;
}

static void write_source(const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_true(fputs(text, out) >= 0 && fclose(out) == 0);
}

static struct ins_source_lines *begin(unsigned around)
{
	struct ins_source_lines *ret;

	assert_int_equal(ins_source_lines_new(modules, around, &ret), 0);
	return ret;
}

static void test_lines_are_around_the_place_which_has_a_mark(void **state)
{
	struct ins_source_lines *lines = begin(3);

	(void)state;
	write_source("one\ntwo\n\tthree\nfour\nfive");
	assert_string_equal(
		put(lines, path, 3),
		"            2  two\n     ->     3          three\n            4  four\n");
	assert_string_equal(put(lines, path, 3), "");
	assert_string_equal(
		put(lines, path, 1),
		"     ->     1  one\n            2  two\n            3          three\n");
	assert_string_equal(put(lines, path, 5), "            4  four\n     ->     5  five\n");
	assert_non_null(strstr(put(lines, path, 6), "has no line 6\n"));
	ins_source_lines_free(lines);
}

static void test_one_line_is_the_place_alone(void **state)
{
	struct ins_source_lines *lines = begin(1);

	(void)state;
	write_source("one\ntwo\nthree\n");
	assert_string_equal(put(lines, path, 2), "     ->     2  two\n");
	ins_source_lines_free(lines);
}

static void test_a_hostile_source_does_nothing_to_a_terminal(void **state)
{
	struct ins_source_lines *lines = begin(1);
	char *text = malloc(100001);

	(void)state;
	assert_non_null(text);
	write_source("\033[2J\r\n");
	assert_string_equal(put(lines, path, 1), "     ->     1  \\x1b[2J\n");
	ins_source_lines_free(lines);
	lines = begin(1);
	memset(text, '\t', 100000);
	text[100000] = 0;
	write_source(text);
	assert_true(strlen(put(lines, path, 1)) < 2000);
	ins_source_lines_free(lines);
	free(text);
}

static void test_a_file_that_is_none_is_named_once(void **state)
{
	struct ins_source_lines *lines = begin(3);
	char fifo[HARNESS_PATH];

	(void)state;
	assert_string_equal(put(lines, "/nowhere/at\033all.c", 3),
			    "     source: /nowhere/at\\x1ball.c: No such file or directory\n");
	assert_string_equal(put(lines, "/nowhere/at\033all.c", 4), "");
	/* Opening a FIFO would block until its other end is opened. */
	assert_int_equal(mkfifo(harness_file(fifo, "fifo"), 0600), 0);
	assert_non_null(strstr(put(lines, fifo, 1), "Invalid argument"));
	assert_non_null(strstr(put(lines, harness_folder(), 1), "Invalid argument"));
	assert_string_equal(put(lines, NULL, 1), "");
	assert_string_equal(put(lines, path, 0), "");
	ins_source_lines_free(lines);
}

/* This program is older than the file written here, and younger than 1970. */
static void test_a_source_that_is_newer_than_its_program_is_said_to_be(void **state)
{
	const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	struct ins_frame frame = {.pc = (uint64_t)(uintptr_t)begin, .file = path, .line = 1};
	struct ins_modules *mine;
	char *maps, text[256];
	size_t size;

	(void)state;
	assert_int_equal(ins_modules_new(getpid(), NULL, NULL, &problems, &mine), 0);
	assert_int_equal(ins_read_file("/proc/self/maps", &maps, &size), 0);
	assert_int_equal(ins_modules_parse_maps(mine, maps, size), 0);
	ins_modules_sort(mine);
	free(maps);
	write_source("one\n");
	for (int i = 0; i < 2; i++) {
		struct ins_source_lines *lines;
		FILE *out = fmemopen(text, sizeof text, "w");

		assert_non_null(out);
		memset(text, 0, sizeof text);
		assert_int_equal(ins_source_lines_new(mine, 1, &lines), 0);
		ins_source_lines_put(lines, out, &frame);
		fclose(out);
		ins_source_lines_free(lines);
		assert_true((strstr(text, " is newer than the program") != NULL) == (i == 0));
		assert_non_null(strstr(text, "     ->     1  one\n"));
		assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
	}
	ins_modules_free(mine);
}

static int start(void **state)
{
	(void)state;
	harness_file(path, "source.c");
	return ins_modules_new(0, NULL, NULL, &problems, &modules);
}

static int stop(void **state)
{
	(void)state;
	ins_modules_free(modules);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_are_around_the_place_which_has_a_mark),
		cmocka_unit_test(test_one_line_is_the_place_alone),
		cmocka_unit_test(test_a_hostile_source_does_nothing_to_a_terminal),
		cmocka_unit_test(test_a_source_that_is_newer_than_its_program_is_said_to_be),
		cmocka_unit_test(test_a_file_that_is_none_is_named_once),
	};

	return HEAD_RUN(tests, start, stop);
}
