/* SPDX-License-Identifier: MIT */
/* main.c - a whole test program: explore the tests that match, write what was found */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/test.h>

#include "api/options.h"
#include "explore/explore.h"
#include "explore/interrupt.h"
#include "explore/replay.h"
#include "explore/settings.h"
#include "format/format.h"
#include "text/escape.h"
#include "text/output.h"

static const char usage[] =
	"Usage: %s [OPTION]... [PATTERN]...\n"
	"Explore the tests whose names match a PATTERN (shell patterns; default: all).\n"
	"\n"
	"  --list              print the names of the tests\n"
	"%s";

struct command {
	const char *program;
	char **patterns;
	int count;
	bool lists;
};

static void list(const struct fiber_test_case cases[], size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		fib_put_plain(stdout, cases[i].name);
		putchar('\n');
	}
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

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Returns the exit status of one test. */
static int run_one(const struct fiber_test_case *test, const struct fib_format *format,
		   struct fib_document *document)
{
	struct fiber_test_options options = {.size = sizeof options};
	struct fib_outcome outcome;
	int rc;

	if (test->options)
		memcpy(&options, test->options,
		       test->options->size < sizeof options ? test->options->size : sizeof options);
	options.size = sizeof options;
	options.name = test->name;
	rc = fib_explore(test->fn, test->arg, &options, &outcome);
	if (!fib_settings()->replay)
		fib_format_outcome(format, document, &outcome);
	fib_outcome_free(&outcome);
	return rc == -EINTR ? 1 : rc < 0 ? 2 : rc;
}

static size_t count_matching(const struct command *c, const struct fiber_test_case cases[],
			     size_t n)
{
	size_t i, count = 0;

	for (i = 0; i < n; i++)
		count += matches(cases[i].name, c->patterns, c->count);
	return count;
}

/* Returns the exit status. */
static int run_all(const struct command *c, const struct fiber_test_case cases[], size_t n)
{
	const struct fib_format *format =
		fib_options()->format ? fib_options()->format : &fib_format_text;
	struct fib_document document = {.program = last_part(c->program)};
	const char *const file = fib_options()->file;
	struct fib_output output;
	int rc = fib_output_begin(&output, file), worst = 0, code;
	size_t i;

	if (rc < 0)
		fib_refuse(c->program, file, rc == -EEXIST ? "is no file" : strerror(-rc));
	fib_output_share(&output);
	if (!fib_settings()->replay) {
		fib_interrupt_enable();
		fib_settings_progress_by_default();
	}
	if (format != &fib_format_text && !file)
		fib_settings_hide_stdout();
	document.out = output.out;
	document.tests = count_matching(c, cases, n);
	format->begin(&document);
	for (i = 0; i < n && !fib_interrupted(); i++) {
		if (!matches(cases[i].name, c->patterns, c->count))
			continue;
		code = run_one(&cases[i], format, &document);
		if (code > worst)
			worst = code;
	}
	document.signal = fib_interrupted();
	format->end(&document);
	rc = fib_output_end(&output);
	if (rc < 0)
		fib_refuse(c->program, file ? file : "standard output", strerror(-rc));
	return document.signal ? 128 + document.signal : worst;
}

static void parse(int argc, char *argv[], struct command *c)
{
	bool options = true;
	int i;

	for (i = 1; i < argc; i++) {
		if (!options || argv[i][0] != '-') {
			c->patterns[c->count++] = argv[i];
		} else if (strcmp(argv[i], "--") == 0) {
			options = false;
		} else if (strcmp(argv[i], "--help") == 0) {
			printf(usage, argv[0], fib_options_help);
			exit(0);
		} else if (strcmp(argv[i], "--version") == 0) {
			puts("libfiber-test " FIBER_VERSION);
			exit(0);
		} else if (strcmp(argv[i], "--list") == 0) {
			c->lists = true;
		} else if (!fib_option_take(argc, argv, &i)) {
			fib_refuse(argv[0], argv[i], "no such option; see --help");
		}
	}
	if (c->lists && fib_settings()->replay)
		fib_refuse(c->program, "--list", "does not go with --replay");
	if (c->lists && (fib_options()->format || fib_options()->file))
		fib_refuse(c->program, "--list", "does not go with --format and -o");
	fib_options_check(c->program);
}

int fiber_test_main(int argc, char *argv[], const struct fiber_test_case cases[], size_t n)
{
	struct command command = {.program = argv[0]};
	int code = 0;

	command.patterns = calloc((size_t)argc + 1, sizeof *command.patterns);
	if (!command.patterns)
		fib_refuse(argv[0], "memory", strerror(ENOMEM));
	fib_settings_read_environment();
	parse(argc, argv, &command);
	check(argv[0], cases, n, command.patterns, command.count);
	if (command.lists)
		list(cases, n);
	else
		code = run_all(&command, cases, n);
	free(command.patterns);
	if (!command.lists && fib_settings()->replay && !fib_replayed())
		fib_refuse(argv[0], fib_settings()->replay, "a token of none of these tests");
	return code;
}
