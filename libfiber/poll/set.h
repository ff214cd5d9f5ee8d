/* SPDX-License-Identifier: MIT */
/* set.h - the set of events that poll(2) is asked for. See set.c for the rule. */
#ifndef FIB_POLL_SET_H
#define FIB_POLL_SET_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "poll/poller.h"

struct fib_poll_entry;

/* Zero it, then call fib_poll_set_open(). The caller ensures that one thread at a time uses it. */
struct fib_poll_set {
	struct fib_poll_entry *entries; /* by number */
	unsigned entry_room;
	struct pollfd *fds; /* fds[0] is for the asking thread's own descriptor */
	unsigned n, room;
	uint64_t version; /* counts the changes */
};

/* A copy of the set, for one poll(2). Used by its owner only. */
struct fib_poll_question {
	struct pollfd *fds; /* fds[0]: the descriptor that ends this poll(2) */
	unsigned n, room;
	unsigned turn; /* where the scan of the answer starts; rotates for fairness */
	uint64_t version;
};

/* 0, or -ENOMEM. Close the set also after a failure; a set that is all zero may be closed. */
int fib_poll_set_open(struct fib_poll_set *set);
void fib_poll_set_close(struct fib_poll_set *set);
int fib_poll_question_open(struct fib_poll_question *q);
void fib_poll_question_close(struct fib_poll_question *q);

/* Ask for further events of fd (not negative), and set its token. 0, -ENOMEM. */
int fib_poll_set_ask(struct fib_poll_set *set, int fd, uint64_t token, short events);

/* Remove fd. Returns whether any of its events were asked for. */
bool fib_poll_set_drop(struct fib_poll_set *set, int fd);

/* Copy the set, with own_fd in the first place. */
void fib_poll_set_copy(struct fib_poll_set *set, struct fib_poll_question *q, int own_fd);

/*
 * Report up to max events of the answer to q; returns their number. They are not asked for any
 * more. Descriptors asked for again since q was copied are skipped.
 */
int fib_poll_set_report(struct fib_poll_set *set, struct fib_poll_question *q,
			struct fib_poll_event *events, int max);

#endif
