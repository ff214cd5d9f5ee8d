/* SPDX-License-Identifier: MIT */
/*
 * progress.h - show the progress of a long operation on a terminal
 *
 * One line on stderr that is overwritten in place, if stderr is a terminal and a second has passed;
 * at most two updates a second. It is removed when the work is done, so it leaves no trace in the
 * output.
 */
#ifndef INS_PROGRESS_H
#define INS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct ins_progress {
	const char *what;
	bool wanted; /* stderr is a terminal */
	bool drawn;
	bool shared;	/* standard output is a terminal too */
	unsigned calls; /* since the last reading of the clock */
	int64_t next;	/* when the next update is due, ns of the monotonic clock */
};

/* what: a constant text before the numbers; may be "". */
void ins_progress_begin(struct ins_progress *progress, const char *what);

/*
 * Show done of total; total 0: unknown. "423,000 of 1,000,000 fibers". Cheap enough to call for
 * every fiber.
 */
void ins_progress_fibers(struct ins_progress *progress, uint64_t done, uint64_t total);

/* Show a number of bytes: "unpacking: 423 MiB". */
void ins_progress_bytes(struct ins_progress *progress, uint64_t done);

/*
 * Call before printing to standard output: removes the progress line if it would be in between.
 * lines: the output ends with a newline; otherwise no progress line is drawn afterwards.
 */
void ins_progress_give_way(struct ins_progress *progress, bool lines);

/* Remove the progress line. */
void ins_progress_end(struct ins_progress *progress);

#endif
