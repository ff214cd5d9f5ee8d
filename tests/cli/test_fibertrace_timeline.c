/* SPDX-License-Identifier: MIT */
/*
 * test_fibertrace_timeline.c - timelines of busy programs, and with lost events, follow the format
 *
 * timeline.py, beside this file, checks them against the Trace Event Format. The first test shows
 * that it finds errors.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/http.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

static char script[4096], file[HARNESS_PATH], timeline[HARNESS_PATH];

static int start(void **state)
{
	char path[HARNESS_PATH] = __FILE__;

	(void)state;
	*strrchr(path, '/') = '\0';
	strcat(path, "/timeline.py");
	harness_file(file, "busy.rec");
	harness_file(timeline, "busy.json");
	return realpath(path, script) ? 0 : -1;
}

static void record(const struct harness_process *of, const char *ring, int code)
{
	struct harness_process *p =
		cli_run("fibertrace", "record", "--for", "500ms", "--ring", ring, "--force", "-o",
			file, cli_number((uint64_t)of->pid), NULL);

	cli_ended(p, code);
}

static void export(int code)
{
	struct harness_process *p = cli_run("fibertrace", "export", "--perfetto", "--force", "-o",
					    timeline, file, NULL);

	cli_expect(p, code);
	if (code)
		cli_contains(p->err.bytes, " events were lost: the timeline has holes\n");
	harness_free(p);
}

/* The checker's counts: slices, arrows, tracks, holes. */
static void check(unsigned ret[4])
{
	struct harness_process *p = cli_run("/usr/bin/env", "python3", script, timeline, NULL);

	cli_expect(p, 0);
	assert_int_equal(sscanf(p->out.bytes, "%u slices, %u arrows, %u tracks, %u lost", &ret[0],
				&ret[1], &ret[2], &ret[3]),
			 4);
	harness_free(p);
}

static void test_timeline_of_a_busy_server_is_as_the_format_asks(void **state)
{
	unsigned port, n[4];
	struct harness_process *httpd = http_start(NULL, NULL, NULL, &port);
	struct harness_process *load = cli_start(NULL, "round 1", "load", cli_number(port),
						 "--pause", "20", "--sleep", "10", NULL);

	(void)state;
	record(httpd, "131072", 0);
	harness_free(load);
	harness_free(httpd);
	export(0);
	check(n);
	assert_true(n[0] > 1000 && n[1] > 300 && n[2] > 300);
	assert_int_equal(n[3], 0);
}

static void must_find(json_t *wrong, const char *what)
{
	struct harness_process *p;

	assert_int_equal(json_dump_file(wrong, timeline, JSON_REAL_PRECISION(15)), 0);
	p = cli_run("/usr/bin/env", "python3", script, timeline, NULL);
	cli_expect(p, 1);
	cli_contains(p->err.bytes, what);
	harness_free(p);
	json_decref(wrong);
}

/* The first event of that phase. */
static json_t *first(const json_t *all, const char *phase, size_t *at)
{
	const json_t *events = json_object_get(all, "traceEvents");
	json_t *e;
	size_t i;

	json_array_foreach (events, i, e) {
		*at = i;
		if (strcmp(json_text(e, "ph"), phase) == 0)
			return e;
	}
	fail();
	return NULL;
}

static long long ns(const json_t *e, const char *key)
{
	return (long long)(json_number_value(json_object_get(e, key)) * 1000 + 0.5);
}

/* Make the first slice of a track end within the next one. */
static void make_cross(json_t *all)
{
	const json_t *events = json_object_get(all, "traceEvents");
	json_t *e = NULL, *before = NULL;
	long long to;
	size_t i;

	json_array_foreach (events, i, e) {
		if (strcmp(json_text(e, "ph"), "X") != 0)
			continue;
		if (before && json_int(e, "pid") == json_int(before, "pid") &&
		    json_int(e, "tid") == json_int(before, "tid") && ns(e, "dur") > 1)
			break;
		if (!before)
			before = e;
	}
	assert_true(before && i < json_array_size(events));
	to = ns(e, "ts") + ns(e, "dur") / 2;
	json_object_set_new(before, "dur", json_real((double)(to - ns(before, "ts")) / 1000));
}

static void test_checker_finds_what_is_wrong(void **state)
{
	json_t *all = json_load_file(timeline, 0, NULL), *bad;
	size_t at;

	(void)state;
	assert_non_null(all);
	bad = json_deep_copy(all);
	first(bad, "f", &at);
	json_array_remove(json_object_get(bad, "traceEvents"), at);
	must_find(bad, "not one beginning and one end");
	bad = json_deep_copy(all);
	json_object_set_new(first(bad, "s", &at), "ts", json_integer(1000000000));
	must_find(bad, "ends before it begins");
	bad = json_deep_copy(all);
	make_cross(bad);
	must_find(bad, "crosses another slice");
	bad = json_deep_copy(all);
	json_object_set_new(first(bad, "X", &at), "tid", json_integer(999999));
	must_find(bad, "a track without a name");
	bad = json_deep_copy(all);
	json_object_set_new(first(bad, "X", &at), "ph", json_string("E"));
	must_find(bad, "ends what has not begun");
	json_decref(all);
}

static void test_timeline_with_holes_is_as_the_format_asks(void **state)
{
	struct harness_process *turns = cli_start(NULL, "ready ", "turns", "--yield", "2", NULL);
	unsigned n[4];

	(void)state;
	record(turns, "256", 1);
	harness_free(turns);
	export(1);
	check(n);
	assert_true(n[3] > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timeline_of_a_busy_server_is_as_the_format_asks),
		cmocka_unit_test(test_checker_finds_what_is_wrong),
		cmocka_unit_test(test_timeline_with_holes_is_as_the_format_asks),
	};

	harness_watchdog(280);
	return cmocka_run_group_tests(tests, start, NULL);
}
