/* SPDX-License-Identifier: MIT */
/*
 * search.c - find an order of calls that a model allows
 *
 * The search is that of Wing and Gong ("Testing and Verifying Concurrent Objects", JPDC 1993), with
 * Lowe's memory of configurations ("Testing for Linearizability", CCPE 2017). It puts calls into an
 * order, one after another. A call may be next if no call that is left out so far has returned before
 * it began, and if the model allows its result in the present state. When no call may be next, the
 * last one is taken back.
 *
 * A configuration is the set of the calls in the order so far, and the state. What is possible from
 * a configuration depends on nothing else, so one from which the search came back is dead: when the
 * search reaches it again, by another order of the same calls, it turns round at once.
 *
 * A configuration is written down in a few bytes. Calls are sorted by their begin, and the calls in
 * the order are all those before `first` and some of those before `last`. The distance is the number
 * of calls that overlap. Calls that have not returned would stop `first` for ever and are kept apart.
 *
 * Calls that have not returned may be left out. Three rules keep them from multiplying the
 * configurations. None of them loses an order, because from any order a shorter or an equal one
 * follows that obeys the rule:
 *   - the search ends as soon as all calls that returned are in the order;
 *   - one that leaves the state as it is is left out;
 *   - of two that are alike, the one that began first is in the order first.
 *
 * Where there is an order, luck decides how soon it is found. So the search starts again after some
 * configurations, trying the calls in another rank (entries.c), and each round is longer than the
 * one before. Dead configurations stay dead, so little is done twice. Where there is no order, all
 * configurations must be visited, and their number may grow exponentially with the calls that
 * overlap: hence the limits.
 */
#include "history/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "history/configurations.h"
#include "history/entries.h"
#include "history/model.h"

#define ROUND_FIRST 500u /* configurations */

const struct fib_search_limit fib_search_whole = {1u << 20, (size_t)256 << 20, 1u << 30};
const struct fib_search_limit fib_search_try = {1u << 13, (size_t)16 << 20, 1u << 21};

/* The order so far has one frame for each call, and one before the first. */
struct frame {
	uint32_t entry; /* the call that led here */
	uint32_t tried; /* ranks below this are done */
	uint32_t first, last;
	size_t record; /* of the configuration */
};

struct search {
	const struct fiber_test_model *model;
	const struct fib_search_limit *limit;
	struct fib_entries calls;
	struct fib_configurations seen;
	enum fib_rank rank;
	struct frame *frames;
	uint32_t depth; /* frames after the one before the first call */
	uint32_t left;	/* calls that returned and are not in the order */
	uint64_t *in;	/* bits: calls in the order */
	uint64_t *key;	/* room for a configuration */
	void *state;	/* room for a state */
	uint64_t work;
};

/* -- the set of calls in the order -- */

static bool is_in(const struct search *s, uint32_t entry)
{
	return s->in[entry / 64] >> (entry % 64) & 1;
}

static void flip(struct search *s, uint32_t entry)
{
	s->in[entry / 64] ^= UINT64_C(1) << (entry % 64);
}

/*
 * The bits from `from` to `to`, in 64-bit words from that of `from` on; bits outside are 0.
 * Returns the number of words.
 */
static size_t put_bits(const struct search *s, uint32_t from, uint32_t to, uint64_t *ret)
{
	size_t n = 0;
	uint32_t word;

	for (word = from / 64; (uint64_t)word * 64 < to; word++) {
		uint64_t bits = s->in[word];

		if (word == from / 64)
			bits &= ~UINT64_C(0) << (from % 64);
		if ((uint64_t)word * 64 + 64 > to)
			bits &= ~(~UINT64_C(0) << (to % 64));
		ret[n++] = bits;
	}
	return n;
}

/* Write the configuration with s->state. Returns its size. */
static size_t write_key(struct search *s, uint32_t first, uint32_t last)
{
	uint64_t *at = s->key;

	*at++ = (uint64_t)first << 32 | (last > first ? last : first);
	if (last > first)
		at += put_bits(s, first, last, at);
	if (s->calls.n > s->calls.returned)
		at += put_bits(s, s->calls.returned, s->calls.n, at);
	if (s->model->state_size) {
		at[(s->model->state_size - 1) / 8] = 0;
		memcpy(at, s->state, s->model->state_size);
	}
	return (size_t)((unsigned char *)at - (unsigned char *)s->key) +
	       (s->model->state_size + 7) / 8 * 8;
}

/* The state is the end of a configuration. */
static const void *state_of(const struct search *s, const struct frame *f)
{
	const unsigned char *key = fib_configurations_key(&s->seen, f->record);
	const uint64_t *words = (const uint64_t *)(const void *)key;
	const uint32_t first = (uint32_t)(words[0] >> 32), last = (uint32_t)words[0];
	size_t n = 1;

	if (last > first)
		n += (last - 1) / 64 - first / 64 + 1;
	if (s->calls.n > s->calls.returned)
		n += (s->calls.n - 1) / 64 - s->calls.returned / 64 + 1;
	return words + n;
}

/* -- which call may be next -- */

struct best {
	uint32_t entry, rank; /* entry UINT32_MAX: none */
};

static void consider(const struct search *s, uint32_t entry, uint32_t tried, struct best *best)
{
	const uint32_t rank = s->calls.at[entry].rank[s->rank];

	if (!is_in(s, entry) && rank >= tried && rank < best->rank)
		*best = (struct best){entry, rank};
}

