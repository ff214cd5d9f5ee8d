/* SPDX-License-Identifier: MIT */
/* test_soak.c - run `make soak` for some seconds instead of an hour */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/watchdog.h"

/* soak.py in the source tree that this file was compiled in. */
static const char *script(char *buf)
{
	char *end;

	assert_non_null(realpath(__FILE__, buf));
	end = strstr(buf, "/tests/cli/");
	assert_non_null(end);
	strcpy(end, "/scripts/soak.py");
	return buf;
}

static void test_soak_finds_nothing_lost_after_clients_that_left_at_any_moment(void **state)
{
	char folder[HARNESS_PATH], path[PATH_MAX];
	struct harness_process *p;

	(void)state;
	snprintf(folder, sizeof folder, "%s/bin", harness_build());
	p = cli_run(script(path), folder, "4", NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "slice 4 of 4: cut ");
	cli_contains(p->out.bytes, "soak: ok");
	harness_free(p);
}

static void test_soak_says_how_it_is_used(void **state)
{
	char path[PATH_MAX];
	struct harness_process *p;

	(void)state;
	p = cli_run(script(path), "nowhere", NULL);
	cli_expect(p, 64);
	cli_contains(p->err.bytes, "soak.py BIN SECONDS");
	harness_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_soak_finds_nothing_lost_after_clients_that_left_at_any_moment),
		cmocka_unit_test(test_soak_says_how_it_is_used),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
