/* SPDX-License-Identifier: MIT */
/* answer.h - the frames that several commands send */
#ifndef FIB_SERVICE_ANSWER_H
#define FIB_SERVICE_ANSWER_H

#include "service/peer.h"

/* Set the name of this process and its mode. Called once, before the thread starts. */
void fib_answer_introduce(const char *name, enum fib_wire_mode mode);
enum fib_wire_mode fib_answer_mode(void);
int64_t fib_answer_began(void); /* time of fib_answer_introduce(): ns */

/* Append the PROCESS frame. */
void fib_answer_process(struct fib_peer *peer, int64_t now);
void fib_answer_layout(struct fib_peer *peer);
/*
 * A call returned rc, so that something is missing (`lacks`). If rc means that a sandbox refused
 * the call, this is reported at the end of the answer; only the first such case.
 */
void fib_answer_refused(struct fib_peer *peer, int rc, const char *call, const char *lacks);

void fib_answer_end(struct fib_peer *peer);

/*
 * Append a piece of PROCESS, LAYOUT and MAPS, the start of an answer about fibers. True: all is
 * appended.
 */
bool fib_answer_preface(struct fib_peer *peer, int64_t now);

#endif
