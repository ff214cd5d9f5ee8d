/* SPDX-License-Identifier: MIT */
/* test_fiberctl_completion_words.c - fields and other words that the shells offer */
#include "tests/harness/cli/cli.h"
#include "tests/harness/cli/shells.h"
#include "tests/harness/watchdog.h"

static void test_shells_offer_the_words_of_closed_lists(void **state)
{
	(void)state;
	shells_expect("fiberctl --color ", "auto always never");
	shells_expect("fiberctl list --color=a", "auto always");
	shells_expect("fiberctl policy crowd ", "warn error silent");
	shells_expect("fiberctl policy --color never crowd e", "error");
	shells_expect("fiberctl watchdog crowd ", "off");
	shells_expect("fiberctl list --json=", "lines");
}

static void test_shells_offer_serve_and_its_options(void **state)
{
	(void)state;
	shells_expect("fiberctl ser", "serve");
	shells_expect("fiberctl serve --", "--listen --token-file --allow-changes");
	shells_refute("fiberctl list crowd --", "--listen");
}

static void test_shells_offer_fields(void **state)
{
	(void)state;
	shells_expect("fiberctl list crowd --group-by ", "state wait label.");
	shells_expect("fiberctl list crowd -g st", "state");
	shells_expect("fiberctl top crowd --sort ", "age cpu");
	shells_expect("fiberctl top crowd --sort -", "-age -cpu");
	shells_expect("fiberctl list crowd --sort=a", "age");
	shells_expect("fiberctl list crowd --columns ", "id name");
	shells_expect("fiberctl list crowd --columns id,wa", "id,wait id,waiting");
	shells_expect("fiberctl list crowd -c id,na", "id,name");
	shells_refute("fibertrace list crowd --module ", "state");
}

static void test_shells_offer_fields_and_their_words_in_an_expression(void **state)
{
	(void)state;
	shells_expect("fiberctl list crowd --where ", "state name");
	shells_expect("fiberctl list crowd --where 'sta", "state stack");
	shells_expect("fiberctl list crowd --where=sta", "state stack");
	shells_expect("fiberctl list crowd -w \"age>1s and (nam", "name");
	shells_expect("fiberctl list crowd --where 'wait=mu", "mutex");
	shells_expect("fiberctl list crowd --where state=run", "runnable running");
	shells_refute("fiberctl list crowd --where 'age>1s sta", "state");
}

static void test_shells_offer_what_watch_can_run_and_its_words_and_options(void **state)
{
	(void)state;
	shells_expect("fiberctl watch ", "list policy");
	shells_refute("fiberctl watch ", "watch");
	shells_expect("fiberctl watch -n 1 policy crowd ", "warn error silent");
	shells_expect("fiberctl watch list crowd --", "--interval --columns");
	shells_expect("fiberctl watch list crowd --columns id,na", "id,name");
	shells_refute("fiberctl watch policy crowd --", "--columns");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shells_offer_the_words_of_closed_lists),
		cmocka_unit_test(test_shells_offer_serve_and_its_options),
		cmocka_unit_test(test_shells_offer_fields),
		cmocka_unit_test(test_shells_offer_fields_and_their_words_in_an_expression),
		cmocka_unit_test(test_shells_offer_what_watch_can_run_and_its_words_and_options),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, shells_start, shells_end);
}
