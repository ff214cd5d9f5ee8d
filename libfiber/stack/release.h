/* SPDX-License-Identifier: MIT */
/* release.h - give back all memory of the free stacks of a class */
#ifndef FIB_STACK_RELEASE_H
#define FIB_STACK_RELEASE_H

#include "stack/class.h"

/*
 * Drop the pages of all free stacks of c, and the page tables of those that are not promised.
 * Takes the lock itself, for a short time each. Returns the bytes of the pages that were resident.
 */
size_t fib_class_release(struct fib_stack_class *c);

#endif
