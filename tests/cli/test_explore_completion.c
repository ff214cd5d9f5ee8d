/* SPDX-License-Identifier: MIT */
/* test_explore_completion.c - bash, zsh and fish complete the options of fibertest and their values */
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/cli/shells.h"
#include "tests/harness/watchdog.h"

static void test_shells_offer_every_option_of_the_help(void **state)
{
	struct harness_process *p = cli_run("fibertest", "--help", NULL);
	char wanted[1024] = "", *at = p->out.bytes, name[64];
	unsigned n = 0;

	(void)state;
	cli_expect(p, 0);
	/* Not what an explanation mentions: after blanks, or a comma and a blank. */
	while ((at = strstr(at, "--"))) {
		const size_t length = 2 + strspn(at + 2, "abcdefghijklmnopqrstuvwxyz-");

		snprintf(name, sizeof name, "%.*s", (int)length, at);
		if (length > 2) {
			snprintf(wanted + strlen(wanted), sizeof wanted - strlen(wanted), "%s%s",
				 n ? " " : "", name);
			n++;
		}
		at += length;
	}
	assert_true(n > 18);
	harness_free(p);
	shells_expect("fibertest --", wanted);
}

static void test_shells_offer_the_values_of_options(void **state)
{
	(void)state;
	shells_expect("fibertest --format ", "text tap junit json");
	shells_expect("fibertest --format=j", "junit json");
	shells_expect("fibertest --at-failure ", "report abort stop");
	shells_expect("fibertest --strategy ",
		      "random pct pos urw surw bound exhaustive each-fault");
	shells_expect("fibertest --faults ", "memory short reset descriptors cancel spurious disk");
	shells_refute("fibertest --format ", "kept.fib");
	shells_expect("fibertest -o ", "kept.fib");
	shells_expect("fibertest --timeline ", "kept.fib");
}

static void test_shells_offer_programs_and_files_after_the_options(void **state)
{
	(void)state;
	shells_expect("fibertest fibert", "fibertest fibertrace");
	shells_expect("fibertest --schedules 10 fibert", "fibertrace");
	shells_refute("fibertest --schedules ", "fibertrace");
	shells_expect("fibertest --seed 3 cat ke", "kept.fib");
	shells_refute("fibertest cat ke", "--keep-going");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shells_offer_every_option_of_the_help),
		cmocka_unit_test(test_shells_offer_the_values_of_options),
		cmocka_unit_test(test_shells_offer_programs_and_files_after_the_options),
	};

	/* As test_explore_fibertest. */
	if (*harness_sanitizer()) {
		puts("1..0 # SKIP fibertest is built without a sanitizer only");
		return 0;
	}
	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, shells_start, shells_end);
}
