/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_serve_page_use.c - how the page of `fiberctl serve` is used, in a real browser
 *
 * With the keyboard alone; while a program ends; while the server does not answer.
 */
#include "tests/harness/cli/one_page.h"
#include "tests/harness/watchdog.h"

enum { CROWD, MORTAL };

static int start(void **state)
{
	(void)state;
	page_programs[CROWD] = cli_start(NULL, "ready ", "crowd", "66", NULL);
	page_programs[MORTAL] = cli_start(NULL, "ready ", "crowd", "22", NULL);
	return page_open();
}

static int home(void **state)
{
	(void)state;
	page_at("#/");
	return 0;
}

/* -- the keyboard -- */

static void test_keyboard_reaches_every_view(void **state)
{
	static const char *const keys[][2] = {{"f", "fibers"},
					      {"s", "stacks"},
					      {"w", "waits"},
					      {"r", "recordings"},
					      {"o", "overview"}};
	char expression[128];
	size_t i;

	(void)state;
	page_view(CROWD, "");
	for (i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		browser_key(page, "g");
		browser_key(page, keys[i][0]);
		snprintf(expression, sizeof expression,
			 "document.querySelector('.view.%s[data-ready]') !== null", keys[i][1]);
		browser_wait(page, expression);
	}
	browser_key(page, "?");
	assert_true(browser_number(page, "+document.getElementById('keys').open"));
	browser_key(page, "Escape");
	browser_wait(page, "!document.getElementById('keys').open");
	browser_key(page, "g");
	browser_key(page, "p");
	browser_wait(page, "document.querySelector('.view.programs[data-ready]') !== null");
}

static void test_keyboard_moves_in_a_table_and_opens_a_row(void **state)
{
	(void)state;
	page_view(CROWD, "fibers?sort=id");
	browser_key(page, "j");
	assert_string_equal(browser_text(page, "document.activeElement.textContent"), "1");
	browser_key(page, "j");
	browser_key(page, "ArrowDown");
	browser_key(page, "k");
	assert_string_equal(browser_text(page, "document.activeElement.textContent"), "2");
	/* The next answer keeps the focus: 'For' of the row changes with it. */
	json_decref(browser_value(
		page, "window.before = document.activeElement.closest('tr').innerText"));
	browser_wait(page, "document.activeElement.closest('tr').innerText !== window.before");
	assert_string_equal(browser_text(page, "document.activeElement.textContent"), "2");
	browser_key(page, "Enter");
	browser_wait(page, "document.querySelector('.view.fiber') !== null");
	page_says("Fiber 2");
	browser_key(page, "Escape");
	browser_wait(page, "document.querySelector('.view.fibers') !== null");
	/* A row that moves keeps the focus too. */
	page_view(CROWD, "fibers?sort=id");
	browser_key(page, "j");
	browser_key(page, "j");
	json_decref(browser_value(page, "document.querySelector('.view th button').click()"));
	browser_wait(page, "document.querySelector('.view tbody a').textContent === '66'");
	assert_string_equal(browser_text(page, "document.activeElement.textContent"), "2");
	browser_key(page, "/");
	browser_type(page, "id=3");
	browser_wait(page, "document.querySelectorAll('.view tbody tr').length === 1");
	browser_key(page, "Escape");
	assert_string_equal(browser_text(page, "document.activeElement.tagName"), "BODY");
}

static void test_escape_leads_back_to_where_one_came_from(void **state)
{
	(void)state;
	page_view(CROWD, "");
	page_view(CROWD, "waits");
	json_decref(browser_value(page,
				  "document.querySelector('.view tbody td:last-child a').click()"));
	browser_wait(page, "document.querySelector('.view.fiber') !== null");
	browser_key(page, "Escape");
	browser_wait(page, "document.querySelector('.view.waits') !== null");
}

