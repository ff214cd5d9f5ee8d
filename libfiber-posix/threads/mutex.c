/* SPDX-License-Identifier: MIT */
/*
 * mutex.c - pthread_mutex_t between fibers and threads
 *
 * The C library's mutex records the thread that has it. Two fibers of a carrier are one thread, and one
 * that blocks stops the other, perhaps the one that has the mutex. So this library locks in the
 * object itself, for threads too. It keeps to the C library's format (glibc, nptl/lowlevellock.h):
 * __lock is 0, 1 (taken), or 2 (taken, and somebody may wait). This is the mutex "mutex2" of
 * U. Drepper, "Futexes Are Tricky". Code that calls the C library directly is understood, and
 * debuggers show what they always do.
 *
 * A thread's __owner is its number, a fiber's is a mark (owner.h). The list of robust mutexes is
 * unused in others: its first word has the exact owner, for the tools (FIB_WAIT_PTHREAD_MUTEX).
 *
 * Waiters sleep in libfiber's lot. Code that does not call this library sleeps on __lock with
 * futex(2), and is woken if the lot has no waiter of the mutex. Who is woken tries again, and marks
 * the mutex with 2, because others may wait. So the next unlock wakes the next one.
 *
 * Who unlocks and locks again at once is faster than the one that is woken. If a wait has lasted for
 * PATIENCE, the next unlock hands the mutex to the first waiter instead: the word stays as it is.
 * Waits that last for long are counted for all mutexes of a hash. (Go's sync.Mutex does this after the
 * same time.)
 *
 * The next owner may free the mutex while the previous one still wakes. The previous one uses the
 * address only.
 */
#include "threads/mutex.h"

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fiber/time.h>

#include "threads/hash.h"
#include "threads/lot.h"
#include "system/system.h"
#include "threads/owner.h"

_Static_assert(offsetof(pthread_mutex_t, __data.__list) == FIB_LAYOUT_PTHREAD_OWNER,
	       "the tools read it");

/* A thread's number is exact, and the C library does not record more. */
static bool has(pthread_mutex_t *mutex, const struct fpx_owner *me)
{
	return __atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED) == me->short_id &&
	       (me->id & FIB_HOLDER_THREAD ||
		__atomic_load_n(fpx_mutex_id(mutex), __ATOMIC_RELAXED) == me->id);
}

static int kind_of(const pthread_mutex_t *mutex)
{
	return mutex->__data.__kind & 3;
}

static bool is_checked(const pthread_mutex_t *mutex)
{
	return kind_of(mutex) == PTHREAD_MUTEX_RECURSIVE ||
	       kind_of(mutex) == PTHREAD_MUTEX_ERRORCHECK;
}

/* What the caller's own lock of the mutex means to another one; -1: it has none, or that is not seen. */
static int lock_again(pthread_mutex_t *mutex, const struct fpx_owner *me, bool tries)
{
	const int kind = kind_of(mutex);

	if (!is_checked(mutex) || !has(mutex, me))
		return -1;
	if (kind == PTHREAD_MUTEX_ERRORCHECK)
		return tries ? EBUSY : EDEADLK;
	if (mutex->__data.__count + 1 == 0)
		return EAGAIN;
	mutex->__data.__count++;
	return 0;
}

static void own(pthread_mutex_t *mutex, const struct fpx_owner *me)
{
	mutex->__data.__count = kind_of(mutex) == PTHREAD_MUTEX_RECURSIVE;
	fpx_mutex_own(mutex, me);
}

/* Take it, or mark it. Returns whether the caller must wait. */
static bool must_wait(void *arg)
{
	pthread_mutex_t *mutex = arg;

	return __atomic_exchange_n(&mutex->__data.__lock, FPX_MUTEX_WAITED, __ATOMIC_SEQ_CST) !=
	       FPX_MUTEX_FREE;
}

/* -- waits that last for long -- */

#define PATIENCE    INT64_C(1000000) /* ns */
#define COUNTS_LOG2 6u

unsigned fpx_mutex_starving;
static unsigned starving[1u << COUNTS_LOG2]; /* A, by a hash of the mutex */

