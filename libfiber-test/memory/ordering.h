/* SPDX-License-Identifier: MIT */
/* ordering.h - which order an atomic access makes, by its memory order */
#ifndef FIB_TEST_ORDERING_H
#define FIB_TEST_ORDERING_H

struct fib_actor;

/* order: __ATOMIC_*. me NULL: no effect. */
void fib_ordering_load(struct fib_actor *me, const volatile void *at, int order);
void fib_ordering_store(struct fib_actor *me, const volatile void *at, int order);
void fib_ordering_update(struct fib_actor *me, const volatile void *at, int order);
void fib_ordering_fence(struct fib_actor *me, int order);

#endif
