/* SPDX-License-Identifier: MIT */
/*
 * dead.h - programs that the kernel dumps
 *
 * Where the system does not write plain core files into the program's folder there are none: the tests that need
 * one are skipped, aloud.
 */
#ifndef HARNESS_CLI_DEAD_H
#define HARNESS_CLI_DEAD_H

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/cli/crowd.h"

/* For programs that are to be dumped: into the test's folder. */
static inline struct harness_how dead_how(void)
{
	return (struct harness_how){.folder = harness_folder(), .core = true};
}

/* Let the kernel dump a program that dead_how() started, by signal (0: it dies of itself); the core becomes `name` in the
 * test's folder. False where no plain core was written. */
static inline bool dead_core(struct harness_process *p, int signal, const char *name, char *path)
{
	char made[HARNESS_PATH], with_pid[64];

	if (signal)
		kill(p->pid, signal);
	assert_true(harness_wait_end(p, CLI_SECONDS));
	snprintf(with_pid, sizeof(with_pid), "core.%d", (int)p->pid);
	harness_file(path, name);
	return rename(harness_file(made, "core"), path) == 0 ||
	       rename(harness_file(made, with_pid), path) == 0;
}

/* Skip the test where the kernel wrote none. */
static inline void dead_needed(const char *core)
{
	if (!core[0])
		cli_skip("the system writes no plain core files");
}

/* Have a crowd of that program dumped. What fibertrace says of its core as JSON, the caller's to free; NULL, and an empty path,
 * where there is none. */
static inline char *dead_crowd(const char *program, const char *name, char *core)
{
	const struct harness_how how = dead_how();
	struct crowd crowd = crowd_start(&how, program, "66", NULL);
	struct harness_process *p;
	char *said;

	if (!dead_core(crowd.process, SIGABRT, name, core))
		core[0] = 0;
	crowd_end(&crowd);
	if (!core[0])
		return NULL;
	p = cli_run("fibertrace", core, "--json", "--each", NULL);
	cli_expect(p, 0);
	said = strdup(p->out.bytes);
	harness_free(p);
	return said;
}

#endif
