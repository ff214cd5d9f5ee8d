/* SPDX-License-Identifier: MIT */
/*
 * cli.h - run the tools and the fixtures in tests of the command line
 *
 * All functions assert with cmocka on the caller's stack and free nothing on failure: the harness
 * ends the running processes when the test exits.
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

#define CLI_SECONDS 60 /* s; longest run of a tool, longest wait for a fixture */

/* Run a built program (or an absolute path) to its end, with the arguments up to NULL. */
struct harness_process *cli_run(const char *program, ...) __attribute__((sentinel));
struct harness_process *cli_run_how(const struct harness_how *how, const char *program, ...)
	__attribute__((sentinel));

/* Start a program and wait until a line of its stdout starts with `ready`. */
struct harness_process *cli_start(const struct harness_how *how, const char *ready,
				  const char *program, ...) __attribute__((sentinel));

/* Assert the exit code; show the output if it differs. */
void cli_expect(const struct harness_process *p, int code);
/* cli_expect(), then free. */
void cli_ended(struct harness_process *p, int code);

/* Assert the exit code and that stderr names the tool and contains `what`; then free. stdout is
 * ignored. */
void cli_expect_error(struct harness_process *p, int code, const char *tool, const char *what);

/* The pid of a process that has ended, formatted as by cli_number(); a process without fibers,
 * which the caller frees. */
const char *cli_gone(void);
struct harness_process *cli_without_fibers(void);

/* Assert that text contains what; show both if not. */
void cli_contains(const char *text, const char *what);

/* A pid or another number as an argument; valid for the next 8 calls. */
const char *cli_number(uint64_t number);

/* The state letter of /proc/PID/stat; for harness_until(): whether it is T. */
char cli_state(pid_t pid);
bool cli_stopped(void *pid);

/* Skip the running test and print why. */
void cli_skip(const char *why);

/* Connect to the control socket of a process. */
int cli_attach(pid_t pid);

/* Dump a core of a process with gcore into the test's folder; its path in buf of HARNESS_PATH
 * bytes. */
void cli_core(pid_t pid, const char *name, char *buf);

#endif
