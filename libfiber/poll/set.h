/* SPDX-License-Identifier: MIT */
/* set.h - what poll(2) is asked for, and by whom. See set.c for the rule. */
#ifndef FIB_POLL_SET_H
#define FIB_POLL_SET_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "poll/poller.h"

struct fib_poll_entry;

/* All zero and then fib_poll_set_open(). The caller sees to it that one thread at a time has it. */
struct fib_poll_set {
	struct fib_poll_entry *entries; /* by number */
	unsigned entry_room;
	struct pollfd *fds; /* fds[0] belongs to whoever asks */
	unsigned n, room;
	uint64_t version; /* counts the changes */
};

/* A copy of the set, for one poll(2). Its owner's alone. */
struct fib_poll_question {
	struct pollfd *fds; /* fds[0]: the descriptor that ends this poll(2) */
	unsigned n, room;
	unsigned turn; /* where the answer is looked at first, so that everybody's turn comes */
	uint64_t version;
};

/* 0, or -ENOMEM. What was opened half is to be closed too; and what is all zero may be. */
int fib_poll_set_open(struct fib_poll_set *set);
void fib_poll_set_close(struct fib_poll_set *set);
int fib_poll_question_open(struct fib_poll_question *q);
void fib_poll_question_close(struct fib_poll_question *q);

/* Ask for events of fd (not negative) besides those that are asked for already; its token from now on. 0, -ENOMEM. */
int fib_poll_set_ask(struct fib_poll_set *set, int fd, uint64_t token, short events);

/* Ask for nothing of fd any more. Whether anything was asked. */
bool fib_poll_set_drop(struct fib_poll_set *set, int fd);

/* Copy the set, with own_fd in the first place. */
void fib_poll_set_copy(struct fib_poll_set *set, struct fib_poll_question *q, int own_fd);

/* The answer to q: up to max events, how many. What is told is asked for no more. What was asked for anew since q was
 * copied is not told. */
int fib_poll_set_report(struct fib_poll_set *set, struct fib_poll_question *q,
			struct fib_poll_event *events, int max);

#endif
