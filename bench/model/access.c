/* SPDX-License-Identifier: MIT */
/*
 * access.c - accesses of libfiber and of the works to memory, which take virtual time
 *
 * They are compiled with -fsanitize=thread. The functions that the compiler calls are those of
 * libfiber-test (memory/tsan.c, memory/atomics.c); they call the functions here.
 */
#include "memory/access.h"

#include <string.h>

#include "bench/model/lines.h"
#include "memory/ordering.h"
#include "memory/shadow.h"

void fib_access(const void *at, size_t size, unsigned kind, const void *pc)
{
	fib_lines_touch(at, size, kind & FIB_ACCESS_WRITES ? FIB_LINE_WRITE : FIB_LINE_READ, pc);
}

/* what: "atomic_load" ... */
struct fib_actor *fib_access_choose(const void *at, size_t size, const char *what, const void *pc)
{
	const char operation = what[sizeof "atomic_" - 1];

	if (size)
		fib_lines_touch(at, size,
				operation == 'l'   ? FIB_LINE_READ
				: operation == 's' ? FIB_LINE_WRITE
						   : FIB_LINE_LOCKED,
				pc);
	return NULL;
}

struct fib_actor *fib_access_atomic(struct fib_actor *me, const void *at, size_t size, bool writes,
				    const void *pc)
{
	(void)at;
	(void)size;
	(void)writes;
	(void)pc;
	return me;
}

void fib_ordering_load(struct fib_actor *me, const volatile void *at, int order)
{
	(void)me;
	(void)at;
	(void)order;
}

/* Such a store is an exchange on x86. */
void fib_ordering_store(struct fib_actor *me, const volatile void *at, int order)
{
	(void)me;
	(void)at;
	if (order == __ATOMIC_SEQ_CST)
		fib_lines_fence();
}

void fib_ordering_update(struct fib_actor *me, const volatile void *at, int order)
{
	(void)me;
	(void)at;
	(void)order;
}

void fib_ordering_fence(struct fib_actor *me, int order)
{
	(void)me;
	if (order == __ATOMIC_SEQ_CST)
		fib_lines_fence();
}

/* -- in place of the C library's, which the compiler does not see into -- */

#define HERE __builtin_return_address(0)

void *fib_model_memcpy(void *to, const void *from, size_t size);
void *fib_model_memmove(void *to, const void *from, size_t size);
void *fib_model_memset(void *at, int value, size_t size);

void *fib_model_memcpy(void *to, const void *from, size_t size)
{
	fib_lines_touch(from, size, FIB_LINE_READ, HERE);
	fib_lines_touch(to, size, FIB_LINE_WRITE, HERE);
	return memcpy(to, from, size);
}

void *fib_model_memmove(void *to, const void *from, size_t size)
{
	fib_lines_touch(from, size, FIB_LINE_READ, HERE);
	fib_lines_touch(to, size, FIB_LINE_WRITE, HERE);
	return memmove(to, from, size);
}

void *fib_model_memset(void *at, int value, size_t size)
{
	fib_lines_touch(at, size, FIB_LINE_WRITE, HERE);
	return memset(at, value, size);
}
