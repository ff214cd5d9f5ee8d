/* SPDX-License-Identifier: MIT */
/*
 * choice.h - no choices: the library of production
 *
 * A public call names here, before it does anything, what it is about to do. libfiber-test compiles
 * the same sources with a choice.h of its own, in which another fiber may run first. Here nothing
 * is left in the machine code.
 */
#ifndef FIB_BASE_CHOICE_H
#define FIB_BASE_CHOICE_H

/* The calling fiber is about to use object, a pointer, by the public function that contains this line. */
#define fib_choice(object) ((void)sizeof(object))

/* The same for a descriptor, and for the end of a fiber that runs fn. */
#define fib_choice_fd(fd)   ((void)sizeof(fd))
#define fib_choice_exit(fn) ((void)sizeof(fn))

/*
 * To be first in a public function that is made of others: these are part of the same call of the
 * program.
 */
#define fib_choice_within() ((void)0)

/* One of n equally good alternatives, 0..n-1; otherwise: the expression that production uses. */
#define fib_choice_of(n, what, otherwise) ((void)sizeof(n), (void)sizeof(what), (otherwise))

#endif
