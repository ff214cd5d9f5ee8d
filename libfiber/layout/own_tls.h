/* SPDX-License-Identifier: MIT */
/*
 * own_tls.h - what libfiber-posix needs of fibers that have thread-locals of their own
 *
 * Not in the installed headers. The functions are exported because libfiber-posix is a library of
 * its own. `block` is a fiber's pthread_t: the address of its block of thread-locals.
 */
#ifndef FIB_LAYOUT_OWN_TLS_H
#define FIB_LAYOUT_OWN_TLS_H

#include <stdbool.h>
#include <stddef.h>

#include <fiber/fiber.h>

/* The distance from the thread pointer to a word that is 0 in each thread that is no carrier. The same
 * in all threads. Where a port has no thread pointer it means nothing. */
FIBER_API ptrdiff_t fiber_carrier_word(void);

/* Whether fibers can have FIBER_OWN_TLS: 0, or -ENOTSUP and *ret_why, a sentence without a full stop.
 * By a plain thread, or a fiber without. */
FIBER_API int fiber_own_tls_check(const char **ret_why);

/* The block of a fiber that has not begun to end, or NULL. */
FIBER_API void *fiber_own_tls(const struct fiber *fiber);

/* Whether a pthread_t is a fiber's block. */
FIBER_API bool fiber_own_tls_is(const void *block);

/* The number that the C library takes for the caller's thread in its block; 0: the caller has none. */
FIBER_API int fiber_own_tls_number(void);

/*
 * A word in the block. A fiber that ends while it is not NULL keeps its block: then the one who has
 * set it calls fiber_own_tls_give(), once the fiber was joined.
 */
FIBER_API void **fiber_own_tls_word(void *block);
FIBER_API void fiber_own_tls_give(void *block);

/*
 * End the current wait of a fiber that has not ended, as fiber_cancel() does, but only that one: it
 * returns -ECANCELED, and the fiber is not cancelled. only_if: NULL, or a flag that the fiber sets
 * before waits that may be ended, and clears after them; no other wait is ended.
 */
FIBER_API void fiber_own_tls_interrupt(struct fiber *fiber, const bool *only_if);

/* Run the destructors of C++ thread_local objects of the calling fiber. It may wait. */
FIBER_API void fiber_own_tls_finish(void);

/* Fibers with FIBER_OWN_TLS begin with main(fn, arg), which calls fn(arg). Before the first of them. */
FIBER_API void fiber_own_tls_set_main(void *(*main)(fiber_fn *fn, void *arg));

#endif
