/* SPDX-License-Identifier: MIT */
/*
 * watch.h - repeated looks at the same fibers: totals, the busiest, and groups
 *
 * A look is a begin, every fiber, and an end. Totals count all fibers; the leaders and the groups
 * only those that match a condition.
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
	uint64_t state[INS_WATCH_STATES]; /* by enum fiber_state; the last entry: other states */
	uint64_t
		wait[INS_WATCH_WAITS]; /* of waiting fibers, by kind; the last entry: other kinds */
	/* Since the previous look, or since spawn (ins_watch_since_spawn()). */
	int64_t ns; /* length of that time, at most; 0: no previous look, the rest is invalid */
	uint64_t cpu, switches; /* cpu: ns */
	uint64_t fresh, gone;	/* fibers */
};

struct ins_watch;

/* most: number of leaders to keep. -ENOMEM. */
int ins_watch_new(size_t most, struct ins_watch **ret);
void ins_watch_free(struct ins_watch *watch); /* NULL: nothing */

/*
 * All looks are at the same snapshot: counts are since spawn (delta.h). Call it before the first
 * look.
 */
void ins_watch_since_spawn(struct ins_watch *watch);

/*
 * query: which fibers match, the order of the leaders (a sort is required), the groups. It must
 * stay valid until the end of the look; the next look may use another query.
 */
void ins_watch_begin(struct ins_watch *watch, const struct ins_query *query);
int ins_watch_add(struct ins_watch *watch, struct ins_sight *sight); /* -ENOMEM */
void ins_watch_end(struct ins_watch *watch);

/* Of the last finished look; valid until the next begin. */
const struct ins_watch_totals *ins_watch_totals(const struct ins_watch *watch);
size_t ins_watch_top_n(const struct ins_watch *watch);
const struct ins_top_n_row *ins_watch_top_n_row(const struct ins_watch *watch, size_t i);
size_t ins_watch_group_totals(const struct ins_watch *watch);
const struct ins_group_totals *ins_watch_groups(const struct ins_watch *watch);

/*
 * n ns as thousandths of the time ns (1000: one CPU all the time); n as a rate per second. 0 if ns
 * is 0.
 */
uint64_t ins_watch_permille(uint64_t n, int64_t ns);
uint64_t ins_watch_rate(uint64_t n, int64_t ns);

#endif