/*
 * The untried call with the lowest rank of those that may be next: those that began before the first
 * end of a call that is not in the order.
 */
static struct best next_call(struct search *s, const struct frame *f)
{
	const struct fib_entry *at = s->calls.at;
	struct best best = {UINT32_MAX, UINT32_MAX};
	uint64_t end = UINT64_MAX;
	uint32_t i;

	for (i = f->first; i < s->calls.returned && at[i].call.begin <= end; i++) {
		if (!is_in(s, i) && at[i].call.end < end)
			end = at[i].call.end;
		consider(s, i, f->tried, &best);
	}
	s->work += i - f->first + 1;
	for (i = s->calls.returned; i < s->calls.n && at[i].call.begin <= end; i++)
		if (at[i].twin == UINT32_MAX || is_in(s, at[i].twin))
			consider(s, i, f->tried, &best);
	s->work += i - s->calls.returned;
	return best;
}

/* -- forwards and back -- */

/* Take entry into the order, if the model allows it and the result is not dead. */
static int go(struct search *s, struct frame *f, uint32_t entry)
{
	const struct fiber_test_call *call = &s->calls.at[entry].call;
	struct frame *to = f + 1;

	memcpy(s->state, state_of(s, f), s->model->state_size);
	if (!s->model->step(s->state, call))
		return 0;
	if (!call->end && memcmp(s->state, state_of(s, f), s->model->state_size) == 0)
		return 0;
	flip(s, entry);
	*to = (struct frame){.entry = entry, .first = f->first, .last = f->last};
	if (call->end && entry >= to->last)
		to->last = entry + 1;
	while (to->first < s->calls.returned && is_in(s, to->first))
		to->first++;
	if (fib_configurations_add(&s->seen, s->key, write_key(s, to->first, to->last),
				   &to->record) < 0)
		return -ENOMEM;
	if (fib_configurations_is_dead(&s->seen, to->record)) {
		flip(s, entry);
		return 0;
	}
	s->left -= call->end != 0;
	s->depth++;
	return 0;
}

static void back(struct search *s)
{
	const uint32_t entry = s->frames[s->depth--].entry;

	flip(s, entry);
	s->left += s->calls.at[entry].call.end != 0;
}

/*
 * Search until more than `count` configurations are known. Returns 1: all calls are in the order; 0:
 * there is no order; -EAGAIN: not known yet; -ENOMEM.
 */
static int round_of(struct search *s, size_t count)
{
	struct frame *f;
	struct best next;

	while (s->left) {
		f = &s->frames[s->depth];
		next = next_call(s, f);
		if (s->work > s->limit->work)
			return -ENOMEM;
		if (next.entry != UINT32_MAX) {
			f->tried = next.rank + 1;
			if (go(s, f, next.entry) < 0)
				return -ENOMEM;
			continue;
		}
		fib_configurations_bury(&s->seen, f->record);
		if (!s->depth)
			return 0;
		back(s);
		if (s->seen.count > count)
			return -EAGAIN;
	}
	return 1;
}

/* Start again, with the next rank. Returns when to stop the round. */
static size_t begin_again(struct search *s)
{
	while (s->depth)
		back(s);
	s->frames[0].tried = 0;
	s->rank = (s->rank + 1) % FIB_RANKS;
	return s->rank ? s->seen.count + s->seen.count / 2 : 2 * s->seen.count;
}

static int run(struct search *s)
{
	size_t count = ROUND_FIRST;
	int rc = -EAGAIN;

	fib_model_init(s->model, s->state);
	s->left = s->calls.returned;
	if (fib_configurations_add(&s->seen, s->key, write_key(s, 0, 0), &s->frames[0].record) < 0)
		return -ENOMEM;
	while (rc == -EAGAIN) {
		rc = round_of(s, count);
		if (rc == -EAGAIN)
			count = begin_again(s);
	}
	return rc;
}

/* The order, then the calls that it leaves out. */
static uint32_t write_order(const struct search *s, uint32_t *ret)
{
	uint32_t n = 0, used, i;

	for (i = 1; i <= s->depth; i++)
		ret[n++] = s->calls.at[s->frames[i].entry].index;
	used = n;
	for (i = 0; i < s->calls.n; i++)
		if (!is_in(s, i))
			ret[n++] = s->calls.at[i].index;
	return used;
}

int fib_search(const struct fiber_test_model *model, const struct fiber_test_call calls[],
	       const uint32_t which[], uint32_t n, const struct fib_search_limit *limit,
	       uint32_t *ret_order, uint32_t *ret_used)
{
	/* In words of 8 bytes: a set of calls, a state, and a configuration, which has two sets. */
	const size_t set = (n / 128 + 1) * 2, state = model->state_size / 8 + 1;
	uint64_t *const room = calloc(set + state + 2 * (set + 1) + state + 1, sizeof *room);
	struct frame *const frames = calloc((size_t)n + 1, sizeof *frames);
	struct search s = {.model = model, .limit = limit, .frames = frames};
	int rc = -ENOMEM;

	if (room && frames && fib_entries_make(calls, which, n, &s.calls) == 0) {
		s.in = room;
		s.state = room + set; /* aligned as by malloc() */
		s.key = room + set + state;
		rc = fib_configurations_init(&s.seen, limit->configurations, limit->bytes);
		if (rc == 0)
			rc = run(&s);
		if (rc == 1)
			*ret_used = write_order(&s, ret_order);
		fib_configurations_free(&s.seen);
		fib_entries_free(&s.calls);
	}
	free(room);
	free(frames);
	return rc;
}
