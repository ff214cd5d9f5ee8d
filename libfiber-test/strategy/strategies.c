/* SPDX-License-Identifier: MIT */
/* strategies.c - a list of strategies that take turns */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "strategy/strategy.h"

/* The portfolio in turn, but each fifth is each-fault. */
#define WITH_FAULTS                                                         \
	"random,pct:3,pos,urw,each-fault,surw,random,pct:3,pos,each-fault," \
	"urw,surw,random,pct:3,each-fault,pos,urw,surw,random,each-fault,"  \
	"pct:3,pos,urw,surw,each-fault"

static const struct fib_strategy *const table[] = {
	&fib_strategy_random, &fib_strategy_pct,	&fib_strategy_pos,
	&fib_strategy_urw,    &fib_strategy_surw,	&fib_strategy_each_fault,
	&fib_strategy_bound,  &fib_strategy_exhaustive,
};

static const struct fib_strategy *current;

const char *fib_strategies_portfolio(bool faults)
{
	return faults ? WITH_FAULTS : FIB_PORTFOLIO;
}

static int parse_depth(const char *text, size_t n, unsigned *ret)
{
	char digits[4], *end;
	unsigned long depth;

	if (!n || n >= sizeof digits)
		return -EINVAL;
	memcpy(digits, text, n);
	digits[n] = 0;
	depth = strtoul(digits, &end, 10);
	if (*end || digits[0] < '0' || digits[0] > '9' || depth < 1 || depth > FIB_DEPTH_MAX)
		return -EINVAL;
	*ret = (unsigned)depth;
	return 0;
}

static int parse_one(const char *text, size_t n, struct fib_strategies *ret, const char **ret_why)
{
	const char *colon = memchr(text, ':', n);
	const size_t name = colon ? (size_t)(colon - text) : n;
	const struct fib_strategy *found = NULL;
	unsigned depth = 3, i;

	for (i = 0; i < fib_countof(table); i++)
		if (strlen(table[i]->name) == name && memcmp(table[i]->name, text, name) == 0)
			found = table[i];
	*ret_why = "no such strategy: random, pct, pct:DEPTH, pos, urw, surw, bound, exhaustive, "
		   "each-fault, "
		   "portfolio";
	if (!found || (colon && found != &fib_strategy_pct))
		return -EINVAL;
	*ret_why = "the depth of pct is 1 to 20";
	if (colon && parse_depth(colon + 1, n - name - 1, &depth) < 0)
		return -EINVAL;
	*ret_why = "too many strategies";
	if (ret->n == FIB_LIST_MAX)
		return -EINVAL;
	ret->at[ret->n].strategy = found;
	ret->at[ret->n++].depth = depth;
	return 0;
}

int fib_strategies_parse(const char *list, struct fib_strategies *ret, const char **ret_why)
{
	const char *at, *end;
	unsigned i;

	ret->n = 0;
	if (!list || strcmp(list, "portfolio") == 0)
		list = FIB_PORTFOLIO;
	for (at = list;; at = end + 1) {
		end = strchrnul(at, ',');
		if (parse_one(at, (size_t)(end - at), ret, ret_why) < 0)
			return -EINVAL;
		if (!*end)
			break;
	}
	*ret_why = "bound and exhaustive go alone";
	for (i = 0; i < ret->n; i++)
		if (ret->at[i].strategy->goes_alone && ret->n > 1)
			return -EINVAL;
	return 0;
}

void fib_strategies_name(const struct fib_strategies *s, uint64_t number, char *buf, unsigned size)
{
	const unsigned i = (unsigned)((number - 1) % s->n);

	if (s->at[i].strategy == &fib_strategy_pct)
		snprintf(buf, size, "pct:%u", s->at[i].depth);
	else
		snprintf(buf, size, "%s", s->at[i].strategy->name);
}

/* The number of schedule `number` among those of its strategy, from 1. */
static uint64_t own_number(const struct fib_strategies *s, uint64_t number)
{
	const unsigned at = (unsigned)((number - 1) % s->n);
	unsigned in_list = 0, before = 0, i;

	for (i = 0; i < s->n; i++) {
		if (s->at[i].strategy != s->at[at].strategy || s->at[i].depth != s->at[at].depth)
			continue;
		in_list++;
		before += i < at;
	}
	return (number - 1) / s->n * in_list + before + 1;
}

void fib_strategies_begin(const struct fib_strategies *s, uint64_t seed, uint64_t number)
{
	const unsigned i = (unsigned)((number - 1) % s->n);

	current = s->at[i].strategy;
	fib_explorer_fair_seed(fib_strategy_seed(seed, number, 20));
	fib_strategy_other_begin();
	/* What each-fault takes for its depth is whether it goes alone. */
	current->begin(current == &fib_strategy_each_fault ? s->n == 1 : s->at[i].depth, seed,
		       own_number(s, number));
}

unsigned fib_strategies_choose(void *context, const struct fib_choice *choice)
{
	(void)context;
	return current->choose(choice);
}

bool fib_strategies_end(const struct fib_strategies *s, const struct fib_step *steps, unsigned n)
{
	return s->n > 1 || !current->end || current->end(steps, n);
}

double fib_strategies_done(const struct fib_strategies *s)
{
	return s->at[0].strategy == &fib_strategy_exhaustive ? fib_exhaustive_done() : 0;
}

bool fib_strategies_visit_all(const struct fib_strategies *s)
{
	return s->at[0].strategy->goes_alone;
}
