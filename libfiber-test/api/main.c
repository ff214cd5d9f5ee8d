/* SPDX-License-Identifier: MIT */
/* main.c - the command line of a test program */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/test.h>

#include "api/options.h"
#include "explore/explore.h"
#include "explore/replay.h"
#include "explore/settings.h"

static const char usage[] =
	"Usage: %s [OPTION]... [PATTERN]...\n"
	"Explore the tests whose names match a PATTERN (shell patterns; default: all).\n"
	"\n"
	"  --list              print the names of the tests\n"
	"%s";

static void list(const struct fiber_test_case cases[], size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		puts(cases[i].name);
}

static bool matches(const char *name, char *patterns[], int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (fnmatch(patterns[i], name, 0) == 0)
			return true;
	return !n;
}

static void check(const char *program, const struct fiber_test_case cases[], size_t n,
		  char *patterns[], int count)
{
	size_t i, k;
	int p;

	for (i = 0; i < n; i++) {
		if (!cases[i].name || !cases[i].fn)
			fib_refuse(program, "a test", "has no name or no function");
		for (k = 0; k < i; k++)
			if (strcmp(cases[i].name, cases[k].name) == 0)
				fib_refuse(program, cases[i].name, "two tests have this name");
	}
	for (p = 0; p < count; p++) {
		for (i = 0; i < n && fnmatch(patterns[p], cases[i].name, 0) != 0; i++)
			;
		if (i == n)
			fib_refuse(program, patterns[p], "no test matches");
	}
}

/* Returns the exit status of one test. */
static int run_one(const struct fiber_test_case *test)
{
	struct fiber_test_options options = {.size = sizeof options};
	struct fiber_test_result result = {.size = sizeof result};
	unsigned before;
	char *report;
	int rc;

	if (test->options)
		memcpy(&options, test->options,
		       test->options->size < sizeof options ? test->options->size : sizeof options);
	options.size = sizeof options;
	options.name = test->name;
	rc = fib_explore(test->fn, test->arg, &options, &result, &report, &before);
	if (rc < 0)
		printf("fiber-test: %s: cannot be explored: %s\n", test->name, fib_explore_why(rc));
	else if (rc && report)
		fputs(report, stdout);
	else if (rc)
		printf("fiber-test: %s: %s: %s\n", test->name,
		       fiber_test_verdict_name(result.verdict), result.message);
	else if (result.verdict == FIBER_TEST_COMPLETE)
		printf("fiber-test: %s: complete: all %llu schedules\n", test->name,
		       (unsigned long long)result.schedules);
	else if (!fib_settings()->replay)
		printf("fiber-test: %s: passed: %llu schedules\n", test->name,
		       (unsigned long long)result.schedules);
	free(report);
	fflush(stdout);
	return rc < 0 ? 2 : rc;
}

int fiber_test_main(int argc, char *argv[], const struct fiber_test_case cases[], size_t n)
{
	char **patterns = calloc((size_t)argc + 1, sizeof *patterns);
	int i, count = 0, worst = 0, code;
	bool lists = false;
	size_t k;

	if (!patterns)
		fib_refuse(argv[0], "memory", strerror(ENOMEM));
	fib_settings_read_environment();
	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0) {
			printf(usage, argv[0], fib_options_help);
			exit(0);
		} else if (strcmp(argv[i], "--version") == 0) {
			puts("libfiber-test " FIBER_VERSION);
			exit(0);
		} else if (strcmp(argv[i], "--list") == 0) {
			lists = true;
		} else if (argv[i][0] != '-') {
			patterns[count++] = argv[i];
		} else if (!fib_option_take(argc, argv, &i)) {
			fib_refuse(argv[0], argv[i], "no such option; see --help");
		}
	}
	if (lists && fib_settings()->replay)
		fib_refuse(argv[0], "--list", "does not go with --replay");
	check(argv[0], cases, n, patterns, count);
	if (lists) {
		list(cases, n);
		n = 0;
	}
	for (k = 0; k < n; k++) {
		if (!matches(cases[k].name, patterns, count))
			continue;
		code = run_one(&cases[k]);
		if (code > worst)
			worst = code;
	}
	free(patterns);
	if (n && fib_settings()->replay && !fib_replayed())
		fib_refuse(argv[0], fib_settings()->replay, "a token of none of these tests");
	return worst;
}
