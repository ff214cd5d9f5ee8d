/* SPDX-License-Identifier: MIT */
/*
 * rwlock.c - pthread_rwlock_t between fibers and threads
 *
 * The lock stays the C library's, and threads wait there. A fiber tries, and waits in libfiber's lot
 * if it gets nothing. Each unlock wakes all fibers that wait for the lock, and they try again: who may
 * have it next is the C library's decision.
 *
 * The C library tells a writer's unlock from a reader's by the thread that wrote last. A fiber may
 * unlock on another thread than it locked on. The writer's thread is known then: the one that calls.
 */
#include "threads/rwlock.h"

#include <errno.h>

#include "layout/own_tls.h"
#include "threads/lot.h"
#include "system/native.h"
#include "threads/owner.h"

struct attempt {
	pthread_rwlock_t *lock;
	bool writes;
	int rc;
};

static bool must_wait(void *arg)
{
	struct attempt *a = arg;

	a->rc = a->writes ? pthread_rwlock_trywrlock(a->lock) : pthread_rwlock_tryrdlock(a->lock);
	return a->rc == EBUSY;
}

/* Returns whether it would wait for itself. Fibers that are one thread to the C library are not told apart. */
static bool has_written(const pthread_rwlock_t *lock)
{
	const int number = fiber_own_tls_number();

	return number && __atomic_load_n(&lock->__data.__cur_writer, __ATOMIC_RELAXED) == number;
}

int fpx_rwlock_lock(pthread_rwlock_t *lock, bool writes, int64_t deadline)
{
	struct attempt a = {.lock = lock, .writes = writes};
	const struct fiber_lot_wait wait = {
		.address = lock, .kind = FIB_WAIT_PTHREAD_RWLOCK, .still = must_wait, .arg = &a};
	int rc;

	while (must_wait(&a)) {
		if (has_written(lock))
			return EDEADLK;
		rc = fpx_lot_wait(&wait, deadline);
		if (rc == -EAGAIN)
			break;
		if (rc < 0)
			return -rc;
	}
	return a.rc;
}

int fpx_rwlock_unlock(pthread_rwlock_t *lock)
{
	int rc;

	if (lock->__data.__cur_writer && fpx_fiber())
		lock->__data.__cur_writer = fpx_thread_number();
	rc = fpx_native.pthread_rwlock_unlock(lock);
	/* pairs: lot.meet */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (fpx_lot_occupied())
		fiber_lot_wake(lock, SIZE_MAX);
	return rc;
}
