/* SPDX-License-Identifier: MIT */
/*
 * tsan.c - what gcc and clang call before an access with -fsanitize=thread
 *
 * The names and types are those of the runtime of ThreadSanitizer, in whose place these functions
 * are linked. The calls at the entry and the exit of a function do nothing, so frames that longjmp()
 * or an exception leaves without the exit's call need no care.
 */
#include <stddef.h>

#include "memory/access.h"
#include "memory/shadow.h"

#define HERE   __builtin_return_address(0)
#define PUBLIC __attribute__((visibility("default")))

/* name(at): an access of a fixed size */
#define FIXED(name, size, kind)                   \
	PUBLIC void name(void *at);               \
	PUBLIC void name(void *at)                \
	{                                         \
		fib_access(at, size, kind, HERE); \
	}

/* clang has calls of their own for unaligned and for volatile variables, and for x++. */
#define SIZE(size)                                                            \
	FIXED(__tsan_read##size, size, 0)                                     \
	FIXED(__tsan_write##size, size, FIB_ACCESS_WRITES)                    \
	FIXED(__tsan_unaligned_read##size, size, 0)                           \
	FIXED(__tsan_unaligned_write##size, size, FIB_ACCESS_WRITES)          \
	FIXED(__tsan_volatile_read##size, size, 0)                            \
	FIXED(__tsan_volatile_write##size, size, FIB_ACCESS_WRITES)           \
	FIXED(__tsan_unaligned_volatile_read##size, size, 0)                  \
	FIXED(__tsan_unaligned_volatile_write##size, size, FIB_ACCESS_WRITES) \
	FIXED(__tsan_read_write##size, size, FIB_ACCESS_WRITES)               \
	FIXED(__tsan_unaligned_read_write##size, size, FIB_ACCESS_WRITES)

SIZE(1)
SIZE(2)
SIZE(4)
SIZE(8)
SIZE(16)

PUBLIC void __tsan_init(void);
PUBLIC void __tsan_init(void)
{
}

PUBLIC void __tsan_func_entry(void *caller);
PUBLIC void __tsan_func_entry(void *caller)
{
	(void)caller;
}

/* The others have other names in C, because gcc knows theirs with types of its own. */
PUBLIC void fib_tsan_func_exit(void) __asm__("__tsan_func_exit");
PUBLIC void fib_tsan_func_exit(void)
{
}

PUBLIC void __tsan_ignore_thread_begin(void);
PUBLIC void __tsan_ignore_thread_begin(void)
{
}

PUBLIC void __tsan_ignore_thread_end(void);
PUBLIC void __tsan_ignore_thread_end(void)
{
}

PUBLIC void fib_tsan_read_range(void *at, size_t size) __asm__("__tsan_read_range");
PUBLIC void fib_tsan_read_range(void *at, size_t size)
{
	fib_access(at, size, 0, HERE);
}

PUBLIC void fib_tsan_write_range(void *at, size_t size) __asm__("__tsan_write_range");
PUBLIC void fib_tsan_write_range(void *at, size_t size)
{
	fib_access(at, size, FIB_ACCESS_WRITES, HERE);
}

PUBLIC void __tsan_vptr_read(void **at);
PUBLIC void __tsan_vptr_read(void **at)
{
	fib_access(at, sizeof *at, 0, HERE);
}

/* A destructor writes the value that is there already; then it is no access. */
PUBLIC void __tsan_vptr_update(void *at, void *value);
PUBLIC void __tsan_vptr_update(void *at, void *value)
{
	if (*(void **)at != value)
		fib_access(at, sizeof value, FIB_ACCESS_WRITES, HERE);
}
