/* SPDX-License-Identifier: MIT */
/* test_fiberctl_metrics.c - metrics for Prometheus are well-formed, complete and true */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/cli/prom.h"
#include "tests/harness/watchdog.h"

static char ready[1024]; /* what the fixture prints */

static struct harness_process *start(const char *carriers)
{
	struct harness_process *p =
		cli_start(NULL, "ready", "figures", "--carriers", carriers, NULL);

	snprintf(ready, sizeof ready, "%s", p->line);
	return p;
}

/* The number after this word in `ready`. */
static double said(const char *word)
{
	const char *at = strstr(ready, word);

	assert_non_null(at);
	return strtod(at + strlen(word), NULL);
}

/* The checked text; the caller frees it. */
static char *metrics(const struct harness_process *process)
{
	return prom_metrics(cli_number((uint64_t)process->pid));
}

/* The switches of all fibers that still exist. */
static double listed_switches(const struct harness_process *process)
{
	struct harness_process *p =
		cli_run("fiberctl", "list", cli_number((uint64_t)process->pid), "--json", NULL);
	double sum = 0;
	const json_t *fiber;
	json_t *answer;
	size_t i;

	answer = json_well(p);
	json_array_foreach (json_object_get(answer, "fibers"), i, fiber)
		sum += (double)json_int(fiber, "switches");
	json_decref(answer);
	return sum;
}

static double waiting(const char *text, const char *kind)
{
	return prom_only(text, "libfiber_fibers_waiting", "wait", kind);
}

/* Checks that hold for any number of carriers. */
static void expect_figures(const struct harness_process *process, const char *text)
{
	const double live = said("spawned ") - said("ended ");

	assert_true(prom_sum(text, "libfiber_fibers_spawned_total", "", NULL) == said("spawned "));
	assert_true(prom_sum(text, "libfiber_fibers_ended_total", "", NULL) == said("ended "));
	assert_true(prom_sum(text, "libfiber_fibers", "", NULL) == live);
	assert_true(prom_sum(text, "libfiber_fibers", "state=\"suspended\"", NULL) == live);
	assert_true(prom_sum(text, "libfiber_fibers_waiting", "", NULL) == live);
	assert_true(waiting(text, "sleep") == said("sleep "));
	assert_true(waiting(text, "mutex") == said("mutex "));
	assert_true(waiting(text, "park") == said("park "));
	assert_true(prom_sum(text, "libfiber_carrier_timers", "", NULL) == said("sleep "));
	assert_true(prom_sum(text, "libfiber_pinned_events_total", "", NULL) == said("pinned "));
	assert_true(prom_sum(text, "libfiber_stacks", "use=\"used\"", NULL) == live);
	assert_true(prom_sum(text, "libfiber_stacks", "", NULL) ==
		    prom_sum(text, "libfiber_stacks_made_total", "", NULL));
	assert_true(prom_sum(text, "libfiber_carrier_switches_total", "", NULL) ==
		    said("switched ") + listed_switches(process));
	assert_true(prom_sum(text, "libfiber_run_queue_delay_seconds_count", "", NULL) ==
		    prom_sum(text, "libfiber_carrier_switches_total", "", NULL));
	assert_true(prom_sum(text, "libfiber_resident_bytes", "", NULL) > 0);
	assert_true(prom_sum(text, "libfiber_service_cpu_seconds_total", "", NULL) > 0);
	assert_true(prom_sum(text, "libfiber_carrier_cpu_seconds_total", "", NULL) > 0);
}

static void test_metrics_are_what_happened_on_one_carrier(void **state)
{
	struct harness_process *process = start("1");
	char *text = metrics(process);

	(void)state;
	expect_figures(process, text);
	assert_true(prom_sum(text, "libfiber_carrier_steals_total", "", NULL) == 0);
	/* The late fibers waited 300 ms. The thread that sets the clock may be late itself. */
	assert_true(prom_sum(text, "libfiber_run_queue_delay_seconds_count", "", NULL) -
			    prom_sum(text, "libfiber_run_queue_delay_seconds_bucket",
				     "le=\"0.032\"", NULL) >=
		    said("late "));
	assert_true(prom_sum(text, "libfiber_run_queue_delay_seconds_sum", "", NULL) >=
		    said("late ") * 0.05);
	free(text);
	harness_free(process);
}

static void test_metrics_are_what_happened_on_two_carriers(void **state)
{
	struct harness_process *process = start("2");
	char *text = metrics(process);
	unsigned n;

	(void)state;
	expect_figures(process, text);
	assert_true(prom_sum(text, "libfiber_carrier_steals_total", "", &n) > 0);
	assert_int_equal(n, 2);
	assert_true(prom_sum(text, "libfiber_carriers", "", NULL) == 2);
	free(text);
	harness_free(process);
}

static void test_metrics_have_no_slow_events_where_nobody_watches(void **state)
{
	struct harness_process *process = start("1");
	struct harness_process *off;
	char *text = metrics(process);

	(void)state;
	assert_non_null(strstr(text, "libfiber_slow_events_total"));
	free(text);
	off = cli_run("fiberctl", "watchdog", cli_number((uint64_t)process->pid), "off", NULL);
	cli_ended(off, 0);
	text = metrics(process);
	assert_null(strstr(text, "libfiber_slow_events_total"));
	free(text);
	harness_free(process);
}

