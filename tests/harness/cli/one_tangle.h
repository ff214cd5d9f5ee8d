/* SPDX-License-Identifier: MIT */
/* one_tangle.h - one deadlock fixture with waits of every form, for the tests of `waits` */
#ifndef HARNESS_CLI_ONE_TANGLE_H
#define HARNESS_CLI_ONE_TANGLE_H

#include "tests/harness/cli/one_crowd.h"

/*
 * The group's setup; one_crowd_end() is the teardown. The waits: two fibers in a cycle and twelve
 * behind one of them; the main thread's mutex; a fiber that has exited; three that wait for an
 * event or for no fiber; a parent and its child.
 */
static inline int one_tangle(void **state)
{
	(void)state;
	one_crowd_of(
		crowd_of(cli_start(NULL, "ready ", "deadlock", "--crossing", "--behind", "12",
				   "--thread", "--gone", "--ancestor", "--others", "6", NULL)));
	assert_int_equal(crowd.count, 24);
	return 0;
}

#endif
