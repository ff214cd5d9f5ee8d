/* SPDX-License-Identifier: MIT */
/*
 * hostile.h - listeners at a control socket that break the protocol
 *
 * Each is a process with one thread. It listens at PID.sock in a folder where the tools look. All
 * end with the test.
 */
#ifndef HARNESS_CLI_HOSTILE_H
#define HARNESS_CLI_HOSTILE_H

#include <stdbool.h>
#include <sys/types.h>

enum hostile_kind {
	HOSTILE_PROPER,	 /* answers hello, carriers, counters and lists like a small program */
	HOSTILE_STILL,	 /* STILL every 200 ms */
	HOSTILE_FLOOD,	 /* STILL without a pause */
	HOSTILE_BYTES,	 /* a proper answer, one byte per second */
	HOSTILE_MAPS,	 /* PROCESS, then MAPS of 2 MiB without end */
	HOSTILE_ROWS,	 /* PROCESS, LAYOUT, then the same row again and again */
	HOSTILE_RISING,	 /* like HOSTILE_ROWS, and each row claims another record */
	HOSTILE_CLAIMS,	 /* STILL every 200 ms, its position in the walk rising slowly */
	HOSTILE_SILENT,	 /* accepts and sends nothing */
	HOSTILE_BACKLOG, /* never accepts; its backlog is full */
	HOSTILE_HUGE,	 /* the header of a 4 GB frame */
	HOSTILE_CLOSES,	 /* closes after the request */
	HOSTILE_OLDER, /* knows none of the request's values, like a program of an older version */
};

/* What a listener was asked, in memory that it shares with the test. */
struct hostile_log {
	_Atomic unsigned requests;
};

struct hostile_how {
	enum hostile_kind kind;
	bool greets;	  /* answers hello properly */
	bool counts;	  /* answers the requests for counters and carriers properly */
	const char *name; /* the name it reports; NULL: "listener" */
	uid_t user;	  /* run as this user, in /tmp/fiber-UID; 0: in the test's own folder */
	struct hostile_log *log; /* NULL: nothing is counted */
};

struct hostile {
	pid_t pid;
	char path[108]; /* path of its socket */
};

/* Start a listener and wait until it listens. Aborts the test on failure. */
void hostile_start(struct hostile *ret, const struct hostile_how *how);

/* End the listener and remove its socket. */
void hostile_end(struct hostile *hostile);

#endif
