/* SPDX-License-Identifier: MIT */
/*
 * dead.h - programs that the kernel dumps
 *
 * Requires that the system writes plain core files into the program's folder. Otherwise the tests
 * that need a core are skipped with a message.
 */
#ifndef HARNESS_CLI_DEAD_H
#define HARNESS_CLI_DEAD_H

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/cli/crowd.h"

/* How to start a program that is to be dumped: in the test's folder. */
static inline struct harness_how dead_how(void)
{
	return (struct harness_how){.folder = harness_folder(), .core = true};
}

/* End a program that dead_how() started by signal (0: it dies by itself) and rename its core to
 * `name` in the test's folder. False if no plain core was written. */
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

/* Skip the test if the kernel wrote no core. */
static inline void dead_needed(const char *core)
{
	if (!core[0])
		cli_skip("the system writes no plain core files");
}

/* Make the kernel dump a crowd of that program. Returns fibertrace's JSON answer about the core,
 * which the caller frees; NULL and an empty path if there is no core. */
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
