/* SPDX-License-Identifier: MIT */
/* futex.c - futex calls; deadlines are absolute, hence FUTEX_WAIT_BITSET */
#include "os/os.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "os/timespec.h"

fib_noinline int fib_os_futex_wait(_Atomic uint32_t *word, uint32_t expected, int64_t deadline)
{
	struct timespec t, *limit = NULL;

	if (deadline != INT64_MAX) {
		t = fib_timespec(deadline);
		limit = &t;
	}
	if (syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected, limit, NULL,
		    FUTEX_BITSET_MATCH_ANY) < 0)
		return -errno;
	return 0;
}

fib_noinline void fib_os_futex_wake(_Atomic uint32_t *word, int count)
{
	/* Waking an unmapped address wakes no thread and is not worth reporting. */
	syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, count, NULL, NULL, 0);
}