static unsigned *starving_for(const pthread_mutex_t *mutex)
{
	return &starving[fpx_hash(mutex, COUNTS_LOG2)];
}

static void starve(pthread_mutex_t *mutex, unsigned by)
{
	__atomic_fetch_add(starving_for(mutex), by, __ATOMIC_RELAXED);
	__atomic_fetch_add(&fpx_mutex_starving, by, __ATOMIC_RELAXED);
}

/* The waits of the parent are not in a child. */
static void forget(void)
{
	memset(starving, 0, sizeof starving);
	fpx_mutex_starving = 0;
}

__attribute__((constructor(102))) static void start(void)
{
	pthread_atfork(NULL, NULL, forget);
}

__attribute__((noinline)) bool fpx_mutex_hand(pthread_mutex_t *mutex)
{
	if (!__atomic_load_n(starving_for(mutex), __ATOMIC_RELAXED))
		return false;
	/* Others may wait behind the next owner. */
	__atomic_store_n(&mutex->__data.__lock, FPX_MUTEX_WAITED, __ATOMIC_RELEASE);
	return fiber_lot_hand(mutex);
}

static __attribute__((noinline)) int take_contended(pthread_mutex_t *mutex, int64_t deadline)
{
	const int64_t patient = fiber_after(PATIENCE);
	bool handed = false, starves = false;
	const struct fiber_lot_wait wait = {.address = mutex,
					    .kind = FIB_WAIT_PTHREAD_MUTEX,
					    .still = must_wait,
					    .arg = mutex,
					    .handed = &handed};
	int rc = 0;

	while (rc == 0 && !handed && must_wait(mutex)) {
		if (!starves && fiber_now() >= patient) {
			starves = true;
			starve(mutex, 1);
		}
		rc = fpx_lot_wait(&wait, deadline);
	}
	if (starves)
		starve(mutex, -1u);
	return rc == -EAGAIN ? 0 : -rc;
}

int fpx_mutex_lock(pthread_mutex_t *mutex, int64_t deadline)
{
	const struct fpx_owner me = fpx_owner_self();
	int rc = lock_again(mutex, &me, false);

	if (rc >= 0)
		return rc;
	rc = fpx_mutex_take_free(mutex) ? 0 : take_contended(mutex, deadline);
	if (rc == 0)
		own(mutex, &me);
	return rc;
}

int fpx_mutex_trylock(pthread_mutex_t *mutex)
{
	const struct fpx_owner me = fpx_owner_self();
	const int rc = lock_again(mutex, &me, true);

	if (rc >= 0)
		return rc;
	if (!fpx_mutex_take_free(mutex))
		return EBUSY;
	own(mutex, &me);
	return 0;
}

void fpx_mutex_wake(pthread_mutex_t *mutex)
{
	if (!fiber_lot_wake(mutex, 1))
		syscall(SYS_futex, mutex, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
}

bool fpx_mutex_refuses(pthread_mutex_t *mutex)
{
	struct fpx_owner me;

	if (!is_checked(mutex))
		return false;
	me = fpx_owner_self();
	return !has(mutex, &me);
}

int fpx_mutex_unlock(pthread_mutex_t *mutex)
{
	if (fpx_mutex_refuses(mutex))
		return EPERM;
	if (kind_of(mutex) == PTHREAD_MUTEX_RECURSIVE && --mutex->__data.__count)
		return 0;
	fpx_mutex_release(mutex);
	return 0;
}

unsigned fpx_mutex_give_up(pthread_mutex_t *mutex)
{
	const unsigned count = mutex->__data.__count;

	fpx_mutex_release(mutex);
	return count;
}

void fpx_mutex_regain(pthread_mutex_t *mutex, unsigned count)
{
	const struct fpx_owner me = fpx_owner_self();

	/* A pinned fiber whose policy refuses waits has no other way. */
	while (!fpx_mutex_take_free(mutex) && take_contended(mutex, FIBER_FOREVER) != 0)
		fpx_system.sched_yield();
	own(mutex, &me);
	mutex->__data.__count = count;
}
