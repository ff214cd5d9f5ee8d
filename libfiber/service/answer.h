/* SPDX-License-Identifier: MIT */
/* answer.h - the frames that the answers to several commands share. */
#ifndef FIB_SERVICE_ANSWER_H
#define FIB_SERVICE_ANSWER_H

#include "service/peer.h"

/* What this process is called and what it allows; once, before the thread starts. */
void fib_answer_introduce(const char *name, enum fib_wire_mode mode);
enum fib_wire_mode fib_answer_mode(void);
int64_t fib_answer_began(void); /* when that was said: ns */

/* Append the frame. */
void fib_answer_process(struct fib_peer *peer, int64_t now);
void fib_answer_layout(struct fib_peer *peer);
/* Something is not known because of rc, which call returned: said at the end of the answer where rc says that a sandbox refuses the
 * call; the first such thing. */
void fib_answer_refused(struct fib_peer *peer, int rc, const char *call, const char *lacks);

void fib_answer_end(struct fib_peer *peer);

/* The first pieces of an answer about fibers: PROCESS, LAYOUT, MAPS. True when all have been
 * appended, and then every time. */
bool fib_answer_preface(struct fib_peer *peer, int64_t now);

#endif
