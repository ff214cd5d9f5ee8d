/* SPDX-License-Identifier: MIT */
/* interrupt.h - end an exploration early, at SIGINT or SIGTERM */
#ifndef FIB_TEST_INTERRUPT_H
#define FIB_TEST_INTERRUPT_H

/* From now on these signals end explorations, and no longer this process. */
void fib_interrupt_enable(void);

/* The signal that arrived; 0: none. */
int fib_interrupted(void);

/*
 * In a child: a terminal sends SIGINT to it too, but its parent decides. No effect unless enabled.
 */
void fib_interrupt_ignore(void);

#endif
