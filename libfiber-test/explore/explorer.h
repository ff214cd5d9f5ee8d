/* SPDX-License-Identifier: MIT */
/*
 * explorer.h - the one place where every choice of a schedule is made
 *
 * A schedule is the list of its choices. Each choice has a kind and n alternatives, of which the
 * first is what happens without a reason to do otherwise. Where only one alternative exists there
 * is no choice.
 */
#ifndef FIB_TEST_EXPLORER_H
#define FIB_TEST_EXPLORER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fiber;

enum fib_choice_kind {
	FIB_CHOICE_RUN,	   /* which fiber goes on: the running one first, then by number */
	FIB_CHOICE_TIME,   /* 0: time stands still; 1: it moves to the nearest deadline */
	FIB_CHOICE_FAULT,  /* 0: it goes well (explore/faults.c) */
	FIB_CHOICE_CHOOSE, /* fiber_test_choose(), and the order of a select's cases */
};

/* Later choices of a schedule are random. */
#define FIB_FAIR_AFTER 2000u

enum fib_intent_kind { FIB_INTENT_CALL, FIB_INTENT_ACCESS, FIB_INTENT_POINT };

/* What a fiber of the schedule is about to do. */
struct fib_intent {
	const char *call;   /* the public function; NULL: it has not called any */
	const void *object; /* NULL: none */
	const void *at;	    /* the return address in the program */
	enum fib_intent_kind kind;
	size_t size; /* ACCESS */
	bool writes;
	const struct fiber *fiber;
};

struct fib_choice {
	enum fib_choice_kind kind;
	unsigned n;
	unsigned step;		 /* counts from 0 in the schedule */
	const uint32_t *numbers; /* RUN: the fibers */
	bool goes_on;		 /* RUN: the first one runs and could go on */
};

/* A choice as it was made. */
struct fib_step {
	uint8_t kind;
	uint8_t goes_on;
	uint16_t n, chosen;
};

/* Where choices come from: a strategy, or a token. */
typedef unsigned fib_choose_fn(void *context, const struct fib_choice *choice);

struct fib_schedule {
	fib_choose_fn *choose;
	void *context;
	struct fib_step *steps; /* written as choices are made; room for step_limit */
	_Atomic uint32_t *made; /* their number */
	unsigned step_limit;
	int64_t slack; /* ns */
	_Atomic uint32_t
		*outside;	/* when it used the outside world, os/world.h; NULL: not wanted */
	_Atomic uint64_t *hash; /* of its choices, hash.h; NULL: not wanted */
	bool traced;
	bool replays; /* choices come from a token: none of them is replaced */
};

/* Start a schedule: the next fiber that is made has number 1. End it; all its fibers have exited. */
void fib_explorer_begin(const struct fib_schedule *schedule);
void fib_explorer_end(void);
bool fib_explorer_on(void);
bool fib_explorer_traced(void);

/* The number of a fiber of the schedule; the intent of a number; how many fibers were
 * made; the id of fiber 1. */
uint32_t fib_explorer_number(const struct fiber *fiber);
const struct fib_intent *fib_explorer_intent(uint32_t number);
uint32_t fib_explorer_fibers(void);
uint64_t fib_explorer_first_id(void);

/*
 * How many steps a fiber has made in the schedule, and the number of the fiber that spawned it, 0:
 * none of the schedule. A step is what a fiber runs from one choice to the next.
 */
unsigned fib_explorer_steps(uint32_t number);
uint32_t fib_explorer_parent(uint32_t number);

/*
 * Where the fiber is in its code: a hash of the names of its last calls. It is the same in each build:
 * the return address of a call is not, because a function may be compiled in several places.
 */
uint64_t fib_explorer_place(uint32_t number);

/*
 * As fib_explore_before(), before memory is touched, or at a point of the program.
 */
void fib_explore_access(const char *call, const void *object, size_t size, bool writes,
			const void *at);
void fib_explore_point(const char *what, const void *at);

/* Whether the clock may move to a deadline while fibers can run. */
bool fib_explorer_time_may_pass(void);

/* Set the function that is called when a fiber starts a step; NULL: none. */
void fib_explorer_watch_steps(void (*fn)(uint32_t number));

/* Set the function that is called at each step; NULL: none. */
void fib_explorer_count(void (*fn)(uint32_t number, uint32_t parent));

/* Choose which of the runnable fibers (sched/ready.h), of which there are some, is next: its place. */
unsigned fib_explore_next(void);

/* Choose one of n, in a fiber of a schedule. */
unsigned fib_explore_one_of(enum fib_choice_kind kind, unsigned n);

/* Choose one of n; 0 outside a schedule. */
unsigned fib_explore_pick(unsigned n, const char *what);

/*
 * From this choice on choices are random: no strategy starves a fiber. Set the seed, not 0, with which
 * the schedules after this call make them.
 */
unsigned fib_explorer_fair_after(unsigned step_limit);
void fib_explorer_fair_seed(uint64_t seed);

/* Set the function that is called for each executed call when the schedule is traced. */
void fib_explorer_trace(void (*fn)(uint32_t number, const struct fib_intent *intent));

/* The same for choices of other kinds than RUN and TIME; what: the text of the choice. */
void fib_explorer_trace_choices(void (*fn)(enum fib_choice_kind kind, uint32_t number,
					   const char *what, unsigned chosen));

#endif
