/* SPDX-License-Identifier: MIT */
/* network.h - requests that arrive at connections, at random, in virtual time */
#ifndef BENCH_MODEL_NETWORK_H
#define BENCH_MODEL_NETWORK_H

#include <stdint.h>

/*
 * From `from` on (ns) requests arrive at each of n connections, every `mean` ns in the mean, until
 * `requests` have arrived at all. The poller of the model reports each, with tokens[i] for
 * connection i.
 */
void fib_network_begin(unsigned n, void *const *tokens, int64_t from, int64_t mean, long requests);

/*
 * Take the oldest request of a connection. Returns the time of its arrival in ns, or -1 if none has
 * been reported that was not taken,
 * or before fib_network_begin(). Takes no time: a work counts it as part of an answer.
 */
int64_t fib_network_take(unsigned connection);

/* Count a connection. fib_network_opened() returns how many there are. Takes no time. */
void fib_network_open(void);
unsigned fib_network_opened(void);

/* Count an answer. Returns how many there are. Takes no time. */
long fib_network_answer(void);

#endif
