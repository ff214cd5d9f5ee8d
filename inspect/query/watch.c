/* SPDX-License-Identifier: MIT */
/* watch.c - looks at the same fibers, one after another. */
#include "inspect/query/watch.h"

#include <errno.h>
#include <stdlib.h>

struct ins_watch {
	struct ins_change *change;
	struct ins_leaders *leaders;
	struct ins_shares *shares;
	const struct ins_query *query; /* of the look under way */
	struct ins_watch_totals totals;
	size_t leader_count, share_count;
};

int ins_watch_new(size_t most, struct ins_watch **ret)
{
	struct ins_watch *w = calloc(1, sizeof *w);
	int rc = w ? ins_change_new(&w->change) : -ENOMEM;

	if (rc == 0)
		rc = ins_leaders_new(most, &w->leaders);
	if (rc == 0)
		rc = ins_shares_new(&w->shares);
	if (rc < 0)
		ins_watch_free(w);
	*ret = rc < 0 ? NULL : w;
	return rc;
}

void ins_watch_free(struct ins_watch *watch)
{
	if (!watch)
		return;
	ins_change_free(watch->change);
	ins_leaders_free(watch->leaders);
	ins_shares_free(watch->shares);
	free(watch);
}

void ins_watch_of_lives(struct ins_watch *watch)
{
	ins_change_of_lives(watch->change);
}

void ins_watch_begin(struct ins_watch *watch, const struct ins_query *query)
{
	watch->query = query;
	watch->totals = (struct ins_watch_totals){0};
	ins_change_begin(watch->change);
	ins_leaders_begin(watch->leaders, &query->sort, query->backwards);
	if (query->group.info)
		ins_shares_begin(watch->shares, &query->group);
}

static unsigned at_most(unsigned n, unsigned size)
{
	return n < size ? n : size - 1;
}

static void count_in(struct ins_watch_totals *t, const struct fib_row *row,
		     const struct ins_did *did)
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
	struct ins_did did;
	int rc = ins_change_add(watch->change, sight->fiber, &did);

	if (rc < 0)
		return rc;
	count_in(&watch->totals, &sight->fiber->row, &did);
	if (watch->query->select && !ins_select_test(watch->query->select, sight))
		return 0;
	watch->totals.matched++;
	ins_leaders_add(watch->leaders, sight, &did);
	return watch->query->group.info ? ins_shares_add(watch->shares, sight, &did) : 0;
}

void ins_watch_end(struct ins_watch *watch)
{
	watch->totals.ns = ins_change_ns(watch->change);
	watch->totals.fresh = ins_change_fresh(watch->change);
	watch->totals.gone = ins_change_gone(watch->change);
	watch->leader_count = ins_leaders_end(watch->leaders);
	watch->share_count = watch->query->group.info ? ins_shares_end(watch->shares) : 0;
}

const struct ins_watch_totals *ins_watch_totals(const struct ins_watch *watch)
{
	return &watch->totals;
}

size_t ins_watch_leaders(const struct ins_watch *watch)
{
	return watch->leader_count;
}

const struct ins_leader *ins_watch_leader(const struct ins_watch *watch, size_t i)
{
	return ins_leaders_at(watch->leaders, i);
}

size_t ins_watch_shares(const struct ins_watch *watch)
{
	return watch->share_count;
}

const struct ins_shares *ins_watch_groups(const struct ins_watch *watch)
{
	return watch->shares;
}

/* Counts of a broken program may be anything. */
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
