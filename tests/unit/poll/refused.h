/* SPDX-License-Identifier: MIT */
/*
 * refused.h - a poller whose system call a kernel lacks or a sandbox refuses
 *
 * Included after cases.h. The poller is opened before that, so it finds out while it waits.
 */
#ifndef UNIT_POLL_REFUSED_H
#define UNIT_POLL_REFUSED_H

#include "tests/harness/forbid.h"

struct refusal {
	unsigned call, error;
};

/* In a child: a wait lasts until its deadline, an event or a wake-up. */
static int wait_all_the_same(void *arg)
{
	const struct refusal *r = arg;
	int64_t until;

	/* A ring does not survive a fork. */
	if (ops->open(&poller) < 0 || !harness_forbid(r->call, r->error))
		return 1;
	until = fib_os_now() + 2 * MILLISECOND + 1;
	if (ops->wait(poller, events, MANY, until) != 0 || fib_os_now() < until)
		return 2;
	if (ops->watch(poller, a, 3) != 0 || look() != 1 || events[0].token != 3 || look() != 0)
		return 3;
	ops->wake(poller);
	if (ops->wait(poller, events, MANY, INT64_MAX) != 0)
		return 4;
	put(b);
	if (ops->want && ops->want(poller, a, 3, POLLIN) != 0)
		return 5;
	return ops->wait(poller, events, MANY, INT64_MAX - 1) == 1 ? 0 : 6;
}

static void assert_waits_without(unsigned call)
{
	struct refusal r[] = {{call, ENOSYS}, {call, EPERM}};
	struct harness_child child;

	for (size_t i = 0; i < fib_countof(r); i++) {
		harness_child(wait_all_the_same, &r[i], 20, &child);
		assert_int_equal(child.signal, 0);
		assert_int_equal(child.code, 0);
	}
}

#endif
