/* SPDX-License-Identifier: MIT */
/* test_fiberctl_topic_where.c - the help of --where has every field, and its examples work */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/watchdog.h"

static char *help; /* what `fiberctl help where` prints */

static int start(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "help", "where", NULL);

	(void)state;
	cli_expect(p, 0);
	help = strdup(p->out.bytes);
	harness_free(p);
	return !help;
}

static int stop(void **state)
{
	(void)state;
	free(help);
	return 0;
}

/* The tool itself lists the fields in its error message for an unknown one. */
static void test_help_where_has_every_field(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "list", "1", "--where", "nosuch", NULL);
	char *names, *name, line[64];
	size_t count = 0;

	(void)state;
	cli_expect(p, 64);
	names = strstr(p->err.bytes, "there are: ");
	assert_non_null(names);
	names += strlen("there are: ");
	names[strcspn(names, "\n")] = 0;
	while ((name = strsep(&names, ", "))) {
		if (!*name)
			continue;
		snprintf(line, sizeof(line), "\n  %-10s ", name);
		cli_contains(help, line);
		count++;
	}
	assert_true(count > 20);
	harness_free(p);
}

static void test_help_where_has_examples_that_work(void **state)
{
	static const char before[] = "fiberctl list httpd --where '";
	struct crowd crowd = crowd_start(NULL, "crowd", "22", NULL);
	const char *const pid = cli_number((uint64_t)crowd.process->pid);
	size_t count = 0;

	(void)state;
	for (char *at = help; (at = strstr(at, before)); count++) {
		struct harness_process *p;
		char where[256];

		at += strlen(before);
		snprintf(where, sizeof(where), "%.*s", (int)strcspn(at, "'"), at);
		p = cli_run("fiberctl", "list", pid, "--where", where, NULL);
		cli_ended(p, 0);
	}
	assert_true(count > 4);
	crowd_end(&crowd);
}

static void test_help_where_fits_a_terminal(void **state)
{
	(void)state;
	for (const char *at = help; *at; at += strcspn(at, "\n") + 1)
		assert_true(strcspn(at, "\n") <= 90);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_help_where_has_every_field),
		cmocka_unit_test(test_help_where_has_examples_that_work),
		cmocka_unit_test(test_help_where_fits_a_terminal),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, stop);
}
