/* SPDX-License-Identifier: MIT */
/* test_recording_write.c - a recording gets its name when it is whole, and not before */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "tests/harness/inspect/recordings.h"
#include "tests/harness/watchdog.h"

static size_t files(const char *pattern)
{
	char path[HARNESS_PATH];
	glob_t found;
	size_t n = 0;

	if (glob(harness_file(path, pattern), 0, NULL, &found) == 0)
		n = found.gl_pathc;
	globfree(&found);
	return n;
}

static void test_recording_is_there_when_it_is_whole(void **state)
{
	struct made m = made_begin("whole.rec", 100);
	struct stat st;

	(void)state;
	assert_int_equal(access(m.path, F_OK), -1);
	assert_int_equal(files("whole.rec*"), 1); /* the draft */
	ins_recording_close(made_end(&m));
	assert_int_equal(files("whole.rec*"), 1);
	assert_int_equal(stat(m.path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void test_recording_that_is_dropped_leaves_nothing(void **state)
{
	struct made m = made_begin("dropped.rec", 100);

	(void)state;
	ins_recording_drop(m.w);
	assert_int_equal(files("dropped.rec*"), 0);
}

static void test_recording_replaces_only_when_it_may(void **state)
{
	struct made m = made_begin("there.rec", 100);
	struct ins_recording_writer *w;
	struct ins_error error;

	(void)state;
	ins_recording_close(made_end(&m));
	assert_int_equal(ins_recording_begin(m.path, false, &m.head, &error, &w), -EEXIST);
	assert_non_null(strstr(error.text, "--force"));
	assert_int_equal(files("there.rec*"), 1);
	assert_int_equal(ins_recording_begin(m.path, true, &m.head, &error, &w), 0);
	assert_int_equal(ins_recording_end(w, &m.head, &error), 0);
	assert_int_equal(files("there.rec*"), 1);
	assert_true(ins_recording_begin("/nowhere/x", true, &m.head, &error, &w) < 0);
	assert_non_null(strstr(error.text, "/nowhere/x"));
}

static void test_recording_on_a_full_disk_is_an_error(void **state)
{
	struct fib_recording_head head = {.began = 1, .ended = 2};
	static char much[1 << 20];
	struct ins_recording_writer *w;
	struct ins_error error;
	struct made m = made_begin("full.rec", 100);

	(void)state;
	ins_recording_drop(m.w);
	assert_int_equal(ins_recording_begin(m.path, true, &head, &error, &w), 0);
	/* A small limit stands for a full disk. */
	{
		const struct rlimit few = {4096, 4096};

		signal(SIGXFSZ, SIG_IGN);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
	}
	ins_recording_put(w, FIB_RECORDING_FIBERS, much, sizeof much);
	assert_int_equal(ins_recording_end(w, &head, &error), -EFBIG);
	assert_non_null(strstr(error.text, "cannot be written"));
	assert_int_equal(files("full.rec*"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recording_is_there_when_it_is_whole),
		cmocka_unit_test(test_recording_that_is_dropped_leaves_nothing),
		cmocka_unit_test(test_recording_replaces_only_when_it_may),
		cmocka_unit_test(test_recording_on_a_full_disk_is_an_error), /* must be last */
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
