/* SPDX-License-Identifier: MIT */
/*
 * account.c - adding up what a recording shows
 *
 * Waits for one thing are one row: a lock by its address, a descriptor by its number, a join by whom. What fibers wait for that
 * is nobody else's, such as a sleep, is one row for all of them.
 */
#include "inspect/account.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layout/layout.h"

struct adding {
	struct ins_account *a;
	const struct ins_recording *recording;
	struct ins_replay *replay;
	size_t room; /* of waited; a table of chains by hash */
	size_t *slot, slots;
	int64_t *last_wait; /* of a fiber: of the wait that it was in at the end */
	bool failed;
};

/* -- what was waited for -- */

static bool shares_object(unsigned kind)
{
	return kind != FIB_WAIT_SLEEP && kind != FIB_WAIT_TIMER && kind != FIB_WAIT_PARK &&
	       kind != FIB_WAIT_OFFLOAD && kind != FIB_WAIT_OP && kind != FIB_WAIT_PREDICATE &&
	       kind != FIB_WAIT_SELECT;
}

static struct ins_waited key_of(const struct ins_slice *s)
{
	return (struct ins_waited){
		.object = shares_object(s->kind) && s->kind != FIB_WAIT_FD ? s->object : 0,
		.arg = s->kind == FIB_WAIT_FD ? s->arg : 0,
		.kind = s->kind,
		.pinned = s->doing == INS_DOING_PINNED,
	};
}

static size_t hash(const struct ins_waited *w)
{
	uint64_t h = w->object * UINT64_C(0x9e3779b97f4a7c15) + w->arg + ((uint64_t)w->kind << 40) +
		     ((uint64_t)w->pinned << 48);

	return (size_t)((h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> 20);
}

static bool same(const struct ins_waited *a, const struct ins_waited *b)
{
	return a->object == b->object && a->arg == b->arg && a->kind == b->kind &&
	       a->pinned == b->pinned;
}

/* Slots hold one more than an index. */
static void put_slot(struct adding *add, size_t i)
{
	size_t at = hash(&add->a->waited[i]) % add->slots;

	while (add->slot[at])
		at = (at + 1) % add->slots;
	add->slot[at] = i + 1;
}

static bool grow(struct adding *add)
{
	struct ins_account *a = add->a;
	const size_t room = add->room ? add->room * 2 : 256;
	struct ins_waited *waited = realloc(a->waited, room * sizeof *waited);
	size_t *slot = calloc(room * 2, sizeof *slot), i;

	if (waited)
		a->waited = waited;
	if (!waited || !slot) {
		free(slot);
		return false;
	}
	free(add->slot);
	add->slot = slot;
	add->slots = room * 2;
	add->room = room;
	for (i = 0; i < a->waiteds; i++)
		put_slot(add, i);
	return true;
}

static struct ins_waited *waited_for(struct adding *add, const struct ins_slice *s)
{
	const struct ins_waited key = key_of(s);
	struct ins_account *a = add->a;
	size_t at;

	if (a->waiteds == add->room && !grow(add)) {
		add->failed = true;
		return NULL;
	}
	for (at = hash(&key) % add->slots; add->slot[at]; at = (at + 1) % add->slots)
		if (same(&a->waited[add->slot[at] - 1], &key))
			return &a->waited[add->slot[at] - 1];
	a->waited[a->waiteds] = key;
	add->slot[at] = ++a->waiteds;
	return &a->waited[a->waiteds - 1];
}

/* A damaged file may say that anything took for ever, and that often. */
static void add_ns(int64_t *to, int64_t ns)
{
	if (__builtin_add_overflow(*to, ns, to))
		*to = INT64_MAX;
}

static int64_t length_of(const struct ins_slice *s)
{
	int64_t ns;

	return __builtin_sub_overflow(s->to, s->from, &ns) ? INT64_MAX : ns;
}

static void add_wait(struct adding *add, const struct ins_slice *s)
{
	const int64_t ns = length_of(s);
	struct ins_waited *w = waited_for(add, s);

	if (!w)
		return;
	w->waits++;
	add_ns(&w->ns, ns);
	w->fibers += (s->flags & INS_SLICE_GOES_ON) != 0;
	if (ns > w->most)
		w->most = ns;
}

/* -- who did what -- */

static void add_spent(struct ins_spent *spent, const struct ins_slice *s)
{
	const int64_t ns = length_of(s);

	switch (s->doing) {
	case INS_DOING_RUNNING:
		add_ns(&spent->running, ns);
		spent->turns++;
		break;
	case INS_DOING_RUNNABLE:
		add_ns(&spent->runnable, ns);
		if (ns > spent->runnable_most)
			spent->runnable_most = ns;
		break;
	case INS_DOING_WAITING:
		add_ns(&spent->waiting, ns);
		spent->waits++;
		if (ns > spent->waiting_most)
			spent->waiting_most = ns;
		break;
	case INS_DOING_PINNED:
		add_ns(&spent->pinned, ns);
		break;
	default:
		break;
	}
}

static void add_carried(struct ins_account *a, const struct ins_slice *s)
{
	size_t i;

	for (i = 0; i < a->carrieds; i++) {
		if (a->carried[i].ring != s->ring)
			continue;
		add_ns(&a->carried[i].running, length_of(s));
		a->carried[i].turns++;
	}
}

static void take_slice(void *context, const struct ins_slice *s)
{
	struct adding *add = context;
	struct ins_account *a = add->a;

	add_spent(&a->all, s);
	add_spent(&a->fiber[s->index], s);
	if (s->doing == INS_DOING_RUNNING)
		add_carried(a, s);
	if (s->doing == INS_DOING_WAITING || s->doing == INS_DOING_PINNED)
		add_wait(add, s);
	if (s->doing == INS_DOING_WAITING && (s->flags & INS_SLICE_GOES_ON))
		add->last_wait[s->index] = s->to - s->from;
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

static int by_ns(const void *a, const void *b)
{
	const struct ins_waited *x = a, *y = b;

	return x->ns != y->ns ? (x->ns > y->ns ? -1 : 1) : x->object < y->object ? -1 : 1;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct ins_stood *)a)->stack, ((const struct ins_stood *)b)->stack);
}

