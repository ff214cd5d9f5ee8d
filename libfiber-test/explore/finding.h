/* SPDX-License-Identifier: MIT */
/*
 * finding.h - what a schedule found, in memory that the exploring process and its parent share
 *
 * Choices are written there as they are made, so a process that was killed has left its schedule.
 */
#ifndef FIB_TEST_FINDING_H
#define FIB_TEST_FINDING_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fiber/test.h>

#include "base/atomic.h"
#include "explore/explorer.h"

/* A line of the report, if fib_shared.outside is set. */
#define FIB_USED_OUTSIDE "this schedule used the outside world; its replay may differ\n"

#define FIB_REPORT_ROOM	 (64u << 10)
#define FIB_EXPLORED_ALL (UINT64_C(1) << 62)

struct fib_shared {
	_Atomic uint64_t progress;  /* choices and schedules so far: changes while it is alive */
	_Atomic uint64_t schedules; /* that were run to their end */
	_Atomic uint64_t running;   /* the number of the schedule that runs */
	_Atomic uint64_t drops;	    /* schedules that fiber_test_assume() dropped */
	_Atomic uint32_t dropped;   /* the one that runs was */
	_Atomic uint32_t
		learning; /* the first schedule runs, which has no number: the attempt, from 1 */
	_Atomic uint32_t made;	   /* choices of that schedule */
	_Atomic uint32_t longest;  /* most choices of a schedule so far */
	_Atomic uint32_t outside;  /* it used the outside world, os/world.h */
	_Atomic uint32_t found;	   /* the rest is valid */
	_Atomic uint32_t complete; /* every schedule was run */
	_Atomic uint32_t random;   /* the last choices of some schedule were random */
	_Atomic uint32_t error;	   /* errno of a call that exploring needs; 0: none */
	_Atomic uint64_t explored; /* which part of all schedules was run; FIB_EXPLORED_ALL: all */
	_Atomic uint64_t choices;  /* hash of the schedule that runs */
	_Atomic uint64_t hash;	   /* of all schedules that ended well */
	_Atomic uint64_t reached;  /* bits of options.reach */
	uint32_t verdict;
	int32_t line;
	uint64_t places; /* fib_finding_places() */
	char message[1024], file[256];
	char report[FIB_REPORT_ROOM]; /* of a traced schedule: the report proper */
	_Atomic uint32_t detailed;    /* of a traced schedule: the file of details is complete */
	uint32_t tree;		      /* fib_exhaustive_save() before the schedule that runs */
	bool any_outside;	      /* a schedule before it used the outside world */
	bool unlearnt; /* strategies have learnt nothing: that schedule has a finding */
	unsigned step_room;
	struct fib_step steps[];
};

/* Memory for schedules of at most `steps` choices; NULL: none left. */
struct fib_shared *fib_shared_new(unsigned steps);
void fib_shared_free(struct fib_shared *shared);

/* Where findings of this process go; on_found: called with it, on the fiber that found it. */
void fib_finding_to(struct fib_shared *shared, void (*on_found)(struct fib_shared *shared));

/* End the schedule with a finding. By the fiber that found it, or by the loop. */
_Noreturn void fib_finding(enum fiber_test_verdict verdict, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
_Noreturn void fib_finding_at(enum fiber_test_verdict verdict, const char *file, int line,
			      const char *message);

/* What tells the finding that follows from others with its verdict and message: a sum over the places
 * in the program that it is about. */
void fib_finding_places(uint64_t places);

/*
 * A process ended or stopped with this status of waitpid(). Without a finding of its own, any end but exit(0)
 * is one. Returns whether there is a finding.
 */
bool fib_finding_status(struct fib_shared *shared, int status);

/* Whether a shell has stopped all processes of a command, which it will continue. */
bool fib_finding_stops_for_shell(int status);

/* The same for a process of this process's schedule: with a finding it ends this process too. */
void fib_finding_leave(int status);

/* Whether both have a finding, with the same verdict, message and places. */
bool fib_finding_same(const struct fib_shared *a, const struct fib_shared *b);

/* As an error: the program never called libfiber. */
#define FIB_NEVER_CALLED ENOPKG

/* The test cannot be explored: end this process; fib_explore() returns -error. */
_Noreturn void fib_finding_give_up(int error);

/*
 * Drop the schedule: it has no finding, and is not counted. Its fibers cannot be unwound, so this
 * ends the process. on_drop: called before, where one was set.
 */
_Noreturn void fib_finding_drop(void);
void fib_finding_on_drop(void (*on_drop)(void));

/* Whether the schedule was dropped; the next one is not. */
bool fib_finding_take_drop(void);

/* The schedule is alive. */
void fib_finding_progress(void);

/* These bits of options.reach were reached. */
void fib_finding_reached(uint64_t bits);

#endif
