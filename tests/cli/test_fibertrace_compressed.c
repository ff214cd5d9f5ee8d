/* SPDX-License-Identifier: MIT */
/* test_fibertrace_compressed.c - a compressed core gives the same answers as the core */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/cli/dead.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

static char core[HARNESS_PATH];
static char *as_it_was; /* the answer for the uncompressed core */

static const char *const ways[][3] = {
	{"zstd", "-q -1", ".zst"},
	{"xz", "-1", ".xz"},
	{"gzip", "-1", ".gz"},
};

static int start(void **state)
{
	(void)state;
	if (!*harness_sanitizer()) /* a sanitizer's shadow makes cores of terabytes */
		as_it_was = dead_crowd("crowd", "plain", core);
	return 0;
}

/* Compress the core with this program, under this name. */
static void compress(const char *const way[3], const char *name, char *path)
{
	char command[3 * HARNESS_PATH];

	harness_file(path, name);
	snprintf(command, sizeof(command), "%s %s -c '%s' > '%s'", way[0], way[1], core, path);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c) */
}

static void test_each_way_gives_the_same_answer_under_any_name(void **state)
{
	/* Names as systemd-coredump makes them, with escapes and colons, and one without a
	 * suffix. */
	const char *const names[] = {
		"core.crowd.1000.5ebf8d4fbd0b4d2bb9e5d1b7f1a1a1a1.1234.1700000000000000.zst",
		"core.a\\x2fb:c.1000.5ebf8d4fbd0b4d2bb9e5d1b7f1a1a1a1.77.1700000000000000.xz",
		"whatever",
	};
	char path[HARNESS_PATH];
	struct harness_process *p;

	(void)state;
	dead_needed(core);
	for (size_t i = 0; i < 3; i++) {
		compress(ways[i], names[i], path);
		for (int option = 0; option < 2; option++) {
			p = option ? cli_run("fibertrace", "--core", path, "--json", "--each", NULL)
				   : cli_run("fibertrace", path, "--json", "--each", NULL);
			cli_expect(p, 0);
			assert_string_equal(p->out.bytes, as_it_was);
			harness_free(p);
		}
		/* Also with a command. */
		p = cli_run("fibertrace", "list", path, "--json", NULL);
		cli_expect(p, 0);
		json_decref(json_well(p));
	}
}

static void test_a_cut_stream_is_used_as_far_as_it_came_and_said(void **state)
{
	char path[HARNESS_PATH];
	unsigned partial = 0;
	struct stat st;

	(void)state;
	dead_needed(core);
	for (size_t i = 0; i < 3; i++) {
		compress(ways[i], "cut", path);
		assert_int_equal(stat(path, &st), 0);
		for (int k = 15; k > 0; k--) {
			struct harness_process *p;

			assert_int_equal(truncate(path, st.st_size * k / 16), 0);
			p = cli_run("fibertrace", path, NULL);
			if (harness_exit_code(p) != 2) {
				cli_expect(p, 1);
				cli_contains(p->out.bytes, "could not be unpacked to its end");
				partial++;
			} else {
				cli_contains(p->err.bytes, "fibertrace: ");
			}
			harness_free(p);
		}
	}
	assert_true(partial > 0);
}

static void test_what_is_compressed_and_no_core_is_refused(void **state)
{
	char path[HARNESS_PATH], command[2 * HARNESS_PATH];

	(void)state;
	snprintf(command, sizeof(command), "echo a line of a poem | gzip > '%s'",
		 harness_file(path, "poem.gz"));
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c) */
	cli_expect_error(cli_run("fibertrace", path, NULL), 2, "fibertrace", "not a core file");
}

static void test_a_folder_that_cannot_be_written_is_named(void **state)
{
	const char *const env[] = {"TMPDIR=/nonexistent-folder", NULL};
	const struct harness_how how = {.env = env};
	char path[HARNESS_PATH];

	(void)state;
	dead_needed(core);
	compress(ways[0], "nowhere", path);
	cli_expect_error(cli_run_how(&how, "fibertrace", path, NULL), 2, "fibertrace",
			 "/nonexistent-folder");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_way_gives_the_same_answer_under_any_name),
		cmocka_unit_test(test_a_cut_stream_is_used_as_far_as_it_came_and_said),
		cmocka_unit_test(test_what_is_compressed_and_no_core_is_refused),
		cmocka_unit_test(test_a_folder_that_cannot_be_written_is_named),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, NULL);
}
