/* SPDX-License-Identifier: MIT */
/*
 * account_waits.c - add up what was waited for, and where
 *
 * A named object is a row. There may be as many unnamed objects as fibers, such as a descriptor for
 * each connection: these share one row for each kind of wait and place. Only a stack sample gives
 * the place of a wait, so waits without a sample have a row of their own.
 */
#include "inspect/recording/account_waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layout/layout.h"

#define NOWHERE UINT64_MAX

/* Whether other fibers may wait for the same object. */
static bool shares_object(unsigned kind)
{
	return kind != FIB_WAIT_SLEEP && kind != FIB_WAIT_TIMER && kind != FIB_WAIT_PARK &&
	       kind != FIB_WAIT_OFFLOAD && kind != FIB_WAIT_OP && kind != FIB_WAIT_PREDICATE &&
	       kind != FIB_WAIT_SELECT;
}

static bool is_named(const struct ins_recording *r, const struct ins_slice *s)
{
	return shares_object(s->kind) && s->kind != FIB_WAIT_FD && s->kind != FIB_WAIT_JOIN &&
	       ins_recording_object(r, s->object);
}

/* Make room for one more. */
static int make_room(void **array, size_t *room, size_t count, size_t each)
{
	const size_t more = *room ? *room * 2 : 64;
	void *grown;

	if (count < *room)
		return 0;
	grown = realloc(*array, more * each);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*room = more;
	return 0;
}

/* -- by place -- */

/* Find or add the row of that stack. */
static int stack_row(struct ins_account_waits *w, const char *stack, size_t *ret)
{
	struct ins_account *a = w->account;
	int rc = make_room((void **)&a->stack_waits, &w->stacks_room, a->stack_waits_count,
			   sizeof *a->stack_waits);

	if (rc == 0)
		rc = ins_pairs_add(&w->stacks, (uintptr_t)stack, 0, ret);
	if (rc <= 0)
		return rc;
	a->stack_waits[a->stack_waits_count++] = (struct ins_stack_waits){.stack = stack};
	return 0;
}

static int add_stack_waits(struct ins_account_waits *w, const struct ins_slice *s, int64_t ns,
			   size_t row)
{
	struct ins_stack_waits *stack_waits = &w->account->stack_waits[row];
	const int rc = ins_pairs_add(&w->fibers, row, s->fiber, NULL);

	if (rc < 0)
		return rc;
	stack_waits->fibers += (uint64_t)rc;
	stack_waits->waits++;
	stack_waits->at_end += (s->flags & INS_SLICE_GOES_ON) != 0;
	stack_waits->cut += (s->flags & INS_SLICE_CUT) != 0;
	ins_add_ns(&stack_waits->ns, ns);
	if (ns > stack_waits->most)
		stack_waits->most = ns;
	w->account->sampled_waits++;
	ins_add_ns(&w->account->sampled, ns);
	return 0;
}

/* -- by object -- */

/* Find or add the row of a wait. place: the row of its stack, or NOWHERE. */
static int wait_row(struct ins_account_waits *w, const struct ins_slice *s, uint64_t place,
		    size_t *ret)
{
	struct ins_account *a = w->account;
	const bool pinned = s->doing == INS_DOING_PINNED, named = is_named(w->recording, s);
	const unsigned ways = s->kind == FIB_WAIT_FD ? s->ways : 0;
	const size_t room = w->rows_room;
	int rc;

	rc = make_room((void **)&a->waited, &w->rows_room, a->waiteds, sizeof *a->waited);
	if (rc == 0 && w->rows_room != room) {
		struct ins_distribution *lengths =
			realloc(w->lengths, w->rows_room * sizeof *w->lengths);

		if (lengths) {
			w->lengths = lengths;
		} else {
			w->rows_room = room;
			rc = -ENOMEM;
		}
	}
	if (rc == 0)
		rc = ins_pairs_add(&w->rows, s->kind | ways << 8 | pinned << 16 | named << 17,
				   named ? s->object : place, ret);
	if (rc <= 0)
		return rc;
	w->lengths[a->waiteds] = (struct ins_distribution){0};
	a->waited[a->waiteds++] = (struct ins_waited){
		.object = shares_object(s->kind) && s->kind != FIB_WAIT_FD ? s->object : 0,
		.arg = s->kind == FIB_WAIT_FD ? s->arg : 0,
		.kind = s->kind,
		.ways = (uint8_t)ways,
		.pinned = pinned,
		.named = named,
		.stack = named || place == NOWHERE ? NULL : a->stack_waits[place].stack,
	};
	return 0;
}

/* Returns 1 if the object was not counted in that row yet. */
static int is_another(struct ins_account_waits *w, const struct ins_slice *s, size_t row)
{
	if (!shares_object(s->kind))
		return 0;
	return ins_pairs_add(&w->objects, row, s->kind == FIB_WAIT_FD ? s->arg : s->object, NULL);
}

int ins_account_waits_add(struct ins_account_waits *w, const struct ins_slice *s)
{
	const char *stack = ins_sample_match_stack(w->seen, s);
	const int64_t ns = ins_slice_length(s);
	struct ins_waited *row;
	size_t place = 0, at = 0;
	int rc = 0, another;

	if (stack)
		rc = stack_row(w, stack, &place);
	if (rc == 0 && stack)
		rc = add_stack_waits(w, s, ns, place);
	if (rc == 0)
		rc = wait_row(w, s, stack ? place : NOWHERE, &at);
	another = rc == 0 ? is_another(w, s, at) : rc;
	if (another < 0)
		return another;
	row = &w->account->waited[at];
	row->objects += (uint64_t)another;
	row->waits++;
	row->fibers += (s->flags & INS_SLICE_GOES_ON) != 0;
	row->cut += (s->flags & INS_SLICE_CUT) != 0;
	ins_add_ns(&row->ns, ns);
	if (stack)
		ins_add_ns(&row->sampled, ns);
	if (ns > row->most)
		row->most = ns;
	return ins_distribution_add(&w->lengths[at], ns);
}

/* -- the end -- */

static int by_ns(const void *a, const void *b)
{
	const struct ins_waited *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->object < y->object ? -1 : x->object > y->object;
}

static int by_stack_waits(const void *a, const void *b)
{
	const struct ins_stack_waits *x = a, *y = b;

	return x->ns != y->ns ? (x->ns > y->ns ? -1 : 1) : strcmp(x->stack, y->stack);
}

void ins_account_waits_end(struct ins_account_waits *w)
{
	struct ins_account *a = w->account;
	size_t i;

	for (i = 0; i < a->waiteds; i++) {
		ins_distribution_settle(&w->lengths[i]);
		a->waited[i].median = w->lengths[i].median;
	}
	if (a->waiteds)
		qsort(a->waited, a->waiteds, sizeof *a->waited, by_ns);
	if (a->stack_waits_count)
		qsort(a->stack_waits, a->stack_waits_count, sizeof *a->stack_waits, by_stack_waits);
}

void ins_account_waits_drop(struct ins_account_waits *w)
{
	size_t i;

	for (i = 0; w->lengths && i < w->account->waiteds; i++)
		ins_distribution_drop(&w->lengths[i]);
	free(w->lengths);
	ins_pairs_drop(&w->rows);
	ins_pairs_drop(&w->stacks);
	ins_pairs_drop(&w->objects);
	ins_pairs_drop(&w->fibers);
}
