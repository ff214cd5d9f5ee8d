/* SPDX-License-Identifier: MIT */
/* test_fiberctl_watchdog.c - the threshold of a long run: read, changed from outside, in force */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/cli/setting.h"
#include "tests/harness/watchdog.h"

static struct harness_process *hog;
static char pid[16];

static int start(void **state)
{
	(void)state;
	hog = cli_start(NULL, "ready ", "hog", NULL);
	snprintf(pid, sizeof pid, "%d", hog->pid);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	harness_free(hog);
	return 0;
}

/* Run watchdog with an argument or NULL. */
static void ask(const char *change, json_int_t now, json_int_t previous)
{
	json_t *watchdog = setting_ask("watchdog", hog->pid, change, "on:b thresholdNs:i events:i");

	assert_int_equal(json_int(watchdog, "thresholdNs"), now);
	assert_int_equal(json_is_true(json_object_get(watchdog, "on")), now != 0);
	assert_int_equal(json_int(watchdog, "previousNs"), previous);
	json_decref(watchdog);
}

static void test_threshold_is_read_changed_and_read_back(void **state)
{
	(void)state;
	ask(NULL, 20000000, -1);
	ask("5ms", 5000000, 20000000);
	ask("off", 0, 5000000);
	ask(NULL, 0, -1);
	ask("1.5s", 1500000000, 0);
	ask("20ms", 20000000, 1500000000);
}

static void test_threshold_text_shows_old_and_new(void **state)
{
	(void)state;
	setting_says("watchdog", hog->pid, "off", "watchdog: off, was 20ms (");
	setting_says("watchdog", hog->pid, "20ms", "watchdog: 20ms, was off (");
}

static void test_threshold_that_is_none_is_a_usage_error(void **state)
{
	(void)state;
	cli_expect_error(cli_run("fiberctl", "watchdog", pid, "soon", NULL), 64, "fiberctl",
			 "soon");
	cli_expect_error(cli_run("fiberctl", "watchdog", pid, "0", NULL), 64, "fiberctl", "off");
	ask(NULL, 20000000, -1);
}

/* A user who types 50 after it printed 20ms does not mean 50 s in which nothing is reported. */
static void test_threshold_without_a_unit_is_a_usage_error(void **state)
{
	(void)state;
	cli_expect_error(cli_run("fiberctl", "watchdog", pid, "50", NULL), 64, "fiberctl",
			 "50: say the unit, as in 50ms");
	cli_expect_error(cli_run("fiberctl", "watchdog", pid, "0.5", NULL), 64, "fiberctl",
			 "0.5: say the unit, as in 0.5ms");
	ask(NULL, 20000000, -1);
}

static bool reported(void *arg)
{
	const struct harness_process *other = arg;
	struct harness_process *p =
		cli_run("fiberctl", "slow", cli_number((uint64_t)other->pid), NULL);
	const bool yes = strstr(p->out.bytes, "hog_forever") != NULL;

	harness_free(p);
	return yes;
}

/*
 * One fiber computes all the time; at first the watchdog is off. Always uses the build without a
 * sanitizer: a sanitizer's runtime has frames whose caller cannot be found, and the fiber is mostly
 * in these.
 */
static void test_threshold_that_is_set_holds_for_what_runs_already(void **state)
{
	char program[HARNESS_PATH];
	struct harness_process *other =
		cli_start(NULL, "ready ", harness_plain(program, "hog"), "--threshold", "0",
			  "--spin", "2", "--forever", NULL);
	struct harness_process *p =
		cli_run("fiberctl", "slow", cli_number((uint64_t)other->pid), NULL);

	(void)state;
	cli_expect(p, 0);
	assert_string_equal(p->out.bytes, "shown 0 of 0 long runs, in 0 places\n");
	harness_free(p);
	setting_says("watchdog", other->pid, "30ms",
		     "watchdog: 30ms, was off (0 long runs so far)\n");
	assert_true(harness_until(reported, other, CLI_SECONDS));
	harness_free(other);
}

static struct harness_process *start_hog(const struct harness_how *how)
{
	return cli_start(how, "ready ", "hog", NULL);
}

static void test_threshold_is_not_changed_where_control_is_read_only(void **state)
{
	(void)state;
	setting_refused_read_only("watchdog", "5ms", "watchdog: 20ms (", start_hog);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threshold_is_read_changed_and_read_back),
		cmocka_unit_test(test_threshold_text_shows_old_and_new),
		cmocka_unit_test(test_threshold_that_is_none_is_a_usage_error),
		cmocka_unit_test(test_threshold_without_a_unit_is_a_usage_error),
		cmocka_unit_test(test_threshold_that_is_set_holds_for_what_runs_already),
		cmocka_unit_test(test_threshold_is_not_changed_where_control_is_read_only),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, stop);
}