/* The pid label: its digits alone could match another number. Valid until the next call. */
static const char *label(const struct harness_process *process)
{
	static char part[64];

	snprintf(part, sizeof part, "pid=\"%d\"", (int)process->pid);
	return part;
}

static double of(const char *text, const struct harness_process *process, const char *name)
{
	return prom_sum(text, name, label(process), NULL);
}

/* The metrics of all programs; other programs may not answer. The caller frees the text. */
static char *metrics_of_all(bool whole)
{
	struct harness_process *p = cli_run("fiberctl", "metrics", NULL);
	char *text;

	assert_true(WIFEXITED(p->status));
	assert_in_range(WEXITSTATUS(p->status), whole ? 0 : 1, 1);
	text = strdup(p->out.bytes);
	harness_free(p);
	prom_check(text);
	return text;
}

static void test_metrics_of_all_have_each_process_once(void **state)
{
	struct harness_process *a = start("1"), *b = start("2");
	char *text = metrics_of_all(true);

	(void)state;
	assert_true(of(text, a, "libfiber_up") == 1);
	assert_true(of(text, b, "libfiber_up") == 1);
	assert_true(of(text, a, "libfiber_carriers") == 1);
	assert_true(of(text, b, "libfiber_carriers") == 2);
	free(text);
	/* If one does not answer, the other is still shown. */
	assert_int_equal(kill(b->pid, SIGSTOP), 0);
	text = metrics_of_all(false);
	assert_int_equal(kill(b->pid, SIGCONT), 0);
	assert_true(of(text, a, "libfiber_up") == 1);
	assert_true(of(text, a, "libfiber_carriers") == 1);
	assert_true(of(text, b, "libfiber_up") == 0);
	assert_non_null(strstr(text, label(b)));
	assert_true(of(text, b, "libfiber_carriers") == 0);
	free(text);
	/* A program that has exited does not count as unanswered. */
	assert_int_equal(kill(b->pid, SIGKILL), 0);
	harness_wait_end(b, CLI_SECONDS);
	text = metrics_of_all(true);
	assert_true(of(text, a, "libfiber_up") == 1);
	assert_null(strstr(text, label(b)));
	free(text);
	harness_free(a);
	harness_free(b);
}

/* A program may have any name. */
static void test_metrics_of_a_hostile_name_are_well_formed(void **state)
{
	char folder[] = "/tmp/fiber-name-XXXXXX", from[HARNESS_PATH], path[sizeof folder + 64];
	struct harness_process *process, *p;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/a\"b\\c\nd\x1b[2J\xff\xc2\x9b", folder);
	harness_free(cli_run("/bin/cp", harness_program(from, "crowd"), path, NULL));
	process = cli_start(NULL, "ready", path, "10", NULL);
	p = cli_run("fiberctl", "metrics", cli_number((uint64_t)process->pid), NULL);
	cli_expect(p, 0);
	prom_check(p->out.bytes);
	cli_contains(p->out.bytes, "program=\"a\\\"b\\\\c\\nd\\\\x1b[2J\\\\xff\\\\xc2\\\\x9b\"");
	harness_free(p);
	harness_free(process);
	unlink(path);
	rmdir(folder);
}

