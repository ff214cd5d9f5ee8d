/* SPDX-License-Identifier: MIT */
/* choice.h - before each public call another fiber may run: the library under test */
#ifndef FIB_BASE_CHOICE_H
#define FIB_BASE_CHOICE_H

#include <stdint.h>

#include "base/compiler.h"

#define FIB_DESCRIPTOR_OBJECTS 65535

/*
 * The calling fiber is about to use object by the public function `call`, which the program called
 * at `at`. Any runnable fiber may run before this returns. Outside a schedule: no effect.
 */
void fib_explore_before(const char *call, const void *object, const void *at);

/*
 * A descriptor as an object: an address that no object has. fib_descriptor_of_object() is the
 * descriptor, -1 for other objects.
 */
static inline const void *fib_object_of_descriptor(int fd)
{
	return fd >= 0 && fd < FIB_DESCRIPTOR_OBJECTS ? (const void *)(uintptr_t)(fd + 1) : NULL;
}

static inline int fib_descriptor_of_object(const void *object)
{
	return (uintptr_t)object <= FIB_DESCRIPTOR_OBJECTS ? (int)(uintptr_t)object - 1 : -1;
}

/*
 * Until the calling fiber leaves the function, its public calls are part of a call of the program,
 * which returns to `at`. Returns what fib_explore_leave() is given at the end.
 */
const void *fib_explore_enter(const void *at);
void fib_explore_leave(const void **entered);

/* One of n alternatives, chosen by the strategy. Outside a schedule: 0. */
unsigned fib_explore_pick(unsigned n, const char *what);

#define fib_choice(object)  fib_explore_before(__func__, (object), __builtin_return_address(0))
#define fib_choice_fd(fd)   fib_choice(fib_object_of_descriptor(fd))
#define fib_choice_exit(fn) fib_explore_before("exit", NULL, (const char *)(uintptr_t)(fn) + 1)
#define fib_choice_within()                                                      \
	__attribute__((cleanup(fib_explore_leave), unused)) const void *within = \
		fib_explore_enter(__builtin_return_address(0))
#define fib_choice_of(n, what, otherwise) fib_explore_pick((n), (what))

#endif
