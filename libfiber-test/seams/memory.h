/* SPDX-License-Identifier: MIT */
/*
 * memory.h - what an exploration asks of the side that sees memory
 *
 * libfiber-test-memory sees the accesses of objects that were compiled with -fsanitize=thread. The
 * functions are in its folder memory/; those of libfiber-test, in memory/none/, do nothing.
 */
#ifndef FIB_TEST_MEMORY_H
#define FIB_TEST_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

struct fiber;

/* A schedule starts; look for data races in it or not. It has ended. */
void fib_memory_begin(bool races);
void fib_memory_end(void);

/*
 * The next schedule, in a forked process, is run to learn which variables one fiber alone uses.
 * Returns false if nothing is to be learnt. end: schedules use what was learnt.
 */
bool fib_memory_learn_begin(void);
void fib_memory_learn_end(void);

/* Whether every schedule so far made a choice at each access to memory that fibers share. */
bool fib_memory_complete(void);

/* Write the two accesses of the race that was found; "" if there is none. */
void fib_memory_report(char *buf, size_t size);

/* The calling thread, which is no fiber, does what the fiber asked for; NULL: no more. */
void fib_memory_on_behalf_of(const struct fiber *fiber);

#endif
