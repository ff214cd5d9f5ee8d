/* SPDX-License-Identifier: MIT */
/* test_explore_timeline.c - fibertrace reads the timeline of a replay */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

#define TOKEN "ft1-pfdb-02111ys" /* timeout_vs_answer, whose clock moves by 50 ms */

/* Write the timeline of the token. Returns the file. */
static const char *write_timeline(void)
{
	static char file[HARNESS_PATH];
	struct harness_process *p;

	harness_file(file, "timeline");
	unlink(file);
	p = cli_run("bugs/timeout_vs_answer", "--replay", TOKEN, "--timeline", file, "bug", NULL);
	cli_expect(p, 1);
	cli_contains(p->err.bytes, "fiber-test: bug: failed: !r->given_up\n");
	harness_free(p);
	return file;
}

static void test_report_has_virtual_times_and_ids_of_the_schedule(void **state)
{
	const char *file = write_timeline();
	json_t *answer = json_ended(cli_run("fibertrace", "report", file, "--json", NULL), 0);
	struct harness_process *p = cli_run("fibertrace", "report", file, NULL);
	struct stat st;

	(void)state;
	assert_string_equal(json_text(answer, "source"), "recording");
	json_decref(answer);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, ": 50ms, 2 fibers, ");
	cli_contains(p->out.bytes, "2 spawned, 0 ended, ");
	cli_contains(p->out.bytes, "answer_in_place\n");
	cli_contains(p->out.bytes, "join 2");
	harness_free(p);
	/* As every recording. */
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

/* The waits of a fiber in a timeline for viewers: the longest slice with this name. */
static double longest(const json_t *events, json_int_t fiber, const char *name)
{
	double most = -1;

	for (size_t i = 0; i < json_array_size(events); i++) {
		const json_t *e = json_array_get(events, i);
		const double duration = json_number_value(json_object_get(e, "dur"));

		if (json_int(json_object_get(e, "args"), "fiber") == fiber &&
		    strcmp(json_text(e, "ph"), "X") == 0 &&
		    strcmp(json_text(e, "name"), name) == 0 && duration > most)
			most = duration;
	}
	return most;
}

static void test_export_has_a_track_for_each_fiber(void **state)
{
	const char *file = write_timeline();
	char trace[HARNESS_PATH];
	json_t *root, *events;
	unsigned tracks = 0;

	(void)state;
	harness_file(trace, "trace.json");
	unlink(trace);
	cli_ended(cli_run("fibertrace", "export", file, "--perfetto", "-o", trace, NULL), 0);
	root = json_load_file(trace, 0, NULL);
	assert_non_null(root);
	events = json_is_array(root) ? root : json_object_get(root, "traceEvents");
	for (size_t i = 0; i < json_array_size(events); i++) {
		const json_t *e = json_array_get(events, i);

		if (strcmp(json_text(e, "name"), "thread_name") == 0 && json_int(e, "pid") == 2)
			tracks++;
	}
	assert_int_equal(tracks, 2);
	/* us; each step of the timeline takes 1 us. */
	assert_true(longest(events, 2, "sleep") > 40000);
	assert_true(longest(events, 1, "running") > 0);
	json_decref(root);
}

static void test_html_is_made(void **state)
{
	const char *file = write_timeline();
	char page[HARNESS_PATH];

	(void)state;
	harness_file(page, "page.html");
	unlink(page);
	cli_ended(cli_run("fibertrace", "report", "--html", file, "-o", page, NULL), 0);
	assert_int_equal(access(page, R_OK), 0);
}

static void test_timeline_of_a_deadlock_names_its_locks(void **state)
{
	char file[HARNESS_PATH];
	struct harness_process *p;

	(void)state;
	harness_file(file, "deadlock");
	unlink(file);
	cli_ended(cli_run("bugs/deadlock_ab_ba", "--replay", "ft1-pfdb-03121n5", "--timeline", file,
			  "bug", NULL),
		  1);
	p = cli_run("fibertrace", "report", file, NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "mutex \"bob\"@0x");
	harness_free(p);
}

static void test_file_that_cannot_be_written_is_said(void **state)
{
	(void)state;
	cli_expect_error(cli_run("bugs/timeout_vs_answer", "--replay", TOKEN, "--timeline",
				 "/nowhere/timeline", "bug", NULL),
			 2, "fiber-test", "/nowhere/timeline: No such file or directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_report_has_virtual_times_and_ids_of_the_schedule),
		cmocka_unit_test(test_export_has_a_track_for_each_fiber),
		cmocka_unit_test(test_html_is_made),
		cmocka_unit_test(test_timeline_of_a_deadlock_names_its_locks),
		cmocka_unit_test(test_file_that_cannot_be_written_is_said),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