static unsigned files_in(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	unsigned n = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

static void test_metrics_replace_a_file_as_a_whole(void **state)
{
	char folder[] = "/tmp/fiber-prom-XXXXXX", path[sizeof folder + 16], nowhere[64];
	struct harness_process *process = start("1"), *p;
	const char *pid = cli_number((uint64_t)process->pid);
	struct stat first, second;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/libfiber.prom", folder);
	p = cli_run("fiberctl", "metrics", pid, "--output", path, NULL);
	cli_expect(p, 0);
	assert_string_equal(p->out.bytes, "");
	harness_free(p);
	assert_int_equal(stat(path, &first), 0);
	assert_true(first.st_size > 1000);
	assert_int_equal(first.st_mode & 0777, 0644);
	harness_free(cli_run("fiberctl", "metrics", pid, "-o", path, NULL));
	assert_int_equal(stat(path, &second), 0);
	assert_int_not_equal(first.st_ino, second.st_ino);
	assert_int_equal(files_in(folder), 1);
	p = cli_run("/bin/cat", path, NULL);
	prom_check(p->out.bytes);
	assert_true(prom_sum(p->out.bytes, "libfiber_up", "", NULL) == 1);
	harness_free(p);
	snprintf(nowhere, sizeof nowhere, "%s/there/is/none", folder);
	cli_expect_error(cli_run("fiberctl", "metrics", pid, "-o", nowhere, NULL), 2, "fiberctl",
			 nowhere);
	/* Only regular files are replaced: otherwise /dev/stdout would be lost for all programs. */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	cli_expect_error(cli_run("fiberctl", "metrics", pid, "-o", path, NULL), 2, "fiberctl",
			 "is no file");
	assert_int_equal(stat(path, &second), 0);
	assert_true(S_ISFIFO(second.st_mode));
	assert_int_equal(files_in(folder), 1);
	unlink(path);
	assert_int_equal(rmdir(folder), 0);
	harness_free(process);
}

static void test_metrics_are_what_promtool_accepts(void **state)
{
	struct harness_process *process, *p;
	char command[HARNESS_PATH + 64], tool[HARNESS_PATH];

	(void)state;
	process = start("2");
	snprintf(command, sizeof command, "%s metrics %d | promtool check metrics",
		 harness_program(tool, "fiberctl"), (int)process->pid);
	p = cli_run("/bin/sh", "-c", command, NULL);
	cli_expect(p, 0);
	assert_string_equal(p->err.bytes, "");
	harness_free(p);
	harness_free(process);
}

static void test_metrics_refuse_what_they_are_not(void **state)
{
	(void)state;
	cli_expect_error(cli_run("fiberctl", "metrics", "--output", "", NULL), 64, "fiberctl",
			 "--output");
	cli_expect_error(cli_run("fiberctl", "metrics", "a", "b", NULL), 64, "fiberctl", "b");
	cli_expect_error(cli_run("fiberctl", "metrics", "no-such-program", NULL), 2, "fiberctl",
			 "no-such-program");
}

#define HEAD(name, type) "# HELP " name " help\n# TYPE " name " " type "\n"

/* Check the checker that all other tests rely on. */
static void test_metrics_rules_find_what_is_wrong(void **state)
{
	static const char *const right[] = {
		"",
		HEAD("a", "gauge") "a 1\n",
		HEAD("a_total", "counter") "a_total{x=\"1\"} 1\na_total{x=\"\\n\\\"\\\\\"} 2.5\n",
		HEAD("h", "histogram") "h_bucket{le=\"1\"} 1\nh_bucket{le=\"+Inf\"} 1\nh_sum "
				       "2\nh_count 1\n",
	};
	static const char *const wrong[][2] = {
		{"a 1\n", "come first"},
		{"# TYPE a gauge\na 1\n", "follows its HELP"},
		{"# HELP a help\na 1\n", "come first"},
		{HEAD("a", "gauge") "a 1", "last line"},
		{HEAD("a", "gauge") "b 1\n", "head of its family"},
		{HEAD("a", "gauge") HEAD("b", "gauge") HEAD("a", "gauge"), "begins once"},
		{HEAD("a", "gauge") "a 1\na 2\n", "no two"},
		{HEAD("a", "gauge") "a{x=\"1\"} 1\na{x=\"1\"} 2\n", "no two"},
		{HEAD("a", "counter") "a 1\n", "_total"},
		{HEAD("a_total", "gauge") "a_total 1\n", "_total"},
		{HEAD("a", "sum"), "known type"},
		{HEAD("A", "gauge"), "a name"},
		{HEAD("a", "gauge") "a{X=\"1\"} 1\n", "name=\"value\""},
		{HEAD("a", "gauge") "a{x=\"\x1b\"} 1\n", "control characters"},
		{HEAD("a", "gauge") "a{x=\"\xff\"} 1\n", "text"},
		{HEAD("a", "gauge") "a{x=\"\\x\"} 1\n", "escapes"},
		{HEAD("a", "gauge") "a{x=\"1\"y=\"2\"} 1\n", "commas"},
		{HEAD("a", "gauge") "a one\n", "a number"},
		{HEAD("a", "gauge") "a -1\n", "a number"},
		{HEAD("a", "gauge") "a{le=\"1\"} 1\n", "parts of a histogram"},
		{HEAD("h", "histogram") "h_bucket{le=\"+Inf\"} 1\n", "all of its samples"},
		{HEAD("h", "histogram") "h_bucket{le=\"1\"} 1\nh_sum 1\n", "+Inf"},
		{HEAD("h", "histogram") "h_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 1\n",
		 "add up"},
		{HEAD("h", "histogram") "h_bucket{le=\"2\"} 1\nh_bucket{le=\"1\"} 1\n", "in order"},
		{HEAD("h", "histogram") "h_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 2\n",
		 "the count"},
		{HEAD("h", "histogram") "h_bucket{le=\"+Inf\"} 1\nh_count 1\n", "a sum"},
	};
	char fault[PROM_FAULT];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof right / sizeof right[0]; i++)
		prom_check(right[i]);
	for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		assert_true(prom_find_fault(wrong[i][0], fault));
		cli_contains(fault, wrong[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_metrics_rules_find_what_is_wrong),
		cmocka_unit_test(test_metrics_are_what_happened_on_one_carrier),
		cmocka_unit_test(test_metrics_are_what_happened_on_two_carriers),
		cmocka_unit_test(test_metrics_have_no_slow_events_where_nobody_watches),
		cmocka_unit_test(test_metrics_of_all_have_each_process_once),
		cmocka_unit_test(test_metrics_of_a_hostile_name_are_well_formed),
		cmocka_unit_test(test_metrics_replace_a_file_as_a_whole),
		cmocka_unit_test(test_metrics_are_what_promtool_accepts),
		cmocka_unit_test(test_metrics_refuse_what_they_are_not),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
