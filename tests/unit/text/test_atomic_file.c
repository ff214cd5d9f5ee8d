/* SPDX-License-Identifier: MIT */
/* test_atomic_file.c - the old file stays until the new one is whole, and no draft is left */
#include "tests/harness/inspect/head.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inspect/text/atomic_file.h"
#include "tests/harness/paths.h"

static char path[HARNESS_PATH];
static struct ins_error error;
static struct ins_atomic_file draft;

static void write_one(const char *words, bool replace, int rc, int expected)
{
	assert_int_equal(ins_atomic_file_begin(&draft, path, replace, &error), 0);
	assert_string_not_equal(ins_atomic_file_path, "");
	fputs(words, draft.out);
	assert_int_equal(ins_atomic_file_end(&draft, rc, &error), expected);
	assert_string_equal(ins_atomic_file_path, "");
}

static void expect(const char *words)
{
	char text[64] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_non_null(fgets(text, sizeof text, file));
	fclose(file);
	assert_string_equal(text, words);
}

/* Count the files whose name starts with that of `path`. */
static unsigned left(void)
{
	char folder[HARNESS_PATH];
	const struct dirent *e;
	unsigned n = 0;
	char *name;
	DIR *dir;

	snprintf(folder, sizeof folder, "%s", path);
	name = strrchr(folder, '/');
	*name++ = '\0';
	dir = opendir(folder);
	assert_non_null(dir);
	while ((e = readdir(dir)))
		n += strncmp(e->d_name, name, strlen(name)) == 0;
	closedir(dir);
	return n;
}

static void test_a_whole_one_gets_its_name_and_is_its_owners(void **state)
{
	struct stat st;

	(void)state;
	write_one("one", false, 0, 0);
	expect("one");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(left(), 1);
}

static void test_what_is_there_is_only_replaced_where_that_is_wanted(void **state)
{
	(void)state;
	write_one("one", false, 0, 0);
	assert_int_equal(ins_atomic_file_begin(&draft, path, false, &error), -EEXIST);
	assert_non_null(strstr(error.text, "--force"));
	write_one("two", true, 0, 0);
	expect("two");
	assert_int_equal(left(), 1);
}

static void test_after_an_error_all_is_as_it_was(void **state)
{
	(void)state;
	write_one("one", false, 0, 0);
	write_one("two", true, -ENOSPC, -ENOSPC);
	expect("one");
	assert_int_equal(left(), 1);
}

static void test_one_that_came_meanwhile_stays(void **state)
{
	FILE *file;

	(void)state;
	assert_int_equal(ins_atomic_file_begin(&draft, path, false, &error), 0);
	file = fopen(path, "w");
	fputs("theirs", file);
	fclose(file);
	assert_int_equal(ins_atomic_file_end(&draft, 0, &error), -EEXIST);
	expect("theirs");
	assert_int_equal(left(), 1);
}

static void test_what_is_no_file_is_never_replaced(void **state)
{
	(void)state;
	assert_int_equal(ins_atomic_file_begin(&draft, "/dev/full", true, &error), -EEXIST);
	assert_int_equal(ins_atomic_file_begin(&draft, "/", true, &error), -EEXIST);
	assert_int_equal(ins_atomic_file_begin(&draft, "/nonexistent/x", false, &error), -ENOENT);
	assert_string_equal(ins_atomic_file_path, "");
}

/* Links such as /dev/stdout belong to the system; replacing one would break it for all. */
static void test_a_link_to_what_is_no_file_is_never_replaced(void **state)
{
	static const char *const links[] = {"/dev/full", "/", "/proc/self/fd/1"};
	struct stat st;

	(void)state;
	for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
		assert_int_equal(symlink(links[i], path), 0);
		assert_int_equal(ins_atomic_file_begin(&draft, path, true, &error), -EEXIST);
		assert_non_null(strstr(error.text, "is no file"));
		assert_int_equal(unlink(path), 0);
	}
	/* A symbolic link to a file, or to nothing, is itself replaced. */
	assert_int_equal(symlink("/dev/null/nowhere", path), 0);
	write_one("one", true, 0, 0);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(left(), 1);
}

static int begin(void **state)
{
	(void)state;
	harness_file(path, "drafted");
	unlink(path);
	return 0;
}

#define DRAFT_TEST(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		DRAFT_TEST(test_a_whole_one_gets_its_name_and_is_its_owners),
		DRAFT_TEST(test_what_is_there_is_only_replaced_where_that_is_wanted),
		DRAFT_TEST(test_after_an_error_all_is_as_it_was),
		DRAFT_TEST(test_one_that_came_meanwhile_stays),
		DRAFT_TEST(test_what_is_no_file_is_never_replaced),
		DRAFT_TEST(test_a_link_to_what_is_no_file_is_never_replaced),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
