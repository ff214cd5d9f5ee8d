/* SPDX-License-Identifier: MIT */
/* test_fiberize_completion.c - bash, zsh and fish complete the options of fiberize and its program */
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/cli/shells.h"
#include "tests/harness/watchdog.h"

static void test_shells_offer_every_option_of_the_help(void **state)
{
	struct harness_process *p = cli_run("fiberize", "--help", NULL);
	char wanted[256] = "", *at = p->out.bytes;
	unsigned n = 0;

	(void)state;
	cli_expect(p, 0);
	while ((at = strstr(at, "--"))) {
		const size_t length = 2 + strspn(at + 2, "abcdefghijklmnopqrstuvwxyz-");

		snprintf(wanted + strlen(wanted), sizeof wanted - strlen(wanted), "%s%.*s",
			 n ? " " : "", (int)length, at);
		n++;
		at += length;
	}
	assert_int_equal(n, 7);
	harness_free(p);
	shells_expect("fiberize --", wanted);
}

static void test_shells_offer_the_values_of_options(void **state)
{
	(void)state;
	shells_expect("fiberize --stack ", "256k 1m 8m");
	shells_expect("fiberize --stack=8", "8m");
	shells_expect("fiberize --watchdog ", "20ms 100ms 1s");
	shells_expect("fiberize --trim ", "1s 5s 1m off");
	shells_expect("fiberize --carriers-max ", "1 2 4 8");
	shells_refute("fiberize --carriers ", "kept.fib");
}

static void test_shells_offer_programs_and_files_after_the_options(void **state)
{
	(void)state;
	shells_expect("fiberize fibert", "fibertrace");
	shells_expect("fiberize --carriers 2 fibert", "fibertrace");
	shells_expect("fiberize --carriers 3 cat ke", "kept.fib");
	shells_refute("fiberize cat ke", "--watchdog");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shells_offer_every_option_of_the_help),
		cmocka_unit_test(test_shells_offer_the_values_of_options),
		cmocka_unit_test(test_shells_offer_programs_and_files_after_the_options),
	};

	/* The completions are the same files. */
	if (*harness_sanitizer()) {
		puts("1..0 # SKIP the completions are the same with a sanitizer");
		return 0;
	}
	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, shells_start, shells_end);
}
