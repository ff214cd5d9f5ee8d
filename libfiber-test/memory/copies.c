/* SPDX-License-Identifier: MIT */
/*
 * copies.c - memcpy() and the like of the program, in place of the C library's
 *
 * The compilers do not announce what memcpy(), memmove() and memset() touch; ThreadSanitizer
 * replaces these functions, and so does this file. Calls that are not made by the program's own
 * file, but by a shared library, are one step like the rest of the library. libfiber's own calls
 * never come here: their names are changed when libfiber-test-memory.a is made (explore.mk).
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "memory/access.h"
#include "memory/plain.h"
#include "memory/shadow.h"

#define HERE   __builtin_return_address(0)
#define PUBLIC __attribute__((visibility("default")))

/* The code of the program's file. */
extern const char __executable_start[], etext[];

static void touched(const void *at, size_t size, unsigned kind, const void *pc)
{
	const uintptr_t from = (uintptr_t)pc - (uintptr_t)__executable_start;

	if (size && from < (uintptr_t)etext - (uintptr_t)__executable_start)
		fib_access(at, size, kind, pc);
}

static inline void *copy(void *to, const void *from, size_t size, const void *pc)
{
	touched(from, size, 0, pc);
	touched(to, size, FIB_ACCESS_WRITES, pc);
	return fib_plain_memmove(to, from, size);
}

static inline void *fill(void *at, int value, size_t size, const void *pc)
{
	touched(at, size, FIB_ACCESS_WRITES, pc);
	return fib_plain_memset(at, value, size);
}

static inline int compare(const void *a, const void *b, size_t size, const void *pc)
{
	touched(a, size, 0, pc);
	touched(b, size, 0, pc);
	return fib_plain_memcmp(a, b, size);
}

PUBLIC void *memcpy(void *to, const void *from, size_t size)
{
	return copy(to, from, size, HERE);
}

PUBLIC void *memmove(void *to, const void *from, size_t size)
{
	return copy(to, from, size, HERE);
}

PUBLIC void *memset(void *at, int value, size_t size)
{
	return fill(at, value, size, HERE);
}

PUBLIC int memcmp(const void *a, const void *b, size_t size)
{
	return compare(a, b, size, HERE);
}

/* clang calls it where memcmp() is asked for equality only. */
PUBLIC int bcmp(const void *a, const void *b, size_t size)
{
	return compare(a, b, size, HERE);
}

/* What clang calls for assignments of structures. */
PUBLIC void *__tsan_memcpy(void *to, const void *from, size_t size);
PUBLIC void *__tsan_memcpy(void *to, const void *from, size_t size)
{
	return copy(to, from, size, HERE);
}

PUBLIC void *__tsan_memmove(void *to, const void *from, size_t size);
PUBLIC void *__tsan_memmove(void *to, const void *from, size_t size)
{
	return copy(to, from, size, HERE);
}

PUBLIC void *__tsan_memset(void *at, int value, size_t size);
PUBLIC void *__tsan_memset(void *at, int value, size_t size)
{
	return fill(at, value, size, HERE);
}

/* With _FORTIFY_SOURCE. */
PUBLIC void *__memcpy_chk(void *to, const void *from, size_t size, size_t room);
PUBLIC void *__memcpy_chk(void *to, const void *from, size_t size, size_t room)
{
	if (size > room)
		__builtin_trap();
	return copy(to, from, size, HERE);
}

PUBLIC void *__memmove_chk(void *to, const void *from, size_t size, size_t room);
PUBLIC void *__memmove_chk(void *to, const void *from, size_t size, size_t room)
{
	if (size > room)
		__builtin_trap();
	return copy(to, from, size, HERE);
}

PUBLIC void *__memset_chk(void *at, int value, size_t size, size_t room);
PUBLIC void *__memset_chk(void *at, int value, size_t size, size_t room)
{
	if (size > room)
		__builtin_trap();
	return fill(at, value, size, HERE);
}
