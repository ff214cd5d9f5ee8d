/* SPDX-License-Identifier: MIT */
/* test_socket_path.c - how the path of the control socket is chosen */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "hear.h"
#include "service/socket_path.h"
#include "tests/harness/paths.h"
#include "tests/harness/watchdog.h"

static struct fib_socket_path place;

static int forget_settings(void **state)
{
	(void)state;
	unsetenv("FIBER_CONTROL");
	unsetenv("FIBER_CONTROL_PATH");
	setenv("XDG_RUNTIME_DIR", harness_folder(), 1);
	return 0;
}

static void test_place_default_is_below_the_runtime_folder(void **state)
{
	char expected[HARNESS_PATH];

	(void)state;
	assert_int_equal(fib_socket_path_choose(&place, NULL, 77), 0);
	assert_true(place.wanted);
	assert_true(place.own_folder);
	assert_int_equal(place.mode, FIB_WIRE_RW);
	assert_string_equal(place.path, harness_file(expected, "fiber/77.sock"));
	assert_string_equal(place.folder, harness_file(expected, "fiber"));
	assert_true(strlen(place.draft) <= strlen(place.path));
}

static void test_place_without_runtime_folder_is_in_tmp_by_user(void **state)
{
	char expected[64];

	(void)state;
	unsetenv("XDG_RUNTIME_DIR");
	snprintf(expected, sizeof expected, "/tmp/fiber-%u/77.sock", (unsigned)geteuid());
	assert_int_equal(fib_socket_path_choose(&place, NULL, 77), 0);
	assert_string_equal(place.path, expected);
	setenv("XDG_RUNTIME_DIR", "relative", 1);
	assert_int_equal(fib_socket_path_choose(&place, NULL, 77), 0);
	assert_string_equal(place.path, expected);
}

static void test_place_runtime_folder_of_another_user_counts_as_none(void **state)
{
	char folder[HARNESS_PATH];

	(void)state;
	if (geteuid() != 0)
		skip();
	harness_file(folder, "foreign");
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(chown(folder, 65534, 65534), 0);
	setenv("XDG_RUNTIME_DIR", folder, 1);
	assert_int_equal(fib_socket_path_choose(&place, NULL, 77), 0);
	assert_string_equal(place.path, "/tmp/fiber-0/77.sock");
	rmdir(folder);
}

static void test_place_off_wants_no_socket_whatever_the_program_says(void **state)
{
	(void)state;
	setenv("FIBER_CONTROL", "off", 1);
	assert_int_equal(fib_socket_path_choose(&place, "/run/x.sock", 77), 0);
	assert_false(place.wanted);
}

static void test_place_each_word_gives_its_mode(void **state)
{
	(void)state;
	setenv("FIBER_CONTROL", "ro", 1);
	assert_int_equal(fib_socket_path_choose(&place, NULL, 77), 0);
	assert_int_equal(place.mode, FIB_WIRE_RO);
	setenv("FIBER_CONTROL", "admin", 1);
	assert_int_equal(fib_socket_path_choose(&place, NULL, 77), 0);
	assert_int_equal(place.mode, FIB_WIRE_ADMIN);
}

static void test_place_unknown_word_means_off_and_is_said_once(void **state)
{
	struct hearing h;
	int rc;

	(void)state;
	setenv("FIBER_CONTROL", "readonly", 1);
	hear_begin(&h);
	rc = fib_socket_path_choose(&place, NULL, 77);
	hear_end(&h);
	assert_int_equal(rc, -EINVAL);
	assert_false(place.wanted);
	assert_true(said(h.text, "FIBER_CONTROL=readonly: not one of off, ro, rw, admin"));
}

static void test_place_writes_nothing_of_the_environment_that_a_terminal_obeys(void **state)
{
	char word[500] = "\x1b[2J\xc2\x9b", path[400] = "/run/\xe2\x80\xae\x1b[2J";
	struct hearing h;

	(void)state;
	memset(word + strlen(word), 'x', sizeof word - 1 - strlen(word));
	setenv("FIBER_CONTROL", word, 1);
	hear_begin(&h);
	assert_int_equal(fib_socket_path_choose(&place, NULL, 77), -EINVAL);
	hear_end(&h);
	assert_true(said(h.text, "FIBER_CONTROL=\\x1b[2J\\xc2\\x9bxxx"));
	assert_true(said(h.text, "not one of off, ro, rw, admin; going on without"));
	assert_null(strpbrk(h.text, "\x1b\xc2\x9b"));
	assert_true(strlen(h.text) < 200);
	unsetenv("FIBER_CONTROL");

	memset(path + strlen(path), 'x', sizeof path - 1 - strlen(path));
	setenv("FIBER_CONTROL_PATH", path, 1);
	hear_begin(&h);
	assert_int_equal(fib_socket_path_choose(&place, NULL, 77), -ENAMETOOLONG);
	hear_end(&h);
	assert_true(said(h.text, "/run/\\xe2\\x80\\xae\\x1b[2Jxxx"));
	assert_true(said(h.text, "set FIBER_CONTROL_PATH to a shorter one"));
	assert_null(strpbrk(h.text, "\x1b\xe2"));
}

