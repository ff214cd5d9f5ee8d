/* SPDX-License-Identifier: MIT */
/*
 * readers.h - the clients that are reading an answer, and what they may hold
 *
 * An answer of megabytes exists until its last reader has it. So clients that read nothing would fill
 * the memory. If all answers together are too large, the clients that have read for the longest time
 * lose their connections.
 */
#ifndef SERVE_READERS_H
#define SERVE_READERS_H

#include "fiberctl/serve/answer.h"

struct serve_reader {
	struct MHD_Connection *connection;
	struct serve_answer *answer;
	bool reads; /* it is in the list; its neighbours are ... */
	struct serve_reader *before, *next;
};

/* Empty when zeroed. The longest reader is the first. */
struct serve_readers {
	struct serve_reader *first, *last;
};

/* An answer, which the reader has and which stays valid, begins to be sent. */
void serve_readers_add(struct serve_readers *readers, struct serve_reader *reader);

/* The connection is done with it. Nothing if it does not read. */
void serve_readers_remove(struct serve_readers *readers, struct serve_reader *reader);

/* End connections until the answers that remain are small enough. */
void serve_readers_bound(struct serve_readers *readers);

#endif
