/* SPDX-License-Identifier: MIT */
/* test_debug_search.c - no link leads out of a sysroot; the folders where libdw searches */
#include "inspect/elf/debug_search.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/inspect/head.h"
#include "tests/harness/paths.h"

static char root[HARNESS_PATH];

static void below(const char *name, char *buf)
{
	assert_true(snprintf(buf, HARNESS_PATH, "%s%s", root, name) < HARNESS_PATH);
}

static void test_without_a_sysroot_nothing_is_found(void **state)
{
	char found[HARNESS_PATH];

	(void)state;
	assert_false(ins_debug_search_in_sysroot("/etc/passwd", found, sizeof found));
}

static void test_links_lead_to_what_is_below_the_sysroot(void **state)
{
	struct ins_error error = {""};
	char found[HARNESS_PATH], file[HARNESS_PATH], link[HARNESS_PATH];

	(void)state;
	below("/usr", file);
	assert_int_equal(mkdir(file, 0700), 0);
	below("/usr/it", file);
	close(open(file, O_CREAT | O_WRONLY, 0600));
	below("/lib", link);
	assert_int_equal(symlink("/usr", link), 0);
	below("/out", link);
	assert_int_equal(symlink("../../../../../../../etc", link), 0);
	assert_int_equal(ins_debug_search_sysroot(root, &error), 0);
	assert_true(ins_debug_search_in_sysroot("/usr/it", found, sizeof found));
	assert_string_equal(found, file);
	assert_true(ins_debug_search_in_sysroot("/lib/it", found, sizeof found));
	assert_string_equal(found, file);
	assert_true(ins_debug_search_in_sysroot("/../../usr/it", found, sizeof found));
	assert_string_equal(found, file);
	assert_false(ins_debug_search_in_sysroot("/out/passwd", found, sizeof found));
	assert_false(ins_debug_search_in_sysroot("/usr/it", found, 5));
}

static void test_the_first_folder_is_looked_in_first(void **state)
{
	struct ins_error error = {""};
	char a[HARNESS_PATH], b[HARNESS_PATH], both[2 * HARNESS_PATH + 2], want[3 * HARNESS_PATH];

	(void)state;
	below("/a", a);
	below("/b", b);
	assert_int_equal(mkdir(a, 0700), 0);
	assert_int_equal(mkdir(b, 0700), 0);
	snprintf(both, sizeof both, "%s:%s", a, b);
	assert_int_equal(ins_debug_search_debug(both, &error), 0);
	snprintf(want, sizeof want, "+%s:%s:", a, b);
	assert_memory_equal(ins_debug_search_path, want, strlen(want));
	assert_non_null(strstr(ins_debug_search_path, ":.debug:/usr/lib/debug"));
}

static void test_what_is_no_folder_is_named(void **state)
{
	struct ins_error error = {""};

	(void)state;
	assert_int_equal(ins_debug_search_sysroot("/nonexistent", &error), -ENOENT);
	assert_non_null(strstr(error.text, "/nonexistent"));
	assert_int_equal(ins_debug_search_debug("/tmp:/dev/null", &error), -ENOTDIR);
	assert_non_null(strstr(error.text, "/dev/null"));
	/* The last valid path is still used. */
	assert_int_equal(ins_debug_search_debug("", &error), 0);
}

static int start(void **state)
{
	(void)state;
	return mkdir(harness_file(root, "root"), 0700);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_a_sysroot_nothing_is_found),
		cmocka_unit_test(test_links_lead_to_what_is_below_the_sysroot),
		cmocka_unit_test(test_the_first_folder_is_looked_in_first),
		cmocka_unit_test(test_what_is_no_folder_is_named),
	};

	return HEAD_RUN(tests, start, NULL);
}
