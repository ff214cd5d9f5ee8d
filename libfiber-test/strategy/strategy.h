/* SPDX-License-Identifier: MIT */
/*
 * strategy.h - which alternatives a schedule takes
 *
 * What schedule number N takes depends on the strategy, the seed and N alone. A strategy may learn
 * from one schedule that is run first, with choices that depend on the seed alone.
 */
#ifndef FIB_TEST_STRATEGY_H
#define FIB_TEST_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "explore/explorer.h"

#define FIB_DEPTH_MAX 20u
#define FIB_LIST_MAX  32u
#define FIB_PORTFOLIO "random,pct:3,pos,urw,surw"

struct fib_strategy {
	const char *name;
	/* Prepare a schedule. number counts from 1 among those of this strategy. */
	void (*begin)(unsigned depth, uint64_t seed, uint64_t number);
	unsigned (*choose)(const struct fib_choice *choice);
	/*
	 * A schedule that ended well, with its choices. Returns false when there is no other one.
	 * NULL: there always is.
	 */
	bool (*end)(const struct fib_step *steps, unsigned n);
	bool goes_alone; /* not in a list */
};

extern const struct fib_strategy fib_strategy_random, fib_strategy_pct, fib_strategy_pos,
	fib_strategy_urw, fib_strategy_surw, fib_strategy_each_fault, fib_strategy_bound,
	fib_strategy_exhaustive;

/* One or more strategies that take turns. */
struct fib_strategies {
	struct {
		const struct fib_strategy *strategy;
		unsigned depth;
	} at[FIB_LIST_MAX];
	unsigned n;
};

/* The list that "portfolio" means; faults: the test has some. */
const char *fib_strategies_portfolio(bool faults);

/* Parse "random,pct:3". Returns 0, or -EINVAL and *ret_why, a text without the list itself. */
int fib_strategies_parse(const char *list, struct fib_strategies *ret, const char **ret_why);

/* The name of the strategy of schedule `number`, as in the list: "pct:3". */
void fib_strategies_name(const struct fib_strategies *s, uint64_t number, char *buf, unsigned size);

/* Prepare schedule `number`; choose; end it. */
void fib_strategies_begin(const struct fib_strategies *s, uint64_t seed, uint64_t number);
unsigned fib_strategies_choose(void *context, const struct fib_choice *choice);
bool fib_strategies_end(const struct fib_strategies *s, const struct fib_step *steps, unsigned n);
/* Whether the end means that every schedule was run. */
bool fib_strategies_visit_all(const struct fib_strategies *s);

/*
 * Which part of all schedules was run, from 0 to 1, if the subtrees below the alternatives of a choice
 * are equally large. 0: not known.
 */
double fib_strategies_done(const struct fib_strategies *s);
double fib_exhaustive_done(void);

/* Choose of a time, of faults, or by the program: what is alike in all strategies, other.c. */
unsigned fib_strategy_other(const struct fib_choice *choice, uint64_t *state);
void fib_strategy_other_begin(void);

/* -- what was learnt from the first schedule, learnt.c -- */

/* Forget; a fiber has made a step; the schedule has ended. parent: the number of its spawner, or 0. */
void fib_learnt_begin(void);
void fib_learnt_step(uint32_t number, uint32_t parent);
void fib_learnt_end(void);

/* The steps of all fibers, at least 1; the highest number. */
unsigned fib_learnt_total(void);
uint32_t fib_learnt_fibers(void);

/* Of one fiber: its own steps; with those of its children and of theirs; its spawner, or 0. */
unsigned fib_learnt_steps(uint32_t number);
unsigned fib_learnt_subtree(uint32_t number);
uint32_t fib_learnt_parent(uint32_t number);

/* Its choices; in how many ways a call could have failed. */
void fib_learnt_choices(const struct fib_step *steps, unsigned n);
unsigned fib_learnt_faults(void);

/* At most so many switches away from a fiber that could go on; 0: any number. */
void fib_exhaustive_limit(unsigned preemptions);

/* Where `bound` is besides its choices; restore it before fib_strategies_end() in another process. */
uint32_t fib_exhaustive_save(void);
void fib_exhaustive_restore(uint32_t saved);

/* Mix the bits of a number, so that consecutive ones have nothing in common. */
uint64_t fib_mix(uint64_t z);

/* A generator whose sequence depends on all three. */
uint64_t fib_strategy_seed(uint64_t seed, uint64_t number, uint64_t salt);

#endif
