/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_metrics_json.c - the metrics as JSON: exactly those of the text
 *
 * All metrics are compared for a snapshot, in which nothing changes; constant ones also for a
 * program whose fibers wait forever.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/cli/one_crowd.h"
#include "tests/harness/cli/prom.h"
#include "tests/harness/watchdog.h"

static int start(void **state)
{
	(void)state;
	return one_crowd("crowd", "200", NULL);
}

/* The checked text; the caller frees it. */
static char *text_of(const char *who)
{
	struct harness_process *p = cli_run("fiberctl", "metrics", who, NULL);
	char *text;

	cli_expect(p, 0);
	text = strdup(p->out.bytes);
	harness_free(p);
	prom_check(text);
	return text;
}

static json_t *json_of(const char *who, const char *source)
{
	json_t *answer = json_well(cli_run("fiberctl", "metrics", who, "--json", NULL));

	json_promise(answer, "metrics", JSON_ANSWER " families:a processes:a");
	assert_string_equal(json_text(answer, "source"), source);
	assert_int_equal(json_int(answer, "pid"), crowd.process->pid);
	assert_string_equal(json_text(answer, "name"), "crowd");
	assert_true(json_is_true(json_object_get(answer, "complete")));
	return answer;
}

/* Write a sample as in the text, up to its number. No label of crowd needs escaping. */
static void write_series(const json_t *family, const json_t *sample, char *buf, size_t size)
{
	int used =
		snprintf(buf, size, "%s%s", json_text(family, "name"), json_text(sample, "suffix"));
	const char *key;
	const char *before = "{";
	json_t *value;

	json_object_foreach (json_object_get(sample, "labels"), key, value) {
		used += snprintf(buf + used, size - (size_t)used, "%s%s=\"%s\"", before, key,
				 json_string_value(value));
		before = ",";
	}
	snprintf(buf + used, size - (size_t)used, "%s", *before == ',' ? "}" : "");
}

/*
 * Assert that the text has the family's head and each of its samples with its number. Returns the
 * number of samples.
 */
static size_t same_as_text(const json_t *family, const char *text)
{
	const json_t *samples = json_object_get(family, "samples"), *sample;
	char line[1024];
	size_t i;

	json_promise(family, "family", "name:s help:s type:s samples:a");
	snprintf(line, sizeof(line), "# HELP %s %s\n# TYPE %s %s\n", json_text(family, "name"),
		 json_text(family, "help"), json_text(family, "name"), json_text(family, "type"));
	cli_contains(text, line);
	json_array_foreach (samples, i, sample) {
		const json_t *value = json_object_get(sample, "value");

		json_promise(sample, "sample", "labels:o suffix:s");
		assert_true(json_is_number(value));
		write_series(family, sample, line, sizeof(line));
		if (prom_value(text, line) != json_number_value(value))
			print_error("%s %f\n", line, json_number_value(value));
		assert_true(prom_value(text, line) == json_number_value(value));
	}
	return json_array_size(samples);
}

static size_t count_lines(const char *text, bool heads)
{
	size_t n = 0;

	for (; *text; text = strchr(text, '\n') + 1)
		n += heads ? !strncmp(text, "# TYPE ", 7) : text[0] != '#';
	return n;
}

static void test_json_of_a_snapshot_is_its_text_family_by_family(void **state)
{
	char file[HARNESS_PATH], *text;
	const json_t *family;
	json_t *answer;
	size_t i, n = 0;

	(void)state;
	harness_free(
		cli_run("fiberctl", "snapshot", pid, "-o", harness_file(file, "a.snap"), NULL));
	text = text_of(file);
	answer = json_of(file, "snapshot");
	json_array_foreach (json_object_get(answer, "families"), i, family)
		n += same_as_text(family, text);
	assert_int_equal(i, count_lines(text, true));
	assert_int_equal(n, count_lines(text, false));
	json_decref(answer);
	free(text);
}

static const json_t *family_of(const json_t *answer, const char *name)
{
	const json_t *family;
	size_t i;

	json_array_foreach (json_object_get(answer, "families"), i, family)
		if (!strcmp(json_text(family, "name"), name))
			return family;
	fail_msg("no family %s", name);
	return NULL;
}

