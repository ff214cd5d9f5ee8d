/* SPDX-License-Identifier: MIT */
/* replay.h - run the schedule of FIBER_TEST_REPLAY in this very process */
#ifndef FIB_TEST_REPLAY_H
#define FIB_TEST_REPLAY_H

#include "explore/run.h"

/*
 * Run the schedule of the token, if it is of this test. A finding prints the report and ends the
 * process with 1, or as FIBER_TEST_AT_FAILURE says.
 */
void fib_replay(const struct fib_test *test);

/* Whether the token was of a test that was explored so far. */
bool fib_replayed(void);

#endif
