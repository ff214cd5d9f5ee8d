/* SPDX-License-Identifier: MIT */
/*
 * hostile.h - listeners at a control socket that answer as no program of libfiber does
 *
 * Each is a process of its own, with one thread, at PID.sock in a folder as the tools look for it. They end with the test.
 */
#ifndef HARNESS_CLI_HOSTILE_H
#define HARNESS_CLI_HOSTILE_H

#include <stdbool.h>
#include <sys/types.h>

enum hostile_kind {
	HOSTILE_PROPER, /* answers hello, carriers, counters and lists as a small program does */
	HOSTILE_STILL,	/* STILL every 200 ms */
	HOSTILE_FLOOD,	/* STILL without a pause */
	HOSTILE_BYTES,	/* what a proper one says, a byte a second */
	HOSTILE_MAPS,	/* PROCESS, then MAPS of 2 MiB without end */
	HOSTILE_ROWS,	/* PROCESS, LAYOUT, then the same row without end */
	HOSTILE_RISING, /* the same, and each row claims another record */
	HOSTILE_CLAIMS, /* STILL every 200 ms with a place in the walk that goes up, a little each time */
	HOSTILE_SILENT,	 /* accepts, and says nothing */
	HOSTILE_BACKLOG, /* never accepts, and its backlog is full */
	HOSTILE_HUGE,	 /* the header of a frame of 4 GB */
	HOSTILE_CLOSES,	 /* closes after the request */
};

struct hostile_how {
	enum hostile_kind kind;
	bool greets;	  /* it answers hello as a proper one */
	const char *name; /* that it gives itself; NULL: "listener" */
	uid_t user;	  /* to be, with /tmp/fiber-UID as its folder; 0: the test's own folder */
};

struct hostile {
	pid_t pid;
	char path[108]; /* of its socket */
};

/* Start one and wait until it listens. Aborts the test where that fails. */
void hostile_start(struct hostile *ret, const struct hostile_how *how);

/* End it, and remove its socket. */
void hostile_end(struct hostile *hostile);

#endif
