/* SPDX-License-Identifier: MIT */
/*
 * futex.c - a thread that would sleep runs fibers instead; in place of libfiber/os/linux/futex.c
 *
 * There are no carrier threads, so a fiber changes the futex word. A plain thread runs fibers until
 * the word has changed, or its deadline is the nearest of all and no fiber can run. A pinned fiber, which may not leave its carrier, is set aside
 * and others run as if on other carriers; it goes on once its word has changed or its deadline has
 * passed.
 */
#include "os/os.h"

#include <errno.h>

#include "base/tls.h"
#include "core/registry.h"
#include "os/pinned.h"
#include "os/virtual.h"
#include "sched/loop.h"
#include "sched/sched.h"

/* All fibers stand still while a blocking call runs on a helper thread: none changes the word. */
static void wait_in_vain(int64_t deadline)
{
	if (deadline == INT64_MAX)
		fib_loop_stuck();
	fib_virtual_reach(deadline);
}

int fib_os_futex_wait(_Atomic uint32_t *word, uint32_t expected, int64_t deadline)
{
	struct fiber *fiber = fib_self();
	struct fib_pinned_sleeper p = {
		.word = word, .expected = expected, .deadline = deadline, .fiber = fiber};

	if (fib_pinned_over(&p))
		return fib_load_acquire(word) == expected ? -ETIMEDOUT : fiber ? -EAGAIN : 0;
	if (fiber) {
		fib_pinned_add(&p);
		fib_switch_out(fiber);
	} else if (fib_virtual_follows()) {
		wait_in_vain(deadline);
	} else {
		fib_loop_wait(&p);
	}
	return fib_load_acquire(word) == expected ? -ETIMEDOUT : 0;
}

void fib_os_futex_wake(_Atomic uint32_t *word, int count)
{
	(void)word;
	(void)count;
}
