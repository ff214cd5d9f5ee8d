/* SPDX-License-Identifier: MIT */
/* entry.c - the questions about one program, their last answers, and who waits for them */
#include "fiberctl/serve/entry.h"

#include <stdlib.h>
#include <string.h>

#include "inspect/text/duration.h"

void serve_entry_forget(struct serve_entry *e, size_t *bytes)
{
	if (e->answer)
		*bytes -= e->answer->size;
	serve_answer_drop(e->answer);
	e->answer = NULL;
}

void serve_entry_wait(struct serve_entry *e, struct serve_waiter *w)
{
	w->next = e->waiters;
	e->waiters = w;
}

static void tell(struct serve_entry *e, struct serve_waiter *w, struct serve_answer *answer)
{
	struct serve_waiter **at = &e->waiters;

	while (*at && *at != w)
		at = &(*at)->next;
	if (*at)
		*at = w->next;
	w->done(w, answer);
}

void serve_entry_tell(struct serve_entry *e, struct serve_answer *answer)
{
	struct serve_waiter *w, *next;

	for (w = e->waiters; w; w = next) {
		next = w->next;
		if (!answer || !answer->look || answer->look > w->after)
			tell(e, w, serve_answer_use(answer));
	}
	/* The others want a later one. */
	e->wanted = e->wanted || e->waiters;
	serve_answer_drop(answer);
}

void serve_entry_keep(struct serve_entry *e, struct serve_answer *answer, size_t *bytes)
{
	serve_entry_forget(e, bytes);
	e->answer = serve_answer_use(answer);
	e->answered = ins_duration_now();
	if (answer)
		*bytes += answer->size;
	serve_entry_tell(e, answer);
}

/* -- all entries of a program -- */

static bool is_idle(const struct serve_entry *e)
{
	return !e->waiters && !e->wanted && e->asked < 0;
}

/*
 * The place for a new entry, perhaps of one that was not asked for the longest time. Questions that
 * wait long do not take all places.
 */
static struct serve_entry *find_place(struct serve_entries *all, enum serve_share share)
{
	struct serve_entry *place = NULL;
	unsigned i, others = 0;

	for (i = 0; i < all->count; i++)
		others += all->at[i].share == SERVE_OTHER && !is_idle(&all->at[i]);
	if (share == SERVE_OTHER && others >= SERVE_OTHERS)
		return NULL;
	if (all->count < SERVE_ENTRIES)
		return &all->at[all->count++];
	for (i = 0; i < all->count; i++)
		if (is_idle(&all->at[i]) && (!place || all->at[i].used < place->used))
			place = &all->at[i];
	return place;
}

struct serve_entry *serve_entries_need(struct serve_entries *all, const char *question,
				       size_t *bytes)
{
	const enum serve_share share = serve_question_share(question);
	struct serve_entry *e;
	char *copy;
	unsigned i;

	for (i = 0; i < all->count; i++)
		if (strcmp(all->at[i].question, question) == 0)
			return &all->at[i];
	copy = strdup(question);
	e = copy ? find_place(all, share) : NULL;
	if (!e) {
		free(copy);
		return NULL;
	}
	serve_entry_forget(e, bytes);
	free(e->question);
	*e = (struct serve_entry){.question = copy, .asked = -1, .share = share};
	return e;
}

bool serve_entries_waited(const struct serve_entries *all)
{
	unsigned i;

	for (i = 0; i < all->count; i++)
		if (all->at[i].waiters)
			return true;
	return false;
}

bool serve_entries_wanted(const struct serve_entries *all, enum serve_share share)
{
	unsigned i;

	for (i = 0; i < all->count; i++)
		if (all->at[i].wanted && all->at[i].share == share)
			return true;
	return false;
}

void serve_entries_expire(struct serve_entries *all, int pid, int64_t now)
{
	struct serve_waiter *w, *next;
	unsigned i;

	for (i = 0; i < all->count; i++) {
		struct serve_entry *e = &all->at[i];

		for (w = e->waiters; w; w = next) {
			next = w->next;
			if (now < w->deadline)
				continue;
			tell(e, w,
			     w->old && e->answer && e->asked < 0
				     ? serve_answer_use(e->answer)
				     : serve_answer_error(MHD_HTTP_GATEWAY_TIMEOUT,
							  "process %d: no answer in time", pid));
		}
	}
}

int64_t serve_entries_deadline(const struct serve_entries *all)
{
	const struct serve_waiter *w;
	int64_t first = INT64_MAX;
	unsigned i;

	for (i = 0; i < all->count; i++)
		for (w = all->at[i].waiters; w; w = w->next)
			if (w->deadline < first)
				first = w->deadline;
	return first;
}

void serve_entries_drop(struct serve_entries *all, int pid, const char *why, size_t *bytes)
{
	unsigned i;

	for (i = 0; i < all->count; i++) {
		struct serve_entry *e = &all->at[i];

		if (e->waiters)
			serve_entry_tell(e, serve_answer_error(MHD_HTTP_BAD_GATEWAY,
							       "process %d: %s", pid, why));
		serve_entry_forget(e, bytes);
		free(e->question);
	}
	all->count = 0;
}
