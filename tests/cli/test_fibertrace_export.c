/* SPDX-License-Identifier: MIT */
/*
 * test_fibertrace_export.c - a timeline follows the Trace Event Format
 *
 * Every slice has a start and a length and is on a named track, slices of a track do not cross, and
 * every arrow has two ends, each in a slice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/cli/step.h"
#include "tests/harness/watchdog.h"

#define TRACKS 64

static char file[HARNESS_PATH];

/* The slices of a track, sorted by start. Times are ns. */
struct slice {
	long long from, to;
};

static struct track {
	struct slice *slice;
	size_t slices;
	bool named;
} tracks[3][TRACKS];

static int start(void **state)
{
	(void)state;
	step_file(file);
	return 0;
}

static long long ns(const json_t *e, const char *key)
{
	const json_t *number = json_object_get(e, key);

	assert_true(json_is_number(number));
	return (long long)(json_number_value(number) * 1000 + 0.5);
}

static struct track *track_of(const json_t *e)
{
	const json_int_t process = json_int(e, "pid"), thread = json_int(e, "tid");

	assert_in_range(process, 1, 2);
	assert_in_range(thread, 0, TRACKS - 1);
	return &tracks[process][thread];
}

static int by_begin(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;

	return x->from != y->from ? (x->from < y->from ? -1 : 1) : x->to > y->to ? -1 : 1;
}

static void take_slice(const json_t *e)
{
	struct track *t = track_of(e);
	const long long from = ns(e, "ts"), length = ns(e, "dur");

	assert_true(json_is_string(json_object_get(e, "name")));
	assert_true(from >= 0 && length >= 0);
	t->slice = realloc(t->slice, (t->slices + 1) * sizeof *t->slice);
	assert_non_null(t->slice);
	t->slice[t->slices++] = (struct slice){from, from + length};
}

static bool in_a_slice(const json_t *e)
{
	const struct track *t = track_of(e);
	const long long at = ns(e, "ts");
	size_t i;

	for (i = 0; i < t->slices; i++)
		if (t->slice[i].from <= at && at <= t->slice[i].to)
			return true;
	return false;
}

static void expect_order(struct track *t)
{
	size_t i;

	if (t->slices)
		qsort(t->slice, t->slices, sizeof *t->slice, by_begin);
	for (i = 1; i < t->slices; i++)
		/* Each slice is after the previous one or within it. */
		assert_true(t->slice[i].from >= t->slice[i - 1].to ||
			    t->slice[i].to <= t->slice[i - 1].to);
	if (t->slices)
		assert_true(t->named);
}

static void expect_arrow(const json_t *events, const json_t *from)
{
	const json_int_t id = json_int(from, "id");
	unsigned ends = 0;
	json_t *e;
	size_t i;

	assert_true(in_a_slice(from));
	json_array_foreach (events, i, e) {
		if (strcmp(json_text(e, "ph"), "f") != 0 || json_int(e, "id") != id)
			continue;
		ends++;
		assert_string_equal(json_text(e, "bp"), "e");
		assert_string_equal(json_text(e, "name"), json_text(from, "name"));
		assert_string_equal(json_text(e, "cat"), json_text(from, "cat"));
		assert_true(ns(e, "ts") >= ns(from, "ts"));
		assert_true(in_a_slice(e));
	}
	assert_int_equal(ends, 1);
}

static void test_timeline_is_as_the_format_asks(void **state)
{
	struct harness_process *p = cli_run("fibertrace", "export", "--perfetto", file, NULL);
	json_t *answer, *events, *e;
	unsigned arrows = 0, ends = 0, fibers = 0, carriers = 0;
	size_t i, k;

	(void)state;
	answer = json_well(p);
	assert_string_equal(json_text(answer, "displayTimeUnit"), "ns");
	events = json_object_get(answer, "traceEvents");
	json_array_foreach (events, i, e) {
		const char *phase = json_text(e, "ph");

		assert_non_null(strstr("M X s f i", phase));
		if (strcmp(phase, "X") == 0)
			take_slice(e);
		arrows += strcmp(phase, "s") == 0;
		ends += strcmp(phase, "f") == 0;
		if (strcmp(json_text(e, "name"), "thread_name") != 0)
			continue;
		track_of(e)->named = true;
		fibers += json_int(e, "pid") == 2;
		carriers +=
			strncmp(json_text(json_object_get(e, "args"), "name"), "carrier ", 8) == 0;
	}
	assert_int_equal(fibers, 24); /* 21, and three that were spawned */
	assert_int_equal(carriers, 2);
	/* Four movers and two leavers are woken, three fibers are spawned. */
	assert_int_equal(arrows, 9);
	assert_int_equal(ends, 9);
	for (k = 0; k < 3; k++)
		for (i = 0; i < TRACKS; i++)
			expect_order(&tracks[k][i]);
	json_array_foreach (events, i, e)
		if (strcmp(json_text(e, "ph"), "s") == 0)
			expect_arrow(events, e);
	json_decref(answer);
}

static void test_timeline_goes_into_a_file_too(void **state)
{
	struct harness_process *p = cli_run("fibertrace", "export", "--perfetto", file, NULL);
	char to[HARNESS_PATH];
	json_t *one = json_answer(p), *other;
	struct harness_process *q = cli_run("fibertrace", "export", "--perfetto", "-o",
					    harness_file(to, "step.json"), file, NULL);

	(void)state;
	cli_expect(q, 0);
	assert_string_equal(q->out.bytes, "");
	other = json_load_file(to, 0, NULL);
	assert_true(json_equal(one, other));
	json_decref(one);
	json_decref(other);
	harness_free(p);
	harness_free(q);
}

static void test_export_says_what_is_wrong(void **state)
{
	(void)state;
	cli_expect_error(cli_run("fibertrace", "export", file, NULL), 64, "fibertrace",
			 "--perfetto");
	cli_expect_error(cli_run("fibertrace", "export", "--perfetto", NULL), 64, "fibertrace",
			 "needs RECORDING --perfetto");
	cli_expect_error(cli_run("fibertrace", "export", "--perfetto", "/nowhere", NULL), 2,
			 "fibertrace", "/nowhere");
	cli_expect_error(
		cli_run("fibertrace", "export", "--perfetto", "-o", "/nowhere/x", file, NULL), 2,
		"fibertrace", "/nowhere/x");
	/* An existing file is kept, unless --force is given. */
	cli_expect_error(cli_run("fibertrace", "export", "--perfetto", "-o", file, file, NULL), 2,
			 "fibertrace", "--force replaces it");
	cli_expect_error(cli_run("fibertrace", "report", "--html", "-o", file, file, NULL), 2,
			 "fibertrace", "--force replaces it");
	cli_expect(cli_run("fibertrace", "report", "-o", file, "--force", file, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timeline_is_as_the_format_asks),
		cmocka_unit_test(test_timeline_goes_into_a_file_too),
		cmocka_unit_test(test_export_says_what_is_wrong),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, NULL);
}
