/* SPDX-License-Identifier: MIT */
/* operation.h - operations of the kernel that the library does itself: the library under test */
#ifndef FIB_BASE_OPERATION_H
#define FIB_BASE_OPERATION_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether the operation in entry, FIB_RING_ENTRY bytes, names an internet socket of the schedule or
 * makes one. Then it was performed for the calling fiber, and *ret is what fiber_op_await() returns.
 * An operation that the library cannot do is a finding.
 */
bool fib_operation_await(const void *entry, int64_t deadline, int *ret);

/* The same without a fiber that waits: such an operation is a finding. */
void fib_operation_detach(const void *entry);

#endif
