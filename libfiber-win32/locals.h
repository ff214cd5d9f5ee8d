/* SPDX-License-Identifier: MIT */
/* locals.h - fiber-local values: indexes, and the values of one fiber or plain thread */
#ifndef FIB_WIN32_LOCALS_H
#define FIB_WIN32_LOCALS_H

#include <stdbool.h>
#include <stdint.h>

#include <fiber/win32.h>

/* The values of one fiber or thread. NULL: it has never stored one. Only the thread that runs the
 * fiber sets them; other threads take values out when they free an index. */
struct fib_win32_locals;

/* FlsAlloc() and FlsFree(), without the thread's error: an index, 0 when there is none left; and
 * whether the index was allocated. */
uint32_t fib_win32_index_alloc(PFLS_CALLBACK_FUNCTION callback);
bool fib_win32_index_free(uint32_t index);

/* Whether values can be stored at the index, allocated or not. */
bool fib_win32_index_valid(uint32_t index);

/* The value at a valid index. */
void *fib_win32_locals_get(struct fib_win32_locals *locals, uint32_t index);

/* Store a value at a valid index, and make *locals if it is NULL. Returns 0 or -ENOMEM. */
int fib_win32_locals_set(struct fib_win32_locals **locals, uint32_t index, void *value);

/* Call the callbacks for all values, each of which is NULL before the call. A callback may store
 * values again: they are not looked at. */
void fib_win32_locals_finish(struct fib_win32_locals *locals);

/* Release them. NULL is allowed. No callback is called. */
void fib_win32_locals_free(struct fib_win32_locals *locals);

#endif
