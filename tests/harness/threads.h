/* SPDX-License-Identifier: MIT */
/* threads.h - the threads of this process, by their names. */
#ifndef HARNESS_THREADS_H
#define HARNESS_THREADS_H

/*
 * How many threads of this process are called that. Who gives itself a name has begun: a test that forks beside a thread that
 * has not may leave its child a lock that nobody gives back (watchdog.c).
 */
unsigned harness_threads_called(const char *name);

#endif
