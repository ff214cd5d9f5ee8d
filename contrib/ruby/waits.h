/* SPDX-License-Identifier: MIT */
/*
 * waits.h - waits of another scheduler's fibers, performed by libfiber. See waits.c.
 *
 * Nothing here knows Ruby. "The owner" is the thread that runs the other fibers.
 */
#ifndef RUBY_WAITS_H
#define RUBY_WAITS_H

#include <fiber.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

struct waits;

enum wait_kind {
	WAIT_FD,      /* for events of fd. Result: the ready events */
	WAIT_POLL,    /* as poll(2), for fds. Result: the number of ready ones */
	WAIT_SLEEP,   /* until the deadline. Result: 0 */
	WAIT_BLOCK,   /* until wait_unblock(). Result: 0 */
	WAIT_RESOLVE, /* for the addresses of the name `host`. Result: 0, and `found` */
};

/*
 * One wait, for one fiber at a time. It has a fiber of libfiber that performs it.
 * O the owner only · Q the owner before wait_begin() and after waits_next() returned it, the
 * carrier between them · C the carrier only · A any thread, atomic
 */
struct wait {
	struct waits *of;	     /* set when made */
	void *user;		     /* O: for the owner's use */
	struct wait *before, *after; /* O: for the owner's use */
	bool pending;		     /* O: for the owner's use */
	bool orphan;		     /* O: for the owner's use */

	enum wait_kind kind;		/* Q */
	int fd;				/* Q */
	short events;			/* Q */
	int64_t deadline;		/* Q: ns on fiber_now()'s clock */
	struct pollfd *fds;		/* Q */
	nfds_t nfds;			/* Q */
	char *host;			/* Q */
	struct addrinfo *found;		/* Q */
	int result;			/* Q: as said at the kind, or a negative errno */
	char name[32], at[96], why[32]; /* Q: the fiber's name and its labels `at` and `for` */
	unsigned round;			/* Q: counts the waits */
	_Atomic unsigned unblocked;	/* A: the round that wait_unblock() ended */
	bool described;			/* Q: the fiber has this name and these labels */

	_Atomic unsigned orders; /* A */
	struct wait *next_order; /* A: of whoever put it into the list */
	struct wait *next_ended; /* C, then O */
	struct fiber *fiber;	 /* C: NULL: there is none */
	bool asked, leaving;	 /* C */
};

/* Start a runtime of this name with one carrier. Returns 0 or a negative errno. */
int waits_start(const char *name, struct waits **ret);

/*
 * End all waits, stop the runtime. Waits that exist stay valid, for wait_free() only; then the
 * last of waits_stop() and these frees what is left. Without effect in a forked child.
 */
void waits_stop(struct waits *waits);

/* Returns NULL without memory. */
struct wait *wait_new(struct waits *waits);
/* The wait must not have begun, or been returned by waits_next(). */
void wait_free(struct wait *w);

/* Hand over a wait whose fields are set. It starts at the latest with waits_flush(). */
void wait_begin(struct wait *w);
void waits_flush(struct waits *waits);
/* End a wait that has begun with -ECANCELED, unless it has ended; waits_next() returns it. */
void wait_abort(struct wait *w);
/* End a WAIT_BLOCK with 0. At once: from another thread than the owner. */
void wait_unblock(struct wait *w, bool at_once);

/* Return the waits that have ended since the last call, linked by next_ended, oldest first. */
struct wait *waits_next(struct waits *waits);
/* Block until a wait has ended or waits_interrupt() was called. The owner. */
void waits_sleep(struct waits *waits);
/* From any thread. */
void waits_interrupt(struct waits *waits);

#endif
