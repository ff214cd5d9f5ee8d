/* SPDX-License-Identifier: MIT */
/*
 * futex.c - _umtx_op(2), with absolute deadlines
 *
 * A wait for a word that has another value returns 0 at once: to the caller it is a spurious wake-up.
 */
#include "os/os.h"

#include <errno.h>
#include <time.h>

#include <sys/umtx.h>

#include "base/compiler.h"

fib_noinline int fib_os_futex_wait(_Atomic uint32_t *word, uint32_t expected, int64_t deadline)
{
	struct _umtx_time t = {._flags = UMTX_ABSTIME, ._clockid = CLOCK_MONOTONIC}, *limit = NULL;

	if (deadline != INT64_MAX) {
		if (deadline < 0)
			deadline = 0;
		t._timeout.tv_sec = (time_t)(deadline / 1000000000);
		t._timeout.tv_nsec = (long)(deadline % 1000000000);
		limit = &t;
	}
	/* The fourth argument is the size of what the fifth points to. */
	if (_umtx_op((void *)word, UMTX_OP_WAIT_UINT_PRIVATE, expected, (void *)sizeof t, limit) <
	    0)
		return -errno;
	return 0;
}

fib_noinline void fib_os_futex_wake(_Atomic uint32_t *word, int count)
{
	/* Waking an unmapped address wakes no thread and is not worth reporting. */
	_umtx_op((void *)word, UMTX_OP_WAKE_PRIVATE, (unsigned long)count, NULL, NULL);
}
