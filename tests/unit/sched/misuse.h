/* SPDX-License-Identifier: MIT */
/*
 * misuse.h - programs that die of a misuse
 *
 * The test program runs itself again with the name of a case as its argument. That process must
 * abort after printing the reason in exactly one line.
 */
#ifndef UNIT_SCHED_MISUSE_H
#define UNIT_SCHED_MISUSE_H

#include <fnmatch.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/harness/process.h"

struct misuse {
	const char *name;
	void (*commit)(void);
};

/*
 * Call this in main() with its argument: it commits the misuse of that name. Returns only if the
 * misuse is not detected.
 */
static inline int misuse_main(const struct misuse *list, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(list[i].name, name))
			list[i].commit();
	return 77;
}

/* pattern: an fnmatch(3) pattern for the whole output without its final newline. */
static inline void assert_misuse(const char *name, const char *pattern)
{
	const char *argv[] = {"/proc/self/exe", name, NULL};
	struct harness_process *p = harness_run(argv, NULL, 60);
	bool aborted = p->ended && WIFSIGNALED(p->status) && WTERMSIG(p->status) == SIGABRT;
	bool one_line, matches;
	char *end;

	harness_forget_long_runs(p);
	end = strchr(p->err.bytes, '\n');
	one_line = end && !end[1];
	if (end)
		*end = 0;
	matches = !fnmatch(pattern, p->err.bytes, 0);
	if (!aborted || !one_line || !matches)
		print_message("# %s: status 0x%x, said: %s\n", name, (unsigned)p->status,
			      p->err.bytes);
	harness_free(p);
	assert_true(aborted);
	assert_true(one_line);
	assert_true(matches);
}

#endif