static void test_keyboard_zooms_in_the_flame_graph(void **state)
{
	(void)state;
	page_view(CROWD, "stacks");
	json_decref(
		browser_value(page, "document.querySelector('.flame [tabindex=\"0\"]').focus()"));
	browser_key(page, "ArrowDown");
	browser_key(page, "ArrowDown");
	browser_key(page, "Enter");
	assert_int_equal(page_count(".flame .above"), 2);
	browser_key(page, "Escape");
	assert_int_equal(page_count(".flame .above"), 0);
	assert_true(browser_number(page, "+(document.querySelector('.view.stacks') !== null)"));
}

/* -- ends -- */

static void test_page_keeps_what_it_showed_of_a_program_that_has_ended(void **state)
{
	(void)state;
	page_view(MORTAL, "fibers");
	assert_int_equal(page_count(".view tbody tr"), 22);
	harness_end(page_programs[MORTAL]);
	page_says("has ended. This was last seen at ");
	assert_string_equal(page_text("#link"), "ended");
	assert_int_equal(page_count(".view tbody tr"), 22);
}

static void test_fiber_that_does_not_exist_is_said(void **state)
{
	(void)state;
	page_view(CROWD, "fiber/4711");
	page_says("no such fiber");
	assert_string_equal(page_text("#link"), "live");
}

static void test_page_pauses(void **state)
{
	(void)state;
	page_view(CROWD, "fibers?sort=id");
	browser_key(page, "p");
	assert_string_equal(page_text("#link"), "paused");
	/* Another look of the server, which the page would have shown. */
	json_decref(browser_value(
		page,
		"window.before = document.querySelector('.view tbody').innerText;"
		"(async () => { const path = location.hash.slice(1).split('/')[2], ask = async () "
		"=> "
		"(await (await fetch(`/api/v1/processes/${path}/list?limit=1`)).json()).takenNs;"
		"const first = await ask(); while (await ask() < first + 3e9);"
		"window.later = true; })(); null"));
	browser_wait(page, "window.later === true");
	assert_true(browser_number(
		page, "+(document.querySelector('.view tbody').innerText === window.before)"));
	browser_key(page, "p");
	browser_wait(page, "document.querySelector('.view tbody').innerText !== window.before");
}

static void test_page_waits_for_a_server_that_does_not_answer(void **state)
{
	char port[16];

	(void)state;
	page_view(CROWD, "fibers");
	snprintf(port, sizeof port, "%s", strrchr(page_address, ':') + 1);
	harness_free(page_server);
	page_server = NULL;
	page_says("The server does not answer. This was last seen at ");
	page_says("no answer since ");
	assert_int_equal(page_count(".view tbody tr"), 66);
	harness_free(page_programs[MORTAL]);
	page_programs[MORTAL] = NULL;
	page_serve(port);
	browser_wait(page, "document.getElementById('link').textContent === 'live'");
	assert_string_equal(page_text("#notice"), "");
}

/* The page has not noticed it, and has the token for changes of the old server. */
static void test_change_works_after_the_server_was_started_again(void **state)
{
	char port[16];

	(void)state;
	page_view(CROWD, "fiber/1");
	browser_key(page, "p");
	snprintf(port, sizeof port, "%s", strrchr(page_address, ':') + 1);
	harness_free(page_server);
	page_serve(port);
	page_follow(".view button", "Cancel it");
	page_follow("#confirm button", "Cancel the fiber");
	page_says("FIBER_CONTROL=admin");
	browser_key(page, "p");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_keyboard_reaches_every_view, home),
		cmocka_unit_test_setup(test_keyboard_moves_in_a_table_and_opens_a_row, home),
		cmocka_unit_test_setup(test_escape_leads_back_to_where_one_came_from, home),
		cmocka_unit_test_setup(test_keyboard_zooms_in_the_flame_graph, home),
		cmocka_unit_test_setup(test_page_keeps_what_it_showed_of_a_program_that_has_ended,
				       home),
		cmocka_unit_test_setup(test_fiber_that_does_not_exist_is_said, home),
		cmocka_unit_test_setup(test_page_pauses, home),
		cmocka_unit_test_setup(test_page_waits_for_a_server_that_does_not_answer, home),
		cmocka_unit_test_setup(test_change_works_after_the_server_was_started_again, home),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, page_close);
}
