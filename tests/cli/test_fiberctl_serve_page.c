/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_serve_page.c - what the page of `fiberctl serve` shows, in a real browser
 *
 * The programs are a deadlock and a crowd, whose fibers are known. Each test goes the way of a
 * person who looks for a fault: from the list of programs to fibers, stacks and a recording.
 */
#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/one_page.h"
#include "tests/harness/watchdog.h"

enum { DEADLOCK, CROWD };

static struct crowd crowd;

static int start(void **state)
{
	(void)state;
	page_programs[DEADLOCK] = cli_start(NULL, "ready ", "deadlock", "--crossing", NULL);
	crowd = crowd_start(NULL, "crowd", "66", NULL);
	page_programs[CROWD] = crowd.process;
	return page_open();
}

static int stop(void **state)
{
	page_close(state);
	free(crowd.members);
	return 0;
}

/* Wait until as many rows are shown as the crowd has fibers with this kind of wait. */
static void wait_for_rows_of(const char *kind)
{
	char expression[96];

	snprintf(expression, sizeof expression,
		 "document.querySelectorAll('.view tbody tr').length === %zu",
		 crowd_count(&crowd, kind));
	browser_wait(page, expression);
}

static int home(void **state)
{
	(void)state;
	page_at("#/");
	return 0;
}

static void test_programs_in_trouble_come_first(void **state)
{
	const json_int_t refused = browser_refused(page);

	(void)state;
	browser_wait(page, "document.querySelectorAll('.view tbody tr').length === 2");
	assert_string_equal(page_text(".view tbody tr a"), "deadlock");
	assert_string_equal(page_text(".view tbody tr .badge.bad"), "deadlock 2");
	cli_contains(page_text(".view tbody"), cli_number((uint64_t)page_programs[CROWD]->pid));
	assert_string_equal(page_text("#link"), "live");
	assert_int_equal(browser_refused(page), refused);
}

static void test_verdict_leads_to_both_fibers_and_the_cycle(void **state)
{
	(void)state;
	page_follow(".view tbody a", "deadlock");
	page_says("It will not go on by itself");
	page_says("2 fibers wait for each other");
	page_follow(".finding li a", "fiber 1");
	page_says("Fiber 1 crossing-0");
	page_says("a deadlock");
	page_follow("dd a", "fiber 2");
	page_says("Fiber 2 crossing-1");
	page_follow("dd a", "fiber 1");
	page_says("Fiber 1 crossing-0");
	page_follow("#tabs a", "Waits");
	page_says("2 fibers wait for each other in a cycle");
	browser_wait(page, "document.querySelectorAll('.graph .node.cycle').length === 2 &&"
			   "document.querySelectorAll('.graph .edge.cycle').length === 2");
	browser_wait(page, "document.querySelector('.graph').textContent.includes('lock-1')");
	page_follow(".graph .node .first", "2 crossing-1");
	page_says("Fiber 2 crossing-1");
}

static void test_overview_draws_the_history(void **state)
{
	(void)state;
	page_view(CROWD, "");
	browser_wait(page,
		     "document.querySelectorAll('.chart').length === 4 && "
		     "document.querySelector('.area.suspended').getAttribute('d')?.length > 20");
	cli_contains(page_text(".chart .legend"), "suspended");
	assert_int_equal(page_count(".view .panel meter"), 2);
}

static json_int_t rows(void)
{
	return page_count(".view .live-table:not([hidden]) tbody tr");
}

static void test_filter_selects_fibers(void **state)
{
	(void)state;
	page_view(CROWD, "fibers");
	assert_int_equal(rows(), 66);
	browser_key(page, "/");
	browser_type(page, "wait=mutex");
	wait_for_rows_of("mutex");
	assert_string_equal(browser_text(page, "location.hash.split('?')[1]"),
			    "where=wait%3Dmutex");
	page_says("fibers, of 66 in all");
	/* A link to this address shows the same. */
	browser_reload(page, "document.getElementById('where')?.value === 'wait=mutex'");
	wait_for_rows_of("mutex");
}

static void test_wrong_filter_shows_the_words_of_the_server(void **state)
{
	const unsigned refused = browser_refused(page);

	(void)state;
	page_view(CROWD, "fibers");
	browser_key(page, "/");
	browser_type(page, "wait=");
	page_says("--where: a value is missing at the end");
	assert_string_equal(
		browser_text(page, "document.getElementById('where').getAttribute('aria-invalid')"),
		"true");
	/* What was shown remains. */
	assert_int_equal(rows(), 66);
	assert_true(browser_refused(page) > refused);
	browser_type(page, "sem");
	wait_for_rows_of("sem");
	assert_string_equal(page_text("#where-error"), "");
}

static void test_columns_sort_and_fields_group(void **state)
{
	(void)state;
	page_view(CROWD, "fibers?sort=id");
	assert_string_equal(page_text(".view tbody a"), "1");
	page_follow(".view th button", "Fiber");
	browser_wait(page, "document.querySelector('.view tbody a').textContent === '66'");
	page_view(CROWD, "fibers?group-by=wait&where=wait%3Dmutex+or+wait%3Dsem");
	assert_int_equal(rows(), 2);
	page_follow(".view tbody a", "sem");
	wait_for_rows_of("sem");
	cli_contains(browser_text(page, "document.getElementById('where').value"), "wait=\"sem\"");
}