static int by_stood(const void *a, const void *b)
{
	const struct ins_stood *x = a, *y = b;

	return x->ns != y->ns ? (x->ns > y->ns ? -1 : 1) : by_text(a, b);
}

static void join_spent(struct ins_spent *to, const struct ins_spent *s)
{
	add_ns(&to->running, s->running);
	add_ns(&to->runnable, s->runnable);
	add_ns(&to->waiting, s->waiting);
	add_ns(&to->pinned, s->pinned);
	to->turns += s->turns;
	to->waits += s->waits;
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
		a->ran[i] = (struct ins_ran){ins_replay_lives(add->replay)->at[i].entry, 1,
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

static int group_stood(struct adding *add)
{
	struct ins_account *a = add->a;
	size_t i, n = 0, all = 0;

	a->stood = calloc(a->fibers + 1, sizeof *a->stood);
	if (!a->stood)
		return -ENOMEM;
	for (i = 0; i < a->fibers; i++) {
		const struct ins_life *l = &ins_replay_lives(add->replay)->at[i];
		const char *stack = ins_recording_stack(add->recording, l->id);

		/* It was in that wait already when its stack was looked at. */
		if (stack && l->last && add->last_wait[i] >= 0 &&
		    add->recording->head.ended - add->last_wait[i] <= l->last->seen)
			a->stood[all++] = (struct ins_stood){stack, 1, add->last_wait[i]};
	}
	qsort(a->stood, all, sizeof *a->stood, by_text);
	for (i = 0; i < all; i++) {
		if (n && strcmp(a->stood[n - 1].stack, a->stood[i].stack) == 0) {
			a->stood[n - 1].fibers++;
			add_ns(&a->stood[n - 1].ns, a->stood[i].ns);
		} else {
			a->stood[n++] = a->stood[i];
		}
	}
	a->stoods = n;
	qsort(a->stood, n, sizeof *a->stood, by_stood);
	return 0;
}

/* -- all of it -- */

static int make_room(struct adding *add)
{
	const struct ins_recording *r = add->recording;
	struct ins_account *a = add->a;
	size_t i;

	a->length = r->head.ended - r->head.began;
	a->fibers = ins_replay_lives(add->replay)->count;
	a->fiber = calloc(a->fibers + 1, sizeof *a->fiber);
	a->carried = calloc(r->rings + 1, sizeof *a->carried);
	add->last_wait = malloc((a->fibers + 1) * sizeof *add->last_wait);
	if (!a->fiber || !a->carried || !add->last_wait)
		return -ENOMEM;
	for (i = 0; i < a->fibers; i++)
		add->last_wait[i] = -1;
	for (i = 0; i < r->rings; i++)
		if (r->ring[i].carrier != FIB_EVENT_OUTSIDE)
			a->carried[a->carrieds++].ring = (uint32_t)i;
	return 0;
}

int ins_account_new(const struct ins_recording *recording, struct ins_replay *replay,
		    struct ins_account **ret)
{
	static const struct ins_replay_ops ops = {take_slice, take_wakeup, take_event};
	struct adding add = {calloc(1, sizeof *add.a), recording, replay, 0, NULL, 0, NULL, false};
	int rc = add.a ? make_room(&add) : -ENOMEM;

	if (rc == 0) {
		ins_replay_play(replay, &ops, &add);
		rc = add.failed ? -ENOMEM : group_ran(&add);
	}
	if (rc == 0)
		rc = group_stood(&add);
	if (rc == 0 && add.a->waiteds)
		qsort(add.a->waited, add.a->waiteds, sizeof *add.a->waited, by_ns);
	free(add.slot);
	free(add.last_wait);
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
	free(a->stood);
	free(a->carried);
	free(a);
}
