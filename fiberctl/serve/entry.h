/* SPDX-License-Identifier: MIT */
/*
 * entry.h - the questions about one program, their last answers, and who waits for them
 *
 * The number of questions is bounded, and the caller bounds the bytes of all answers.
 */
#ifndef SERVE_ENTRY_H
#define SERVE_ENTRY_H

#include "fiberctl/serve/answer.h"
#include "fiberctl/serve/question.h"

/* Who waits for an answer. done() is called once, perhaps before the question returns. */
struct serve_waiter {
	struct serve_waiter *next;
	/* Takes over the answer; NULL: no memory. */
	void (*done)(struct serve_waiter *waiter, struct serve_answer *answer);
	int64_t deadline; /* ns; then an error, or an older answer if the program is not being asked */
	uint64_t after; /* only the answer of a later look than this */
	bool old;	/* an answer of an earlier turn will do */
};

/* One question about one program. */
struct serve_entry {
	char *question;
	struct serve_answer *answer; /* the last one; NULL: none */
	enum serve_share share;	     /* of time */
	bool wanted;		     /* in the next turn */
	int asked;		     /* its index in the current turn; -1: it is in none */
	int64_t answered, used;	     /* the time of the answer, and of the last question; ns */
	struct serve_waiter *waiters;
};

/* Empty when zeroed. */
#define SERVE_ENTRIES 32
#define SERVE_OTHERS \
	24 /* of the share OTHER that are not answered yet; the rest is for the others */
struct serve_entries {
	struct serve_entry at[SERVE_ENTRIES];
	unsigned count;
};

/*
 * The entry of a question, also a new one; a new one may replace one that no client waits for.
 * bytes: of all answers. NULL: there is no place, or no memory.
 */
struct serve_entry *serve_entries_need(struct serve_entries *entries, const char *question,
				       size_t *bytes);

/* Whether someone waits for an answer; whether a question of that share is wanted. */
bool serve_entries_waited(const struct serve_entries *entries);
bool serve_entries_wanted(const struct serve_entries *entries, enum serve_share share);

/* Add a waiter. */
void serve_entry_wait(struct serve_entry *entry, struct serve_waiter *waiter);

/* Give an answer, taken over, to all waiters that want one as new as it. */
void serve_entry_tell(struct serve_entry *entry, struct serve_answer *answer);

/* The same, and keep it as the last answer. */
void serve_entry_keep(struct serve_entry *entry, struct serve_answer *answer, size_t *bytes);

void serve_entry_forget(struct serve_entry *entry, size_t *bytes);

/* Answer the waiters whose time is over. The first deadline of the others; INT64_MAX: none. */
void serve_entries_expire(struct serve_entries *entries, int pid, int64_t now);
int64_t serve_entries_deadline(const struct serve_entries *entries);

/* Give the same error to all waiters, and free everything. */
void serve_entries_drop(struct serve_entries *entries, int pid, const char *why, size_t *bytes);

#endif
