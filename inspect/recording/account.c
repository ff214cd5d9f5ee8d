/* SPDX-License-Identifier: MIT */
/* account.c - add up what each fiber did in a recording; account_waits.c adds up the waits */
#include "inspect/recording/account.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/recording/account_waits.h"
#include "layout/layout.h"

struct adding {
	struct ins_account *a;
	const struct ins_recording *recording;
	struct ins_replay *replay;
	struct ins_account_waits waits;
	struct ins_carried **carried; /* by ring; NULL: not a carrier's ring */
	int rc;			      /* from adding a wait */
};

/* -- what each fiber did -- */

static void add_spent(struct ins_spent *spent, const struct ins_slice *s)
{
	const int64_t ns = ins_slice_length(s);

	spent->cut += (s->flags & INS_SLICE_CUT) && s->doing != INS_DOING_PINNED;
	switch (s->doing) {
	case INS_DOING_RUNNING:
		ins_add_ns(&spent->running, ns);
		spent->turns++;
		break;
	case INS_DOING_RUNNABLE:
		ins_add_ns(&spent->runnable, ns);
		if (ns > spent->runnable_most)
			spent->runnable_most = ns;
		break;
	case INS_DOING_WAITING:
		ins_add_ns(&spent->waiting, ns);
		spent->waits++;
		if (ns > spent->waiting_most)
			spent->waiting_most = ns;
		break;
	case INS_DOING_PINNED:
		ins_add_ns(&spent->pinned, ns);
		break;
	case INS_DOING_UNKNOWN:
		ins_add_ns(&spent->unknown, ns);
		break;
	default:
		break;
	}
}

static void add_carried(struct adding *add, const struct ins_slice *s)
{
	struct ins_carried *c = s->ring == INS_NO_RING ? NULL : add->carried[s->ring];

	if (!c)
		return;
	ins_add_ns(&c->running, ins_slice_length(s));
	c->turns++;
}

static void take_slice(void *context, const struct ins_slice *s)
{
	struct adding *add = context;
	struct ins_account *a = add->a;

	add_spent(&a->all, s);
	add_spent(&a->fiber[s->index], s);
	if (s->doing == INS_DOING_RUNNING)
		add_carried(add, s);
	if (add->rc == 0 && (s->doing == INS_DOING_WAITING || s->doing == INS_DOING_PINNED))
		add->rc = ins_account_waits_add(&add->waits, s);
}

static void take_event(void *context, const struct ins_recorded *e)
{
	struct ins_counts *n = &((struct adding *)context)->a->counts;

	switch (e->event.type) {
	case FIB_EVENT_RUN:
		n->migrations += (e->event.flags & FIB_EVENT_MIGRATED) != 0;
		break;
	case FIB_EVENT_SPAWN:
		n->spawns++;
		break;
	case FIB_EVENT_EXIT:
		n->exits++;
		break;
	case FIB_EVENT_STEAL:
		n->steals++;
		break;
	case FIB_EVENT_PINNED:
		n->pinned++;
		break;
	case FIB_EVENT_SLOW:
		n->slow++;
		break;
	default:
		break;
	}
}

static void take_wakeup(void *context, const struct ins_wakeup *w)
{
	((struct adding *)context)->a->counts.wakes += !w->spawn;
}

/* -- groups -- */

static int by_entry(const void *a, const void *b)
{
	const struct ins_ran *x = a, *y = b;

	return x->entry < y->entry ? -1 : x->entry > y->entry;
}

static int by_running(const void *a, const void *b)
{
	const struct ins_ran *x = a, *y = b;

	if (x->spent.running != y->spent.running)
		return x->spent.running > y->spent.running ? -1 : 1;
	return by_entry(a, b);
}

static void join_spent(struct ins_spent *to, const struct ins_spent *s)
{
	ins_add_ns(&to->running, s->running);
	ins_add_ns(&to->runnable, s->runnable);
	ins_add_ns(&to->waiting, s->waiting);
	ins_add_ns(&to->pinned, s->pinned);
	ins_add_ns(&to->unknown, s->unknown);
	to->turns += s->turns;
	to->waits += s->waits;
	to->cut += s->cut;
	if (s->runnable_most > to->runnable_most)
		to->runnable_most = s->runnable_most;
	if (s->waiting_most > to->waiting_most)
		to->waiting_most = s->waiting_most;
}

static int group_ran(struct adding *add)
{
	struct ins_account *a = add->a;
	size_t i, n = 0;

	a->ran = calloc(a->fibers + 1, sizeof *a->ran);
	if (!a->ran)
		return -ENOMEM;
	for (i = 0; i < a->fibers; i++)
		a->ran[i] = (struct ins_ran){ins_replay_fibers(add->replay)->at[i].entry, 1,
					     a->fiber[i]};
	qsort(a->ran, a->fibers, sizeof *a->ran, by_entry);
	for (i = 0; i < a->fibers; i++) {
		if (n && a->ran[n - 1].entry == a->ran[i].entry) {
			a->ran[n - 1].fibers++;
			join_spent(&a->ran[n - 1].spent, &a->ran[i].spent);
		} else {
			a->ran[n++] = a->ran[i];
		}
	}
	a->rans = n;
	qsort(a->ran, n, sizeof *a->ran, by_running);
	return 0;
}

/* -- the account -- */

static int make_room(struct adding *add)
{
	const struct ins_recording *r = add->recording;
	struct ins_account *a = add->a;
	size_t i;

	a->length = r->head.ended - r->head.began;
	a->fibers = ins_replay_fibers(add->replay)->count;
	a->fiber = calloc(a->fibers + 1, sizeof *a->fiber);
	a->carried = calloc(r->rings + 1, sizeof *a->carried);
	add->carried = calloc(r->rings + 1, sizeof(struct ins_carried *));
	if (!a->fiber || !a->carried || !add->carried)
		return -ENOMEM;
	for (i = 0; i < r->rings; i++) {
		if (r->ring[i].carrier == FIB_EVENT_OUTSIDE)
			continue;
		add->carried[i] = &a->carried[a->carrieds++];
		add->carried[i]->ring = (uint32_t)i;
	}
	return 0;
}

int ins_account_new(const struct ins_recording *recording, struct ins_replay *replay,
		    struct ins_account **ret)
{
	static const struct ins_replay_ops ops = {take_slice, take_wakeup, take_event};
	struct adding add = {
		.a = calloc(1, sizeof *add.a), .recording = recording, .replay = replay};
	struct ins_sample_match *seen = NULL;
	int rc = add.a ? make_room(&add) : -ENOMEM;

	if (rc == 0)
		rc = ins_sample_match_new(recording, replay, &seen);
	if (rc == 0) {
		add.waits.account = add.a;
		add.waits.recording = recording;
		add.waits.seen = seen;
		ins_replay_play(replay, &ops, &add);
		rc = add.rc;
	}
	if (rc == 0) {
		ins_account_waits_end(&add.waits);
		rc = group_ran(&add);
	}
	ins_account_waits_drop(&add.waits);
	ins_sample_match_free(seen);
	free(add.carried);
	if (rc < 0)
		ins_account_free(add.a);
	else
		*ret = add.a;
	return rc;
}

void ins_account_free(struct ins_account *a)
{
	if (!a)
		return;
	free(a->fiber);
	free(a->waited);
	free(a->ran);
	free(a->stack_waits);
	free(a->carried);
	free(a);
}
