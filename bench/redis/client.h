/* SPDX-License-Identifier: MIT */
/* client.h - clients of a redis server, each in what the program makes of start() */
#ifndef BENCH_REDIS_CLIENT_H
#define BENCH_REDIS_CLIENT_H

/* Run fn(arg) `count` times at once, and return when all have returned. */
void start(void *(*fn)(void *), void *arg, long count);

/*
 * PROGRAM SOCKET CLIENTS ROUNDS: a round of a client is two requests. Prints "cpu NS", of each request.
 * The body of main(), or of the first fiber. Returns the exit status.
 */
int run_clients(int argc, char **argv);

#endif
