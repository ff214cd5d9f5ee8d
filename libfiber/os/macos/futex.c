/* SPDX-License-Identifier: MIT */
/*
 * futex.c - __ulock_wait() and __ulock_wake() of the system's library
 *
 * They are in no public header, but in the library since macOS 10.12, and libc++ and others are built on them. The public
 * os_sync_wait_on_address() does the same, from macOS 14.4 on. Two things come of it: a program for
 * the App Store may be refused, and a later macOS may have other numbers. Locks and conditions of
 * pthread are no substitute, because a signal handler cannot use them.
 *
 * A wait for a word that has another value returns at once, as after a wake-up.
 */
#include "os/os.h"

#include <errno.h>

#include "base/compiler.h"

#define COMPARE_AND_WAIT 1u	     /* 32 bits, private to the process */
#define WAKE_ALL	 0x00000100u /* instead of one thread */
#define NO_ERRNO	 0x01000000u /* the result is a negative errno */

/* timeout: in microseconds; 0: none. */
int __ulock_wait(uint32_t operation, void *address, uint64_t value, uint32_t timeout);
int __ulock_wake(uint32_t operation, void *address, uint64_t thread);

/* In microseconds, rounded up, at least 1. */
static uint32_t timeout_until(int64_t deadline)
{
	const int64_t left = deadline > 0 ? deadline - fib_os_now() : 0;

	if (left <= 0)
		return 1;
	return left / 1000 < UINT32_MAX ? (uint32_t)(left / 1000) + 1 : UINT32_MAX;
}

fib_noinline int fib_os_futex_wait(_Atomic uint32_t *word, uint32_t expected, int64_t deadline)
{
	const uint32_t timeout = deadline == INT64_MAX ? 0 : timeout_until(deadline);
	const int rc = __ulock_wait(COMPARE_AND_WAIT | NO_ERRNO, (void *)word, expected, timeout);

	/* A timeout has at most 71 minutes. */
	if (rc == -ETIMEDOUT && fib_os_now() < deadline)
		return 0;
	/* Otherwise the number of threads that still wait. */
	return rc < 0 ? rc : 0;
}

fib_noinline void fib_os_futex_wake(_Atomic uint32_t *word, int count)
{
	const uint32_t how = COMPARE_AND_WAIT | NO_ERRNO;

	if (count == INT32_MAX) {
		__ulock_wake(how | WAKE_ALL, (void *)word, 0);
		return;
	}
	/* -ENOENT: no thread waits. */
	while (count-- > 0) {
		const int rc = __ulock_wake(how, (void *)word, 0);

		if (rc < 0 && rc != -EINTR)
			return;
	}
}
