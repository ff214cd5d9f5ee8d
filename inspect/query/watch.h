/* SPDX-License-Identifier: MIT */
/*
 * watch.h - looks at the same fibers, one after another: what all of them do, the busiest, and groups
 *
 * A look is a begin, every fiber there is, and an end. Totals count all of them; the leaders and the shares only those
 * that a condition lets through.
 */
#ifndef INS_WATCH_H
#define INS_WATCH_H

#include "inspect/query/top_n.h"
#include "inspect/query/query.h"
#include "inspect/query/group_totals.h"

#define INS_WATCH_STATES 8
#define INS_WATCH_WAITS	 64

struct ins_watch_totals {
	uint64_t fibers, matched;
	uint64_t state[INS_WATCH_STATES]; /* by enum fiber_state; the last one: any other */
	uint64_t wait[INS_WATCH_WAITS];	  /* of those that wait, by kind; the last one: any other */
	/* Since the look before; of lives, since they began. */
	int64_t ns; /* how long that is, at most; 0: there was none, and the rest means nothing */
	uint64_t cpu, switches; /* cpu: ns */
	uint64_t fresh, gone;	/* fibers */
};

struct ins_watch;

/* most: leaders to keep. -ENOMEM. */
int ins_watch_new(size_t most, struct ins_watch **ret);
void ins_watch_free(struct ins_watch *watch); /* NULL: nothing */

/* Looks are all at the same snapshot: what a fiber did is since it was spawned (delta.h). Before the first look. */
void ins_watch_since_spawn(struct ins_watch *watch);

/* query: which fibers match, the order of the leaders, the groups; of these a sort is needed. It must stay until the end, and the
 * next look may have another one. */
void ins_watch_begin(struct ins_watch *watch, const struct ins_query *query);
int ins_watch_add(struct ins_watch *watch, struct ins_sight *sight); /* -ENOMEM */
void ins_watch_end(struct ins_watch *watch);

/* Of the last look that has ended; until the next one begins. */
const struct ins_watch_totals *ins_watch_totals(const struct ins_watch *watch);
size_t ins_watch_top_n(const struct ins_watch *watch);
const struct ins_top_n_row *ins_watch_top_n_row(const struct ins_watch *watch, size_t i);
size_t ins_watch_group_totals(const struct ins_watch *watch);
const struct ins_group_totals *ins_watch_groups(const struct ins_watch *watch);

/* n in ns as thousandths of that time (1000: one CPU all of the time); n as so many a second. 0 for no time. */
uint64_t ins_watch_permille(uint64_t n, int64_t ns);
uint64_t ins_watch_rate(uint64_t n, int64_t ns);

#endif
