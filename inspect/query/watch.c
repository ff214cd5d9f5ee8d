/* SPDX-License-Identifier: MIT */
/* watch.c - repeated looks at the same fibers */
#include "inspect/query/watch.h"

#include <errno.h>
#include <stdlib.h>

struct ins_watch {
	struct ins_delta *delta;
	struct ins_top_n *top_n;
	struct ins_group_totals *group_totals;
	const struct ins_query *query; /* of the current look */
	struct ins_watch_totals totals;
	size_t top_n_count, group_totals_count;
};

int ins_watch_new(size_t most, struct ins_watch **ret)
{
	struct ins_watch *w = calloc(1, sizeof *w);
	int rc = w ? ins_delta_new(&w->delta) : -ENOMEM;

	if (rc == 0)
		rc = ins_top_n_new(most, &w->top_n);
	if (rc == 0)
		rc = ins_group_totals_new(&w->group_totals);
	if (rc < 0)
		ins_watch_free(w);
	*ret = rc < 0 ? NULL : w;
	return rc;
}

void ins_watch_free(struct ins_watch *watch)
{
	if (!watch)
		return;
	ins_delta_free(watch->delta);
	ins_top_n_free(watch->top_n);
	ins_group_totals_free(watch->group_totals);
	free(watch);
}

void ins_watch_since_spawn(struct ins_watch *watch)
{
	ins_delta_since_spawn(watch->delta);
}

void ins_watch_begin(struct ins_watch *watch, const struct ins_query *query)
{
	watch->query = query;
	watch->totals = (struct ins_watch_totals){0};
	ins_delta_begin(watch->delta);
	ins_top_n_begin(watch->top_n, &query->sort, query->backwards);
	if (query->group.info)
		ins_group_totals_begin(watch->group_totals, &query->group);
}

static unsigned at_most(unsigned n, unsigned size)
{
	return n < size ? n : size - 1;
}

static void count_in(struct ins_watch_totals *t, const struct fib_row *row,
		     const struct ins_fiber_delta *did)
{
	t->fibers++;
	t->state[at_most(row->state, INS_WATCH_STATES)]++;
	if (row->wait_kind != FIB_WAIT_NONE)
		t->wait[at_most(row->wait_kind, INS_WATCH_WAITS)]++;
	t->cpu += did->cpu;
	t->switches += did->switches;
}

int ins_watch_add(struct ins_watch *watch, struct ins_sight *sight)
{
	struct ins_fiber_delta did;
	int rc = ins_delta_add(watch->delta, sight->fiber, &did);

	if (rc < 0)
		return rc;
	count_in(&watch->totals, &sight->fiber->row, &did);
	if (watch->query->select && !ins_select_test(watch->query->select, sight))
		return 0;
	watch->totals.matched++;
	ins_top_n_add(watch->top_n, sight, &did);
	return watch->query->group.info ? ins_group_totals_add(watch->group_totals, sight, &did)
					: 0;
}

void ins_watch_end(struct ins_watch *watch)
{
	watch->totals.ns = ins_delta_ns(watch->delta);
	watch->totals.fresh = ins_delta_fresh(watch->delta);
	watch->totals.gone = ins_delta_gone(watch->delta);
	watch->top_n_count = ins_top_n_end(watch->top_n);
	watch->group_totals_count =
		watch->query->group.info ? ins_group_totals_end(watch->group_totals) : 0;
}

const struct ins_watch_totals *ins_watch_totals(const struct ins_watch *watch)
{
	return &watch->totals;
}

size_t ins_watch_top_n(const struct ins_watch *watch)
{
	return watch->top_n_count;
}

const struct ins_top_n_row *ins_watch_top_n_row(const struct ins_watch *watch, size_t i)
{
	return ins_top_n_at(watch->top_n, i);
}

size_t ins_watch_group_totals(const struct ins_watch *watch)
{
	return watch->group_totals_count;
}

const struct ins_group_totals *ins_watch_groups(const struct ins_watch *watch)
{
	return watch->group_totals;
}

/* Counts of a broken program may have any value. */
static uint64_t scaled(uint64_t n, double by, int64_t ns)
{
	double d = ns > 0 ? (double)n * by / (double)ns : 0;

	return d < 1e18 ? (uint64_t)(d + 0.5) : UINT64_C(1000000000000000000);
}

uint64_t ins_watch_permille(uint64_t n, int64_t ns)
{
	return scaled(n, 1e3, ns);
}

uint64_t ins_watch_rate(uint64_t n, int64_t ns)
{
	return scaled(n, 1e9, ns);
}
