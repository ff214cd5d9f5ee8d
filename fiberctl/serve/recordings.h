/* SPDX-License-Identifier: MIT */
/*
 * recordings.h - recordings that viewers have started, as files in a folder of this process
 *
 * `fibertrace record` makes them, `fibertrace report` and `export` show them. The folder is removed
 * at the end.
 */
#ifndef SERVE_RECORDINGS_H
#define SERVE_RECORDINGS_H

#include "fiberctl/serve/errand.h"

#define SERVE_RECORDINGS	8
#define SERVE_RECORDING_LONGEST 60 /* s */

enum serve_recording_state { SERVE_RECORDING_RUNS, SERVE_RECORDING_DONE, SERVE_RECORDING_FAILED };

struct serve_recordings;

struct serve_recording {
	const struct serve_recordings *all;
	unsigned id;
	enum serve_recording_state state;
	int pid;
	char name[64];
	int64_t started; /* ns, CLOCK_REALTIME */
	unsigned seconds;
	char text[256]; /* what fibertrace has said, if it failed */
};

struct serve_recordings {
	char folder[64];			      /* "": not made yet */
	unsigned last;				      /* id */
	struct serve_recording *at[SERVE_RECORDINGS]; /* the oldest first */
	unsigned count;
};

/* Start a recording. Returns the answer, which is an error if it cannot start. */
struct serve_answer *serve_recordings_start(struct serve_recordings *recordings,
					    struct serve_errands *errands,
					    const struct serve_found *program, unsigned seconds,
					    int64_t now);

/* {"recordings":[..]} */
struct serve_answer *serve_recordings_list(const struct serve_recordings *recordings);

enum serve_recording_as { SERVE_RECORDING_REPORT, SERVE_RECORDING_TIMELINE };

/* Ask for a recording in that form; the waiter's done() gets it, or an error. */
void serve_recordings_show(struct serve_recordings *recordings, struct serve_errands *errands,
			   unsigned id, enum serve_recording_as as, struct serve_waiter *waiter,
			   int64_t now);

/*
 * Make the page of a report fit the rules of the server: its script is the file /report.js. Takes
 * over the answer.
 */
struct serve_answer *serve_recordings_page(struct serve_answer *answer);

/* Remove the files and the folder. */
void serve_recordings_end(struct serve_recordings *recordings);

#endif
