/* SPDX-License-Identifier: MIT */
/*
 * test_fibertrace_report.c - the page of a recording in a real browser
 *
 * The recording is of one step of drift, whose events are known. The page must show all of it, need
 * no other file, and support zooming and moving.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/browser.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/cli/step.h"
#include "tests/harness/watchdog.h"

static char file[HARNESS_PATH], page[HARNESS_PATH];
static json_t *report;
static struct browser *b;

static int start(void **state)
{
	struct harness_process *p;

	(void)state;
	step_file(file);
	p = cli_run("fibertrace", "report", "--json", file, NULL);
	report = json_well(p);
	p = cli_run("fibertrace", "report", "--html", "-o", harness_file(page, "step.html"), file,
		    NULL);
	cli_ended(p, 0);
	b = browser_open(page, "document.body !== null && document.body.dataset.ready === 'yes'");
	return 0;
}

static int stop(void **state)
{
	(void)state;
	assert_int_equal(browser_faults(b), 0);
	assert_int_equal(browser_requests(b), 0);
	browser_close(b);
	json_decref(report);
	return 0;
}

static json_int_t rows(const char *table)
{
	return (json_int_t)json_array_size(json_object_get(report, table));
}

static void test_page_has_a_row_for_everything_that_was_recorded(void **state)
{
	(void)state;
	cli_contains(browser_text(b, "document.title"), "drift (process ");
	assert_int_equal(browser_number(b, "document.querySelectorAll('.track').length"), 24 + 2);
	assert_int_equal(
		browser_number(b, "document.querySelectorAll('#functions tbody tr').length"),
		rows("functions"));
	assert_int_equal(browser_number(b, "document.querySelectorAll('#waits tbody tr').length"),
			 rows("waits"));
	assert_int_equal(browser_number(b, "document.querySelectorAll('#stacks tbody tr').length"),
			 rows("stacks"));
	assert_true(rows("functions") >= 4 && rows("waits") >= 4 && rows("stacks") >= 4);
	cli_contains(browser_text(b, "document.getElementById('summary').textContent"),
		     "24 fibers, ");
	cli_contains(browser_text(b, "document.getElementById('summary').textContent"),
		     "3 spawned, 2 ended, 9 turns, 6 wake-ups");
	cli_contains(browser_text(b, "document.getElementById('functions').textContent"), "mover");
	cli_contains(browser_text(b, "document.getElementById('labels').textContent"), "\"new-0\"");
	assert_string_equal(browser_text(b, "document.getElementById('warnings').textContent"), "");
	cli_contains(browser_text(b, "document.getElementById('sampled').textContent"), "Sampled ");
	cli_contains(browser_text(b, "document.getElementById('waits').textContent"), "park, in ");
}

static void test_page_has_a_graph_of_who_waits_for_what(void **state)
{
	(void)state;
	assert_int_equal(browser_number(b, "document.querySelectorAll('#graph svg').length"), 1);
	assert_true(browser_number(b, "document.querySelectorAll('#graph .edge').length") >= 6);
	cli_contains(browser_text(b, "document.getElementById('graph').textContent"),
		     "locker waits ");
	cli_contains(browser_text(b, "document.getElementById('graph').textContent"),
		     "timers, poller and threads ends 4 waits for park");
}

static json_int_t view(const char *end)
{
	char expression[80];

	snprintf(expression, sizeof expression, "+document.getElementById('view').dataset.%s", end);
	return browser_number(b, expression);
}

/* A point on the canvas: x pixels from its left, in a track. */
static void place(int x, int track, int *ret_x, int *ret_y)
{
	json_decref(browser_value(b, "document.getElementById('lanes').scrollIntoView()"));
	*ret_x = x + (int)browser_number(
			     b, "document.getElementById('canvas').getBoundingClientRect().left");
	*ret_y = track * 18 + 9 +
		 (int)browser_number(
			 b, "document.getElementById('canvas').getBoundingClientRect().top");
}