static void test_json_of_a_program_is_its_text_in_what_holds_still(void **state)
{
	static const char *const still[] = {
		"libfiber_up",
		"libfiber_fibers",
		"libfiber_fibers_waiting",
		"libfiber_fibers_spawned_total",
		"libfiber_fibers_ended_total",
		"libfiber_pinned_events_total",
		"libfiber_carrier_timers",
		"libfiber_stacks",
		"libfiber_stacks_made_total",
		"libfiber_stack_bytes",
		"libfiber_registry_bytes",
		"libfiber_slow_events_total",
		"libfiber_look_ok",
		"libfiber_finding",
	};
	char *text;
	json_t *answer;
	const json_t *one;

	(void)state;
	crowd_grow_old(pid); /* or it becomes a finding between the two looks */
	text = text_of(pid);
	answer = json_of(pid, "control");
	for (size_t i = 0; i < sizeof(still) / sizeof(still[0]); i++)
		assert_true(same_as_text(family_of(answer, still[i]), text) > 0);
	one = json_array_get(json_object_get(answer, "processes"), 0);
	json_promise(one, "process", "pid:i name:s answered:b");
	assert_int_equal(json_int(one, "pid"), crowd.process->pid);
	assert_int_equal(json_int(answer, "total"), 1);
	assert_int_equal(json_int(answer, "shown"), 1);
	json_decref(answer);
	free(text);
}

/* The buckets add up to the count, and the sum is in seconds. */
static void test_json_of_a_histogram_has_its_buckets(void **state)
{
	json_t *answer = json_of(pid, "control");
	const json_t *family = family_of(answer, "libfiber_run_queue_delay_seconds");
	const json_t *samples = json_object_get(family, "samples"), *sample;
	json_int_t last = 0;
	size_t i, buckets = 0;

	(void)state;
	assert_string_equal(json_text(family, "type"), "histogram");
	json_array_foreach (samples, i, sample) {
		const char *suffix = json_text(sample, "suffix");

		if (!strcmp(suffix, "_bucket")) {
			assert_true(json_int(sample, "value") >= last);
			last = json_int(sample, "value");
			buckets++;
		} else if (!strcmp(suffix, "_count")) {
			assert_int_equal(json_int(sample, "value"), last);
		} else {
			assert_string_equal(suffix, "_sum");
			assert_true(json_is_real(json_object_get(sample, "value")));
		}
	}
	assert_true(buckets > 10 && last > 0);
	sample = json_array_get(samples, buckets - 1);
	assert_string_equal(json_text(json_object_get(sample, "labels"), "le"), "+Inf");
	json_decref(answer);
}

/* Whether the process answered: 1 or 0; -1: it is not in the answer. */
static int answered(const json_t *answer, const struct harness_process *process)
{
	const json_t *one;
	size_t i;

	json_array_foreach (json_object_get(answer, "processes"), i, one)
		if (json_int(one, "pid") == process->pid)
			return json_is_true(json_object_get(one, "answered"));
	return -1;
}

/* Other programs may run beside the test and may not answer. */
static void test_json_of_all_says_who_has_not_answered(void **state)
{
	struct harness_process *other = cli_start(NULL, "ready ", "drift", NULL), *p;
	const char *const number = cli_number((uint64_t)other->pid);
	json_t *answer;
	char *problems;

	(void)state;
	assert_int_equal(kill(other->pid, SIGSTOP), 0);
	assert_true(harness_until(cli_stopped, &other->pid, CLI_SECONDS));
	p = cli_run("fiberctl", "metrics", "--json", NULL);
	assert_int_equal(kill(other->pid, SIGCONT), 0);
	cli_expect(p, 1);
	assert_string_equal(p->err.bytes, "");
	answer = json_answer(p);
	harness_free(p);
	assert_true(json_is_null(json_object_get(answer, "pid")));
	assert_int_equal(answered(answer, crowd.process), 1);
	assert_int_equal(answered(answer, other), 0);
	assert_true(json_is_false(json_object_get(answer, "complete")));
	problems = json_dumps(json_object_get(answer, "problems"), 0);
	cli_contains(problems, number);
	free(problems);
	json_decref(answer);
	harness_free(other);
}

static void test_json_is_not_what_a_file_for_prometheus_has(void **state)
{
	char file[HARNESS_PATH];

	(void)state;
	cli_expect_error(cli_run("fiberctl", "metrics", pid, "--json", "--output",
				 harness_file(file, "x.prom"), NULL),
			 64, "fiberctl", "leave --json out");
	cli_expect_error(cli_run("fiberctl", "completion", "bash", "--json", NULL), 64, "fiberctl",
			 "--json");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_of_a_snapshot_is_its_text_family_by_family),
		cmocka_unit_test(test_json_of_a_program_is_its_text_in_what_holds_still),
		cmocka_unit_test(test_json_of_a_histogram_has_its_buckets),
		cmocka_unit_test(test_json_of_all_says_who_has_not_answered),
		cmocka_unit_test(test_json_is_not_what_a_file_for_prometheus_has),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, one_crowd_end);
}
