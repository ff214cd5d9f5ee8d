/* SPDX-License-Identifier: MIT */
/* test_epoll.c - what every poller promises, and what only this one has to see to. */
#define POLLER fib_poller_epoll
#include "cases.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* -- in a child: an older kernel -- */

static int wait_on_an_older_kernel(void *arg)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0 /* offset of nr in struct seccomp_data */),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_epoll_pwait2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = {fib_countof(code), code};
	int64_t until;

	(void)arg;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
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
	return ops->wait(poller, events, MANY, INT64_MAX - 1) == 1 ? 0 : 5;
}

static void test_epoll_waits_as_well_on_a_kernel_without_pwait2(void **state)
{
	struct harness_child child;

	(void)state;
	harness_child(wait_on_an_older_kernel, NULL, 20, &child);
	assert_int_equal(child.signal, 0);
	assert_int_equal(child.code, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASES,
		CASE(test_epoll_waits_as_well_on_a_kernel_without_pwait2),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
