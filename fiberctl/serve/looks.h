/* SPDX-License-Identifier: MIT */
/*
 * looks.h - repeated looks at one program, for any number of viewers
 *
 * Each viewer has a question: `top` with a condition, an order, a group and a limit. One look at
 * the program serves all questions of a turn.
 */
#ifndef SERVE_LOOKS_H
#define SERVE_LOOKS_H

#include <stdint.h>

#include "tool/socket.h"

struct serve_looks;

/* NULL: no memory. */
struct serve_looks *serve_looks_new(const struct tool_socket *socket);

/* Begin a turn; then name each of its questions; then put their answers. */
void serve_looks_begin(struct serve_looks *looks);
void serve_looks_want(struct serve_looks *looks, const char *question);

/* Print the answer to a question that was named; the first one looks. Returns the exit code. */
int serve_looks_put(struct serve_looks *looks, const char *question);

/* A recent verdict, which perhaps takes a look. */
const char *serve_looks_verdict(struct serve_looks *looks);

/* ns of CPU time for verdicts in this turn. */
int64_t serve_looks_judged(const struct serve_looks *looks);

/* The totals of the last look as JSON, for the history; allocated. NULL: no memory. */
char *serve_looks_totals(const struct serve_looks *looks);

#endif
