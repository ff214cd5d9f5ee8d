/* SPDX-License-Identifier: MIT */
/*
 * futex.c - a thread that would sleep runs fibers instead; in place of libfiber/os/linux/futex.c
 *
 * There are no carrier threads, so whoever changes the futex word is a fiber. A plain thread runs
 * fibers until the word has changed. A pinned fiber, which may not leave its carrier, is set aside
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

static int sleep_pinned(struct fiber *fiber, _Atomic uint32_t *word, uint32_t expected,
			int64_t deadline)
{
	struct fib_pinned_sleeper p = {
		.word = word, .expected = expected, .deadline = deadline, .fiber = fiber};

	if (fib_pinned_over(&p))
		return fib_load_acquire(word) != expected ? -EAGAIN : -ETIMEDOUT;
	fib_pinned_add(&p);
	fib_switch_out(fiber);
	return fib_load_acquire(word) == expected ? -ETIMEDOUT : 0;
}

int fib_os_futex_wait(_Atomic uint32_t *word, uint32_t expected, int64_t deadline)
{
	struct fiber *fiber = fib_self();

	if (fiber)
		return sleep_pinned(fiber, word, expected, deadline);
	while (fib_load_acquire(word) == expected) {
		if (deadline <= fib_virtual_now())
			return -ETIMEDOUT;
		if (!fib_loop_turn()) {
			if (deadline == INT64_MAX)
				fib_loop_stuck();
			fib_virtual_reach(deadline);
		}
	}
	return 0;
}

void fib_os_futex_wake(_Atomic uint32_t *word, int count)
{
	(void)word;
	(void)count;
}
