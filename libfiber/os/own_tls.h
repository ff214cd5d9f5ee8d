/* SPDX-License-Identifier: MIT */
/*
 * own_tls.h - blocks of thread-locals for fibers
 *
 * A block is what the C library makes for a thread: the thread-locals of all modules, and its own
 * record of the thread behind them. `tp` is the thread pointer that code has while it uses the block.
 */
#ifndef FIB_OS_OWN_TLS_H
#define FIB_OS_OWN_TLS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Find what is needed. home: the thread pointer of the calling thread itself, if it uses another one
 * now, or NULL; also from a signal handler. Returns 0; -ENOTSUP with *ret_why, a sentence without a
 * full stop. By a thread that uses its own block.
 */
int fib_os_own_tls_find(void *(*home)(void), const char **ret_why);

/* After fib_os_own_tls_find(): a block with initial values. 0 and *ret, or -ENOMEM. */
int fib_os_own_tls_take(void **ret);
/* Nothing uses the block any more. A later _take() may return it. */
void fib_os_own_tls_give(void *tp);

/* Called first, and last, by what uses the block. _end runs destructors of C++: it may wait. */
void fib_os_own_tls_begin(void);
void fib_os_own_tls_end(void);

/* The block at tp and what the C library keeps of its user, [low, high). */
void fib_os_own_tls_range(void *tp, const void **ret_low, const void **ret_high);

/* A word for the user of the block; NULL in one that was taken. */
void **fib_os_own_tls_word(void *tp);
/* Whether tp is that of a block that was taken here, not of a thread. */
bool fib_os_own_tls_is(const void *tp);

/* The number in the block that the caller uses, or 0. */
int fib_os_own_tls_number(void);

/* Around fork(). */
void fib_os_own_tls_lock(void);
void fib_os_own_tls_unlock(void);
/* In the child, while the caller still is on its carrier. */
void fib_os_own_tls_forget(void);

#endif
