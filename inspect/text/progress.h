/* SPDX-License-Identifier: MIT */
/*
 * progress.h - how far something long is, for whoever looks at the terminal
 *
 * One line on stderr that is written over itself, when that is a terminal and a second has passed; at most two a second.
 * It is gone when the work is done, so that what is printed looks as if it had never been there.
 */
#ifndef INS_PROGRESS_H
#define INS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct ins_progress {
	const char *what;
	bool wanted; /* stderr is a terminal */
	bool drawn;
	bool shared;	/* so is standard output */
	unsigned calls; /* since the clock was read */
	int64_t next;	/* when the next line is due, ns of the monotonic clock */
};

/* what: a constant text, before the numbers; may be "". */
void ins_progress_begin(struct ins_progress *progress, const char *what);

/* So many of total, 0: of nobody knows how many; "423,000 of 1,000,000 fibers". Costs next to nothing. */
void ins_progress_fibers(struct ins_progress *progress, uint64_t done, uint64_t total);

/* So many bytes: "unpacking: 423 MiB". */
void ins_progress_bytes(struct ins_progress *progress, uint64_t done);

/*
 * Something is about to be printed on standard output: the line goes, where it would be in between. lines: what is printed ends with its
 * line; else no other is drawn.
 */
void ins_progress_give_way(struct ins_progress *progress, bool lines);

/* Take the line away. */
void ins_progress_end(struct ins_progress *progress);

#endif
