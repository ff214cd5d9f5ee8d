/* SPDX-License-Identifier: MIT */
/*
 * private.h - global variables that one fiber alone uses
 *
 * An access is a choice if other fibers use the variable too. For the first fiber that touches a
 * variable, that is known only later. So before a test is explored, one schedule is run to learn
 * it: the one without deviations, which is the same in every process. A variable that one fiber
 * alone touched in it is private, all others are shared. The table is memory that processes share.
 *
 * Only the data of modules is learnt. Other memory has no address that stays from one schedule to
 * the next; the fiber that allocated it, or whose stack it is, counts as the first that touched it.
 */
#ifndef FIB_TEST_PRIVATE_H
#define FIB_TEST_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

/* Start to learn with an empty table. Stop. */
void fib_private_learn_begin(void);
void fib_private_learn_end(void);
bool fib_private_learning(void);

/* While learning: a fiber touches the variable at `at`, the first one (again) or another one. */
void fib_private_note(uintptr_t at, bool first);

/* Whether it is private. */
bool fib_private_has(uintptr_t at);

/* A second fiber touched a variable: if it was taken for private, choices were left out. */
void fib_private_contradict(uintptr_t at);
bool fib_private_contradicted(void);

/* Whether `at` is in memory that each thread has for itself. */
bool fib_private_of_thread(uintptr_t at);

#endif
