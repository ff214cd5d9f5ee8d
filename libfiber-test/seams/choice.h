/* SPDX-License-Identifier: MIT */
/* choice.h - before each public call another fiber may run: the library under test */
#ifndef FIB_BASE_CHOICE_H
#define FIB_BASE_CHOICE_H

#include "base/compiler.h"

/*
 * The calling fiber is about to use object by the public function `call`, which the program called
 * at `at`. Any runnable fiber may run before this returns. Outside a schedule: no effect.
 */
void fib_explore_before(const char *call, const void *object, const void *at);

/* One of n alternatives, chosen by the strategy. Outside a schedule: 0. */
unsigned fib_explore_pick(unsigned n, const char *what);

#define fib_choice(object)		  fib_explore_before(__func__, (object), __builtin_return_address(0))
#define fib_choice_of(n, what, otherwise) fib_explore_pick((n), (what))

#endif
