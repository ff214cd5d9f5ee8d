/* SPDX-License-Identifier: MIT */
/*
 * thread.h - a thread that is a fiber
 *
 * Its pthread_t is the address of the fiber's block of thread-locals, as that of a thread is of the
 * thread's. So all in the C library that asks for the caller needs nothing from here.
 *
 * The pthread_t of a fiber without such a block is the address of its record. Records stay mapped, so
 * no thread's is among them.
 */
#ifndef FPX_THREADS_THREAD_H
#define FPX_THREADS_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <fiber/fiber.h>
#include <fiber/runtime.h>

#include "threads/signals.h"

/*
 * Set in a fiber that has thread-locals of its own, as all threads that are fibers have. Initial-exec:
 * the library is never loaded later than the program.
 */
extern __thread bool fpx_own_tls __attribute__((tls_model("initial-exec")));

/* Let pthread_create() make fibers in this runtime from now on; NULL: threads. */
void fpx_thread_adopt(struct fiber_runtime *rt, size_t stack_size);
bool fpx_thread_adopts(void);

/* Whether the pthread_t is that of a fiber. */
bool fpx_thread_is(pthread_t thread);

/* As pthread_create(3) and the others; for a fiber. */
int fpx_thread_create(pthread_t *ret, const pthread_attr_t *attr, void *(*start)(void *),
		      void *arg);
int fpx_thread_join(pthread_t thread, void **ret, int64_t deadline);
int fpx_thread_detach(pthread_t thread);
_Noreturn void fpx_thread_exit(void *value);
int fpx_thread_cancel(pthread_t thread);

/* pthread_getattr_np(3): its stack, and whether it is detached. */
int fpx_thread_attributes(pthread_t thread, pthread_attr_t *ret);

/* The fiber; NULL: it has ended, or was not made here, has a block and is not the caller. */
struct fiber *fpx_thread_fiber(pthread_t thread);
/* NULL: it was not made here. */
struct fpx_mask *fpx_thread_mask_of(pthread_t thread);

/* pthread_self(3) of a fiber. */
pthread_t fpx_thread_of_fiber(struct fiber *self);

/* -- of the caller; where it is no thread that was made here they do nothing -- */

/* Whether the caller is a fiber with thread-locals of its own, which fpx_thread_exit() can end. */
bool fpx_thread_can_exit(void);
/* The caller's mask, or NULL. */
struct fpx_mask *fpx_thread_mask(void);
/* The mask that a child process of the caller must have: the carrier's blocks all. */
void fpx_child_mask(sigset_t *ret);
/* pthread_setcancelstate(3). */
int fpx_thread_cancel_state(int state, int *before);
/* End the caller if it was cancelled, and is not protected against it. */
void fpx_thread_test_cancel(void);
/*
 * Whether the caller is a thread whose wait a cancellation or a signal may end. False in one that was
 * cancelled as a fiber alone, by fiberctl(1): its waits would all end, and it does not.
 */
bool fpx_thread_can_stop(void);

#endif
