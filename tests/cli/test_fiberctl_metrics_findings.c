/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_metrics_findings.c - the findings among the metrics are those of `why`, rule by rule
 *
 * The programs have one fault each (fixtures/trouble.c, deadlock.c). A rule looks for waits of a
 * second or more, so the tests wait until the metric says so.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/cli/hostile.h"
#include "tests/harness/cli/prom.h"
#include "tests/harness/clock.h"
#include "tests/harness/watchdog.h"

/* The rules that one look at a process can tell, and one at a snapshot. */
#define RULES	       13
#define SNAPSHOT_RULES 11

static double finding(const char *text, const char *rule)
{
	return prom_only(text, "libfiber_finding", "rule", rule);
}

struct wanted {
	const struct harness_process *process;
	const char *rule;
	double fibers;
};

static bool has_finding(void *context)
{
	const struct wanted *w = context;
	char *text = prom_metrics(cli_number((uint64_t)w->process->pid));
	const bool has = finding(text, w->rule) >= w->fibers;

	free(text);
	return has;
}

/*
 * The metrics of a fixture as soon as this rule has found so many fibers. They began to wait one after
 * another, so they are not all old enough in the same millisecond.
 */
static char *metrics_with(const struct harness_process *process, const char *rule, double fibers)
{
	struct wanted wanted = {process, rule, fibers};

	assert_true(harness_until(has_finding, &wanted, CLI_SECONDS));
	return prom_metrics(cli_number((uint64_t)process->pid));
}

static void expect_only(const char *text, const char *rule, double fibers)
{
	unsigned n;

	assert_true(finding(text, rule) == fibers);
	assert_true(prom_sum(text, "libfiber_finding", "", &n) == fibers);
	assert_int_equal(n, RULES);
	assert_true(prom_sum(text, "libfiber_look_ok", "", &n) == 1);
	assert_int_equal(n, 1);
}

static void test_each_fault_is_a_finding_of_its_rule_and_of_no_other(void **state)
{
	static const struct {
		const char *name, *rule;
		double fibers;
	} faults[] = {
		{"deadlock", "deadlock", 2},   {"convoy", "convoy", 5}, {"pinned", "pinned", 1},
		{"forgotten", "forgotten", 1}, {"signal", "signal", 3}, {"peer", "peer", 8},
		{"offload", "offload", 70},    {"failed", "failed", 1}, {"limits", "limits", 1},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct harness_process *p =
			cli_start(NULL, "ready ", "trouble", faults[i].name, NULL);
		char *text = metrics_with(p, faults[i].rule, faults[i].fibers);

		print_message("# trouble %s\n", faults[i].name);
		expect_only(text, faults[i].rule, faults[i].fibers);
		free(text);
		harness_free(p);
	}
}

static void test_a_healthy_program_has_0_for_every_rule(void **state)
{
	static const char *const healthy[] = {"no-convoy", "no-deadlock", "no-pinned"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(healthy) / sizeof(healthy[0]); i++) {
		struct harness_process *p = cli_start(NULL, "ready ", "trouble", healthy[i], NULL);
		char *text = prom_metrics(cli_number((uint64_t)p->pid));

		expect_only(text, "deadlock", 0);
		free(text);
		harness_free(p);
	}
}

/* Two readings, memory: see fiberctl(1). */
static void test_what_one_look_cannot_tell_has_no_sample(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready ", "trouble", "growth", NULL);
	char *text = prom_metrics(cli_number((uint64_t)p->pid));

	(void)state;
	assert_null(strstr(text, "rule=\"growth\""));
	assert_null(strstr(text, "rule=\"stopped\""));
	assert_null(strstr(text, "rule=\"leaks\""));
	assert_non_null(strstr(text, "rule=\"limits\""));
	free(text);
	harness_free(p);
}

