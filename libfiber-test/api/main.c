/* SPDX-License-Identifier: MIT */
/* main.c - the command line of a test program */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/test.h>

#include "explore/explore.h"
#include "explore/replay.h"
#include "explore/settings.h"

static const char usage[] =
	"Usage: %s [OPTION]... [PATTERN]...\n"
	"Explore the tests whose names match a PATTERN (shell patterns; default: all).\n"
	"\n"
	"  --list              print the names of the tests\n"
	"  --replay TOKEN      run the one schedule of a token in this process\n"
	"  --schedules N       run at most N schedules of each test\n"
	"  --seed N            the same seed gives the same schedules\n"
	"  --strategy LIST     random, pct, pct:DEPTH, pos, urw, bound, exhaustive, portfolio\n"
	"  --steps N           choices in one schedule\n"
	"  --preemptions N     exhaustive: at most N switches away from a fiber that could go on\n"
	"  --slack TIME        how far the clock may run ahead while fibers can run\n"
	"  --time TIME         real time for each test: 5s, 200ms, none\n"
	"  --hang TIME         real time without a choice\n"
	"  -j, --jobs N        processes\n"
	"  --trace[=FILE]      print every step of a replay\n"
	"  --at-failure WHAT   of a replay: report, abort, stop\n"
	"  --no-minimize       keep the schedule as it was found\n"
	"  --help, --version\n"
	"\n"
	"Exit status: 0 nothing was found, 1 something was found, 2 bad usage or it could not be "
	"run.\n";

static _Noreturn void refuse(const char *program, const char *what, const char *why)
{
	fprintf(stderr, "%s: %.80s: %s\n", program, what, why);
	exit(2);
}

/* Take "--name VALUE" or "--name=VALUE"; *i moves on. Returns NULL if argv[*i] is another option. */
static const char *value_of(int argc, char *argv[], int *i, const char *name)
{
	const char *at = argv[*i];
	const size_t n = strlen(name);

	if (strncmp(at, "--", 2) != 0 || strncmp(at + 2, name, n) != 0)
		return NULL;
	if (at[2 + n] == '=')
		return at + 3 + n;
	if (at[2 + n])
		return NULL;
	if (*i + 1 == argc)
		refuse(argv[0], at, "needs a value");
	return argv[++*i];
}

static void set(const char *program, const char *name, const char *value)
{
	char what[128];
	const char *why;

	snprintf(what, sizeof what, "--%s %s", name, value);
	if (fib_setting_set(name, value, &why) < 0)
		refuse(program, what, why);
}

/* Returns whether argv[*i] is a setting. */
static bool take_setting(int argc, char *argv[], int *i)
{
	static const char *const names[] = {"replay", "schedules",   "seed",	  "strategy",
					    "steps",  "preemptions", "slack",	  "time",
					    "hang",   "jobs",	     "at-failure"};
	unsigned k;

	for (k = 0; k < sizeof names / sizeof *names; k++) {
		const char *value = argv[*i] ? value_of(argc, argv, i, names[k]) : NULL;

		if (!value)
			continue;
		set(argv[0], names[k], value);
		return true;
	}
	if (strcmp(argv[*i], "-j") == 0 && *i + 1 < argc)
		set(argv[0], "jobs", argv[++*i]);
	else if (strcmp(argv[*i], "--trace") == 0)
		set(argv[0], "trace", "1");
	else if (strncmp(argv[*i], "--trace=", 8) == 0)
		set(argv[0], "trace", argv[*i] + 8);
	else if (strcmp(argv[*i], "--no-minimize") == 0)
		set(argv[0], "minimize", "0");
	else
		return false;
	return true;
}

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
			refuse(program, "a test", "has no name or no function");
		for (k = 0; k < i; k++)
			if (strcmp(cases[i].name, cases[k].name) == 0)
				refuse(program, cases[i].name, "two tests have this name");
	}
	for (p = 0; p < count; p++) {
		for (i = 0; i < n && fnmatch(patterns[p], cases[i].name, 0) != 0; i++)
			;
		if (i == n)
			refuse(program, patterns[p], "no test matches");
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
		printf("fiber-test: %s: cannot be explored: %s\n", test->name, strerror(-rc));
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
		refuse(argv[0], "memory", strerror(ENOMEM));
	fib_settings_read_environment();
	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0) {
			printf(usage, argv[0]);
			exit(0);
		} else if (strcmp(argv[i], "--version") == 0) {
			puts("libfiber-test " FIBER_VERSION);
			exit(0);
		} else if (strcmp(argv[i], "--list") == 0) {
			lists = true;
		} else if (argv[i][0] != '-') {
			patterns[count++] = argv[i];
		} else if (!take_setting(argc, argv, &i)) {
			refuse(argv[0], argv[i], "no such option; see --help");
		}
	}
	if (lists && fib_settings()->replay)
		refuse(argv[0], "--list", "does not go with --replay");
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
		refuse(argv[0], fib_settings()->replay, "a token of none of these tests");
	return worst;
}
