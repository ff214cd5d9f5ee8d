/* SPDX-License-Identifier: MIT */
/* outcome.h - everything that an exploration has to report */
#ifndef FIB_TEST_OUTCOME_H
#define FIB_TEST_OUTCOME_H

#include <stdint.h>

#include <fiber/test.h>

#include "token/token.h"

struct fib_found {
	struct fiber_test_result result;
	uint64_t times;	   /* schedules that ended with it, if the exploration goes on after it */
	unsigned before;   /* deviations before minimisation */
	char strategy[32]; /* that found it */
	char *report;	   /* the whole report, lines */
	char *details;	   /* members of a JSON object (report.h); NULL: the schedule left none */
};

struct fib_outcome {
	const char *name;		 /* of the test */
	struct fiber_test_result result; /* of the first finding, or of the exploration */
	struct fib_found *found; /* distinct findings by number; the first one only unless */
	unsigned count;		 /* the exploration goes on after a finding */
	const char *strategy;
	uint64_t seed, limit;	      /* limit: of schedules; UINT64_MAX: none */
	uint64_t dropped;	      /* schedules that fiber_test_assume() dropped */
	int64_t duration;	      /* ns of real time */
	const char *const *reach;     /* NULL: none */
	uint64_t reached;	      /* bits of reach */
	int error;		      /* negative errno: it could not be run to its end */
	int signal;		      /* that ended it; 0: none */
	char running[FIB_TOKEN_ROOM]; /* signal: the token of the schedule that ran, or "" */
};

void fib_outcome_free(struct fib_outcome *outcome);

#endif