static void test_a_snapshot_has_the_findings_but_not_those_of_the_process(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready ", "trouble", "convoy", NULL);
	char file[HARNESS_PATH], *text = metrics_with(p, "convoy", 5);
	unsigned n;

	(void)state;
	free(text);
	cli_ended(cli_run("fiberctl", "snapshot", cli_number((uint64_t)p->pid), "-o",
			  harness_file(file, "convoy.snap"), NULL),
		  0);
	harness_free(p);
	text = prom_metrics(file);
	assert_true(finding(text, "convoy") == 5);
	assert_true(prom_sum(text, "libfiber_finding", "", &n) == 5);
	assert_int_equal(n, SNAPSHOT_RULES);
	assert_null(strstr(text, "rule=\"limits\""));
	assert_null(strstr(text, "rule=\"peer\""));
	free(text);
}

static void test_without_findings_there_is_no_look(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready ", "drift", NULL), *q;

	(void)state;
	q = cli_run("fiberctl", "metrics", cli_number((uint64_t)p->pid), "--no-findings", NULL);
	cli_expect(q, 0);
	prom_check(q->out.bytes);
	assert_null(strstr(q->out.bytes, "libfiber_finding"));
	assert_null(strstr(q->out.bytes, "libfiber_look_ok"));
	cli_contains(q->out.bytes, "libfiber_fibers{");
	harness_free(q);
	harness_free(p);
}

static double of_process(const char *text, pid_t pid, const char *name, unsigned *ret_n)
{
	char part[64];

	snprintf(part, sizeof part, "pid=\"%d\"", (int)pid);
	return prom_sum(text, name, part, ret_n);
}

/*
 * Three programs have counters, and their fibers cannot be read. The honest ones are looked at all the
 * same, and the time is limited: three looks of 5 s would be 15.
 */
static void test_a_look_that_fails_is_0_and_hides_no_other_program(void **state)
{
	const struct hostile_how how[] = {{.kind = HOSTILE_STILL, .counts = true},
					  {.kind = HOSTILE_SILENT, .counts = true},
					  {.kind = HOSTILE_STILL, .counts = true},
					  {.kind = HOSTILE_PROPER}};
	struct harness_process *p = cli_start(NULL, "ready ", "trouble", "deadlock", NULL), *q;
	struct hostile hostile[4];
	int64_t began;
	double took;
	unsigned n;
	size_t i;

	(void)state;
	free(metrics_with(p, "deadlock", 2));
	for (i = 0; i < 4; i++)
		hostile_start(&hostile[i], &how[i]);
	began = harness_now();
	q = cli_run("fiberctl", "metrics", NULL);
	took = (double)(harness_now() - began) / 1e9;
	print_message("# metrics with three looks that fail: %.2f s\n", took);
	cli_expect(q, 1);
	prom_check(q->out.bytes);
	for (i = 0; i < 4; i++) {
		const bool proper = how[i].kind == HOSTILE_PROPER;
		char line[128];

		assert_true(of_process(q->out.bytes, hostile[i].pid, "libfiber_up", &n) == 1);
		assert_true(of_process(q->out.bytes, hostile[i].pid, "libfiber_look_ok", &n) ==
			    proper);
		assert_int_equal(n, 1);
		of_process(q->out.bytes, hostile[i].pid, "libfiber_finding", &n);
		assert_int_equal(n, proper ? RULES : 0);
		snprintf(line, sizeof line,
			 "process %d: its fibers were not looked at: ", (int)hostile[i].pid);
		assert_true(proper == !strstr(q->err.bytes, line));
	}
	assert_true(of_process(q->out.bytes, p->pid, "libfiber_look_ok", &n) == 1);
	assert_true(of_process(q->out.bytes, p->pid, "libfiber_finding", &n) == 2);
	assert_true(took < 9);
	harness_free(q);
	for (i = 0; i < 4; i++)
		hostile_end(&hostile[i]);
	harness_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_fault_is_a_finding_of_its_rule_and_of_no_other),
		cmocka_unit_test(test_a_healthy_program_has_0_for_every_rule),
		cmocka_unit_test(test_what_one_look_cannot_tell_has_no_sample),
		cmocka_unit_test(test_a_snapshot_has_the_findings_but_not_those_of_the_process),
		cmocka_unit_test(test_without_findings_there_is_no_look),
		cmocka_unit_test(test_a_look_that_fails_is_0_and_hides_no_other_program),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
