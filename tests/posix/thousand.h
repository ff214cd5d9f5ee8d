/* SPDX-License-Identifier: MIT */
/* thousand.h - a thousand fibers with a connection each */
#ifndef TESTS_POSIX_THOUSAND_H
#define TESTS_POSIX_THOUSAND_H

#include <sys/resource.h>

#include "tests/posix/hundred.h"

#define MANY 1000

/* Before a server is started: let this process, and it, have so many descriptors, if they may. */
static inline void thousand_allow(rlim_t descriptors)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= descriptors)
		return;
	limit.rlim_cur = limit.rlim_max < descriptors ? limit.rlim_max : descriptors;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static inline void *thousand_spawn(void *fn)
{
	static struct fiber *f[MANY];

	for (intptr_t i = 0; i < MANY; i++)
		if (fiber_spawn(*(fiber_fn **)fn, (void *)i, &f[i]) < 0)
			abort();
	for (int i = 0; i < MANY; i++)
		fiber_join(f[i], NULL, FIBER_FOREVER);
	return NULL;
}

/* Run a thousand of fn, with numbers from 0, and assert that all that must hold did. */
static inline void thousand_run_well(fiber_fn *fn)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	if (limit.rlim_cur < MANY + 100) {
		printf("# no more than %ld descriptors are allowed\n", (long)limit.rlim_cur);
		skip();
	}
	carriers_run_well(thousand_spawn, &fn);
}

#endif