/* The number of painted pixels of the canvas, and a hash of their colours. */
#define INK                                                                                        \
	"(() => { const c = document.getElementById('canvas'), d = c.getContext('2d')."            \
	"getImageData(0, 0, c.width, c.height).data; let n = 0;"                                   \
	"for (let i = 0; i < d.length; i += 4) n = d[i + 3] ? (n * 31 + i + d[i]) % 1000000007 : " \
	"n;"                                                                                       \
	"return n; })()"

static void test_page_is_zoomed_and_moved(void **state)
{
	const json_int_t length = json_int(json_object_get(report, "totals"), "lengthNs");
	json_int_t from, to, ink, zoomed;
	int x, y;

	(void)state;
	assert_int_equal(view("from"), 0);
	assert_int_equal(view("to"), length);
	ink = browser_number(b, INK);
	assert_true(ink > 0);
	place(200, 3, &x, &y);
	browser_wheel(b, x, y, -120);
	from = view("from");
	to = view("to");
	assert_true(from > 0 && to < length);
	assert_true(to - from < length * 3 / 4);
	zoomed = browser_number(b, INK);
	assert_true(zoomed > 0);
	/* A drag to the right moves the view left, not beyond the start. */
	browser_drag(b, x, y, 20);
	assert_true(view("from") < from);
	/* Each value is rounded to 1 ns. */
	assert_in_range(view("to") - view("from") + 1 - (to - from), 0, 2);
	browser_drag(b, x, y, 700);
	assert_int_equal(view("from"), 0);
	/* Zoom out to the whole recording. */
	browser_wheel(b, x, y, 120);
	browser_wheel(b, x, y, 120);
	assert_int_equal(view("from"), 0);
	assert_int_equal(view("to"), length);
	assert_int_equal(browser_number(b, INK), ink);
}

/* The holder waits during the whole recording: it is the first fiber. */
static void test_page_tells_of_the_slice_that_is_clicked(void **state)
{
	int x, y;

	(void)state;
	place(300, 2, &x, &y);
	browser_click(b, x, y);
	cli_contains(browser_text(b, "document.getElementById('detail').textContent"),
		     "1 \"holder-0\" holder waits: park");
	cli_contains(browser_text(b, "document.getElementById('detail').textContent"),
		     "or earlier, and still did at the end");
	assert_int_equal(browser_number(b, "document.querySelectorAll('.track.picked').length"), 1);
}

/* Another page instead of the first one: only one browser can run. */
static void test_page_says_what_was_lost(void **state)
{
	struct harness_process *turns = cli_start(NULL, "ready ", "turns", "--yield", "2", NULL),
			       *p;
	char to[HARNESS_PATH];

	(void)state;
	p = cli_run("fibertrace", "record", "--for", "200ms", "--ring", "256", "-o",
		    harness_file(file, "lost.rec"), cli_number((uint64_t)turns->pid), NULL);
	cli_ended(p, 1);
	harness_free(turns);
	p = cli_run("fibertrace", "report", "--html", "--limit", "1", "-o",
		    harness_file(to, "lost.html"), file, NULL);
	cli_ended(p, 1);
	stop(NULL);
	report = NULL;
	b = browser_open(to, "document.body !== null && document.body.dataset.ready === 'yes'");
	cli_contains(browser_text(b, "document.getElementById('warnings').textContent"),
		     " events were lost: the timeline has holes. What happened meanwhile is not "
		     "known, for ");
	cli_contains(browser_text(b, "document.getElementById('warnings').textContent"),
		     "functions: shown 1 of 3.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_page_has_a_row_for_everything_that_was_recorded),
		cmocka_unit_test(test_page_has_a_graph_of_who_waits_for_what),
		cmocka_unit_test(test_page_is_zoomed_and_moved),
		cmocka_unit_test(test_page_tells_of_the_slice_that_is_clicked),
		cmocka_unit_test(test_page_says_what_was_lost),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, stop);
}