static void test_place_path_of_the_environment_beats_the_programs(void **state)
{
	(void)state;
	assert_int_equal(fib_socket_path_choose(&place, "/run/mine.sock", 77), 0);
	assert_string_equal(place.path, "/run/mine.sock");
	assert_string_equal(place.draft, "/run/.77");
	assert_false(place.own_folder);
	setenv("FIBER_CONTROL_PATH", "/run/theirs.sock", 1);
	assert_int_equal(fib_socket_path_choose(&place, "/run/mine.sock", 77), 0);
	assert_string_equal(place.path, "/run/theirs.sock");
}

static void test_place_program_that_wants_none_has_none_unless_asked_from_outside(void **state)
{
	(void)state;
	assert_int_equal(fib_socket_path_choose(&place, "", 77), 0);
	assert_false(place.wanted);
	setenv("FIBER_CONTROL", "ro", 1);
	assert_int_equal(fib_socket_path_choose(&place, "", 77), 0);
	assert_true(place.wanted);
	assert_true(place.own_folder);
}

static void test_place_path_too_long_is_said_with_the_remedy(void **state)
{
	char path[200];
	struct hearing h;
	int rc;

	(void)state;
	memset(path, 'x', sizeof path);
	path[0] = '/';
	path[sizeof path - 1] = 0;
	hear_begin(&h);
	rc = fib_socket_path_choose(&place, path, 77);
	hear_end(&h);
	assert_int_equal(rc, -ENAMETOOLONG);
	assert_false(place.wanted);
	assert_true(said(h.text, "set FIBER_CONTROL_PATH to a shorter one"));
	path[FIB_OS_LOCAL_MAX] = 0;
	path[90] = '/';
	assert_int_equal(fib_socket_path_choose(&place, path, 77), 0);
	assert_string_equal(place.path, path);
}

static void test_place_runtime_folder_too_deep_is_said_with_the_remedy(void **state)
{
	char folder[HARNESS_PATH], deep[128];
	struct hearing h;
	int rc;

	(void)state;
	memset(deep, 'd', FIB_OS_LOCAL_MAX);
	deep[FIB_OS_LOCAL_MAX] = 0;
	assert_int_equal(mkdir(harness_file(folder, deep), 0700), 0);
	setenv("XDG_RUNTIME_DIR", folder, 1);
	hear_begin(&h);
	rc = fib_socket_path_choose(&place, NULL, 77);
	hear_end(&h);
	rmdir(folder);
	assert_int_equal(rc, -ENAMETOOLONG);
	assert_false(place.wanted);
	assert_true(said(h.text, "set FIBER_CONTROL_PATH to a shorter one"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_place_default_is_below_the_runtime_folder,
				       forget_settings),
		cmocka_unit_test_setup(test_place_without_runtime_folder_is_in_tmp_by_user,
				       forget_settings),
		cmocka_unit_test_setup(test_place_runtime_folder_of_another_user_counts_as_none,
				       forget_settings),
		cmocka_unit_test_setup(test_place_off_wants_no_socket_whatever_the_program_says,
				       forget_settings),
		cmocka_unit_test_setup(test_place_each_word_gives_its_mode, forget_settings),
		cmocka_unit_test_setup(test_place_unknown_word_means_off_and_is_said_once,
				       forget_settings),
		cmocka_unit_test_setup(
			test_place_writes_nothing_of_the_environment_that_a_terminal_obeys,
			forget_settings),
		cmocka_unit_test_setup(test_place_path_of_the_environment_beats_the_programs,
				       forget_settings),
		cmocka_unit_test_setup(
			test_place_program_that_wants_none_has_none_unless_asked_from_outside,
			forget_settings),
		cmocka_unit_test_setup(test_place_path_too_long_is_said_with_the_remedy,
				       forget_settings),
		cmocka_unit_test_setup(test_place_runtime_folder_too_deep_is_said_with_the_remedy,
				       forget_settings),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
