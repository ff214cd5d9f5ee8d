/* SPDX-License-Identifier: MIT */
/*
 * crowd.h - the fixture crowd as a target: running, and as a core written by the kernel
 *
 * In a sanitizer build it is the crowd built without a sanitizer: the reader is what is checked,
 * and a core of a sanitized program would have terabytes.
 */
#ifndef TEST_INSPECT_CROWD_H
#define TEST_INSPECT_CROWD_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/harness/paths.h"
#include "tests/harness/process.h"

static inline const char *crowd_path(char *buf)
{
	snprintf(buf, HARNESS_PATH, "%s/%sbin/crowd", harness_build(),
		 *harness_sanitizer() ? "plain/" : "");
	return buf;
}

/* Start a crowd of `count` fibers and wait until it is settled; path NULL: the usual one. NULL if
 * it did not start. */
static inline struct harness_process *crowd_begin(const char *path, const char *count)
{
	const struct harness_how how = {.folder = harness_folder(), .core = true};
	char usual[HARNESS_PATH];
	const char *const argv[] = {path ? path : crowd_path(usual), count, NULL};
	struct harness_process *p = harness_start(argv, &how);

	if (!harness_wait_line(p, "ready ", 30)) {
		print_error("%s never was ready:\n%s%s", argv[0], p->out.bytes, p->err.bytes);
		harness_free(p);
		return NULL;
	}
	return p;
}

/* Make the kernel dump its core, which ends it; the file becomes `name` in the test's folder. False
 * if the system writes no plain core files. */
static inline bool crowd_core(struct harness_process *p, const char *name, char *path)
{
	char made[HARNESS_PATH], with_pid[64];

	kill(p->pid, SIGABRT); /* not SIGQUIT, which a shell's background programs may ignore */
	if (!harness_wait_end(p, 30))
		return false;
	snprintf(with_pid, sizeof with_pid, "core.%d", (int)p->pid);
	harness_file(path, name);
	return rename(harness_file(made, "core"), path) == 0 ||
	       rename(harness_file(made, with_pid), path) == 0;
}

#endif
