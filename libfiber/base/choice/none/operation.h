/* SPDX-License-Identifier: MIT */
/*
 * operation.h - operations of the kernel are the kernel's: the library of production
 *
 * In libfiber-test internet sockets are in the process, and the kernel cannot do what an operation
 * asks of one. There a header of this name lets the library do it. Here nothing is left in the
 * machine code.
 */
#ifndef FIB_BASE_OPERATION_H
#define FIB_BASE_OPERATION_H

/* Whether the operation in entry was performed for the calling fiber. Its result is then in *ret. */
#define fib_operation_await(entry, deadline, ret) \
	((void)sizeof(entry), (void)sizeof(deadline), (void)sizeof(ret), false)

/* The operation in entry starts, and no fiber waits for it. */
#define fib_operation_detach(entry) ((void)sizeof(entry))

#endif
