/* SPDX-License-Identifier: MIT */
/*
 * settings.h - options of a test: the program's, overridden by the environment, overridden by the
 * command line
 */
#ifndef FIB_TEST_SETTINGS_H
#define FIB_TEST_SETTINGS_H

#include <stdbool.h>

#include <fiber/test.h>

enum fib_progress_when { FIB_PROGRESS_NEVER, FIB_PROGRESS_ALWAYS, FIB_PROGRESS_AUTO };
enum fib_at_failure { FIB_FAILURE_REPORT, FIB_FAILURE_ABORT, FIB_FAILURE_STOP };

/* What is not in the options of one test. */
struct fib_settings {
	const char *replay;   /* a token; NULL: explore */
	const char *trace;    /* "1": to stderr, else a file; NULL: none */
	const char *timeline; /* a file; NULL: none */
	enum fib_at_failure at_failure;
	enum fib_progress_when progress; /* AUTO: on a terminal */
	bool no_minimize;
	bool keep_going;
	bool hide_stdout; /* what tests print goes where their stderr goes */
	bool hash;	  /* print that of all choices */
};

/*
 * Set the setting `name` ("schedules", "time", ...) to a text, for all tests of the process; it
 * overrides the program and earlier values. Returns 0, or -EINVAL and why.
 */
int fib_setting_set(const char *name, const char *value, const char **ret_why);

/* Read FIBER_TEST_*; a value that makes no sense prints a line and exits with 2. Once. */
void fib_settings_read_environment(void);

const struct fib_settings *fib_settings(void);

/* On a terminal show progress unless it was said otherwise. Standard output is for the report only. */
void fib_settings_progress_by_default(void);
void fib_settings_hide_stdout(void);

/* Complete the program's options, which may be NULL. Returns 0 or -EINVAL. */
int fib_settings_complete(const struct fiber_test_options *options, struct fiber_test_options *ret);

#endif
