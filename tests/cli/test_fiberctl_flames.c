/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_flames.c - flame graph files have the stacks that --folded prints, or are not
 * written
 *
 * For both tools. flames.py, beside this file, parses them according to their formats.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/cli/one_crowd.h"
#include "tests/harness/watchdog.h"

static char script[4096], folded[HARNESS_PATH], svg[HARNESS_PATH], speedscope[HARNESS_PATH],
	pprof[HARNESS_PATH];

static int start(void **state)
{
	char file[HARNESS_PATH] = __FILE__;

	(void)state;
	*strrchr(file, '/') = '\0';
	strcat(file, "/flames.py");
	if (!realpath(file, script))
		return -1;
	harness_file(folded, "folded");
	harness_file(svg, "x.svg");
	harness_file(speedscope, "x.json");
	harness_file(pprof, "x.pb.gz");
	return one_crowd("crowd", "120", NULL);
}

static void keep(struct harness_process *p)
{
	FILE *file = fopen(folded, "w");

	cli_expect(p, 0);
	assert_non_null(file);
	assert_int_equal(fwrite(p->out.bytes, 1, p->out.size, file), p->out.size);
	fclose(file);
	harness_free(p);
}

static void compare(const char *tool, const char *first, const char *second)
{
	char option[3][HARNESS_PATH + 16];
	struct harness_process *p;

	keep(cli_run(tool, "stacks", pid, "--folded", first, second, NULL));
	snprintf(option[0], sizeof(option[0]), "--svg=%s", svg);
	snprintf(option[1], sizeof(option[0]), "--speedscope=%s", speedscope);
	snprintf(option[2], sizeof(option[0]), "--pprof=%s", pprof);
	p = cli_run(tool, "stacks", pid, "--force", option[0], option[1], option[2], first, second,
		    NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "x.svg: ");
	cli_contains(p->out.bytes, "x.json: ");
	cli_contains(p->out.bytes, "x.pb.gz: ");
	cli_contains(p->out.bytes, "\nshown ");
	harness_free(p);
	p = cli_run("/usr/bin/env", "python3", script, folded, svg, speedscope, pprof, NULL);
	cli_ended(p, 0);
}

static void test_all_formats_have_the_same_stacks(void **state)
{
	(void)state;
	compare("fiberctl", NULL, NULL);
	compare("fibertrace", NULL, NULL);
}

static void test_groups_and_selections_are_those_of_folded_stacks(void **state)
{
	(void)state;
	compare("fiberctl", "--group-by=wait", NULL);
	compare("fibertrace", "--group-by=name", "--frames=3");
	compare("fiberctl", "--min=4", "--where=state=suspended");
}

static void write_file(const char *path, const char *words)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(words, file);
	fclose(file);
}

static void expect_words(const char *path, const char *words)
{
	char text[64] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	assert_string_equal(text, words);
}

static void test_a_file_that_is_there_is_only_replaced_with_force(void **state)
{
	static const char *const options[] = {"--svg", "--speedscope", "--pprof"};
	char path[HARNESS_PATH];
	struct harness_process *p;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		write_file(harness_file(path, "precious"), "precious");
		cli_expect_error(cli_run("fiberctl", "stacks", pid, options[i], path, NULL), 2,
				 "fiberctl", "--force");
		expect_words(path, "precious");
		p = cli_run("fiberctl", "stacks", pid, options[i], path, "--force", NULL);
		cli_ended(p, 0);
		unlink(path);
		cli_expect_error(cli_run("fibertrace", "stacks", pid, options[i], "/dev/full",
					 "--force", NULL),
				 2, "fibertrace", "/dev/full: is there, and is no file");
		cli_expect_error(
			cli_run("fiberctl", "stacks", pid, options[i], "/nonexistent/x", NULL), 2,
			"fiberctl", "/nonexistent/x");
	}
}

/* A limit on the file size acts like a full disk. */
static void test_half_a_file_is_none(void **state)
{
	char path[HARNESS_PATH];
	struct rlimit was, small = {.rlim_cur = 4096};

	(void)state;
	write_file(harness_file(path, "precious"), "precious");
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	small.rlim_max = was.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	cli_expect_error(cli_run("fiberctl", "stacks", pid, "--svg", path, "--force", NULL), 2,
			 "fiberctl", "precious: cannot be written: File too large");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	expect_words(path, "precious");
}

/* The same fibers are looked at twice: the files differ in the ages. */
static void test_a_file_can_be_standard_output(void **state)
{
	char option[HARNESS_PATH + 16], bytes[65536];
	struct harness_process *p;
	FILE *file;
	size_t size;

	(void)state;
	snprintf(option, sizeof(option), "--speedscope=%s", speedscope);
	cli_ended(cli_run("fiberctl", "stacks", pid, "--force", "--where", "wait=mutex", option,
			  NULL),
		  0);
	p = cli_run("fiberctl", "stacks", pid, "--where", "wait=mutex", "--speedscope=-", NULL);
	cli_expect(p, 0);
	file = fopen(speedscope, "r");
	assert_non_null(file);
	size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	assert_true(size > 100 && size < sizeof(bytes) && p->out.size > 100);
	assert_memory_equal(p->out.bytes, bytes, 100);
	assert_string_equal(p->out.bytes + p->out.size - 5, "]}]}\n");
	assert_string_equal(p->err.bytes, "");
	harness_free(p);
	assert_int_equal(access("-", F_OK), -1);
	cli_expect_error(cli_run("fiberctl", "stacks", pid, "--svg=-", "--pprof=-", NULL), 64,
			 "fiberctl", "only one file");
}

static void test_one_thing_goes_to_standard_output(void **state)
{
	(void)state;
	cli_expect_error(cli_run("fiberctl", "stacks", pid, "--svg=x", "--json", NULL), 64,
			 "fiberctl", "--json");
	cli_expect_error(cli_run("fiberctl", "stacks", pid, "--pprof=x", "--folded", NULL), 64,
			 "fiberctl", "--folded");
	cli_expect_error(cli_run("fiberctl", "stacks", pid, "--force", NULL), 64, "fiberctl",
			 "--force");
	cli_expect_error(cli_run("fiberctl", "list", pid, "--svg=x", NULL), 64, "fiberctl",
			 "--svg");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_formats_have_the_same_stacks),
		cmocka_unit_test(test_groups_and_selections_are_those_of_folded_stacks),
		cmocka_unit_test(test_a_file_that_is_there_is_only_replaced_with_force),
		cmocka_unit_test(test_half_a_file_is_none),
		cmocka_unit_test(test_a_file_can_be_standard_output),
		cmocka_unit_test(test_one_thing_goes_to_standard_output),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, one_crowd_end);
}