static void test_row_opens_a_fiber_with_its_stack(void **state)
{
	(void)state;
	page_view(CROWD, "fibers?where=name%3Dmutex-1");
	assert_int_equal(rows(), 1);
	/* A click beside the link opens it too. */
	json_decref(
		browser_value(page, "document.querySelector('.view tbody td:last-child').click()"));
	page_says("mutex-1");
	page_says("lock-0");
	browser_wait(page,
		     "document.querySelector('#stack').textContent.includes('mutex_main') &&"
		     "document.querySelector('#stack').textContent.includes('crowd_kinds.h:')");
	assert_false(strstr(page_text("#stack"), "fib_fiber_main") != NULL);
	page_follow(".view label", "frames inside libfiber");
	browser_wait(page,
		     "document.querySelector('#stack').textContent.includes('fib_fiber_main')");
	page_follow(".view label", "source lines");
	/* The line that calls, as it is in the file. */
	browser_wait(page, "document.querySelector('#source').textContent.includes("
			   "'fiber_mutex_lock(')");
}

/* The width of the box of a function in the flame graph. */
#define BOX(name)                                                                             \
	"[...document.querySelectorAll('.flame g')].find((g) => g.getAttribute('aria-label')" \
	".startsWith('" name ","                                                              \
	"'))"
#define WIDTH(name) "+" BOX(name) ".firstChild.getAttribute('width')"

static void click_box(const char *expression)
{
	char place[512];
	json_int_t x, y;

	snprintf(place, sizeof place, "%s.getBoundingClientRect().x + 4", expression);
	x = browser_number(page, place);
	snprintf(place, sizeof place, "%s.getBoundingClientRect().y + 6", expression);
	y = browser_number(page, place);
	browser_click(page, (int)x, (int)y);
}

static void test_flame_graph_zooms_and_searches(void **state)
{
	json_int_t narrow, wide;
	char words[64];

	(void)state;
	page_view(CROWD, "stacks");
	narrow = browser_number(page, WIDTH("sem_main"));
	wide = browser_number(page, WIDTH("all fibers"));
	assert_true(narrow > 10 && narrow < wide / 10);
	click_box(BOX("sem_main"));
	assert_int_equal(browser_number(page, WIDTH("sem_main")), wide);
	/* The pointer is on it. */
	snprintf(words, sizeof words, ": %zu fibers, ", crowd_count(&crowd, "sem"));
	cli_contains(page_text(".told"), "sem_main at fixtures/crowd_kinds.h:");
	cli_contains(page_text(".told"), words);
	/* The next answer does not change that. */
	json_decref(browser_value(page,
				  "document.querySelector('.groups').signature = null;"
				  "document.querySelector('.group strong').textContent = '-'"));
	browser_wait(page, "document.querySelector('.group strong').textContent !== '-'");
	assert_int_equal(browser_number(page, WIDTH("sem_main")), wide);
	click_box(BOX("all fibers"));
	assert_int_equal(browser_number(page, WIDTH("sem_main")), narrow);
	browser_key(page, "/");
	browser_type(page, "sem_inner");
	assert_int_equal(page_count(".flame .found"), 1);
	page_says("1 match");
}

static void test_recording_leads_to_a_report(void **state)
{
	char address[128];

	(void)state;
	page_view(CROWD, "recordings");
	browser_wait(page, "document.getElementById('seconds') !== null");
	json_decref(browser_value(page, "document.getElementById('seconds').value = '1'"));
	page_follow(".view button", "Record");
	browser_wait(page, "document.getElementById('confirm').open");
	page_follow("#confirm button", "Record");
	browser_wait(page, "document.querySelector('.view tbody .badge.ok') !== null");
	assert_string_equal(page_text(".view tbody .badge"), "done");
	snprintf(address, sizeof address, "%s",
		 browser_text(page, "document.querySelector('.view tbody a').href"));
	cli_contains(address, "/report.html");
	browser_go(page, address,
		   "document.body !== null && document.body.dataset.ready === 'yes'");
	cli_contains(browser_text(page, "document.title"), "crowd");
	snprintf(address, sizeof address, "%s/", page_address);
	browser_go(page, address, page_ready);
}

static void test_cancellation_is_confirmed_and_refused_by_the_program(void **state)
{
	(void)state;
	page_view(CROWD, "fiber/1");
	page_follow(".view button", "Cancel it");
	browser_wait(page, "document.getElementById('confirm').open");
	page_follow("#confirm button", "Keep it as it is");
	browser_wait(page, "!document.getElementById('confirm').open");
	assert_string_equal(page_text("#said"), "");
	page_follow(".view button", "Cancel it");
	page_follow("#confirm button", "Cancel the fiber");
	/* Its control socket is not for changes of fibers. */
	page_says("FIBER_CONTROL=admin");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs_in_trouble_come_first),
		cmocka_unit_test(test_verdict_leads_to_both_fibers_and_the_cycle),
		cmocka_unit_test_setup(test_overview_draws_the_history, home),
		cmocka_unit_test_setup(test_filter_selects_fibers, home),
		cmocka_unit_test_setup(test_wrong_filter_shows_the_words_of_the_server, home),
		cmocka_unit_test_setup(test_columns_sort_and_fields_group, home),
		cmocka_unit_test_setup(test_row_opens_a_fiber_with_its_stack, home),
		cmocka_unit_test_setup(test_flame_graph_zooms_and_searches, home),
		cmocka_unit_test_setup(test_recording_leads_to_a_report, home),
		cmocka_unit_test_setup(test_cancellation_is_confirmed_and_refused_by_the_program,
				       home),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, stop);
}
