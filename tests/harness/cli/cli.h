/* SPDX-License-Identifier: MIT */
/*
 * cli.h - the tools and the fixtures, as a test of the command line uses them
 *
 * Everything here asserts with cmocka on the caller's stack and frees nothing on a failure: the harness
 * ends what runs when the test exits.
 */
#ifndef HARNESS_CLI_CLI_H
#define HARNESS_CLI_CLI_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/harness/paths.h"
#include "tests/harness/process.h"

#define CLI_SECONDS 60 /* longest run of a tool, longest wait for a fixture */

/* Run a built program (or an absolute path) with the arguments up to NULL, to its end. */
struct harness_process *cli_run(const char *program, ...) __attribute__((sentinel));
struct harness_process *cli_run_how(const struct harness_how *how, const char *program, ...)
	__attribute__((sentinel));

/* Start one and wait until a line of its stdout starts with ready. */
struct harness_process *cli_start(const struct harness_how *how, const char *ready,
				  const char *program, ...) __attribute__((sentinel));

/* Assert its exit code; on another one its output is shown. */
void cli_expect(const struct harness_process *p, int code);
/* The same, then free. */
void cli_ended(struct harness_process *p, int code);

/* Assert the exit code and that stderr names the tool and contains `what`; then free. What is on stdout is
 * not looked at. */
void cli_expect_error(struct harness_process *p, int code, const char *tool, const char *what);

/* The pid of a process that has ended, as cli_number() gives it; a process without fibers, to be freed. */
const char *cli_gone(void);
struct harness_process *cli_without_fibers(void);

/* Assert that text contains what; shows both when it does not. */
void cli_contains(const char *text, const char *what);

/* pid, and any other number, as an argument; valid for the next 8 calls. */
const char *cli_number(uint64_t number);

/* The state letter of /proc/PID/stat; whether it is T, for harness_until(). */
char cli_state(pid_t pid);
bool cli_stopped(void *pid);

/* End the running test as skipped, and say why. */
void cli_skip(const char *why);

/* A connection to the control socket of a process that runs here. */
int cli_attach(pid_t pid);

/* Dump a core of a process with gcore into a file of the test's folder; path in buf of HARNESS_PATH. */
void cli_core(pid_t pid, const char *name, char *buf);

#endif
