/* SPDX-License-Identifier: MIT */
/* features.c - which facilities of the kernel this process has found to work */
#include "os/features.h"

#include <stdio.h>

#include "base/atomic.h"
#include "base/compiler.h"

enum { UNKNOWN, WORKS, LACKS };

static _Atomic int known[FIB_OS_FEATURES];

static const struct {
	const char *name, *works, *lacks;
} features[FIB_OS_FEATURES] = {
	[FIB_OS_GUARD_ADVICE] = {"guard", "advice", "mprotect"},
	[FIB_OS_GUARD_MANY] = {"process_madvise", "yes", "no"},
	[FIB_OS_IO_URING] = {"io_uring", "yes", "no"},
	[FIB_OS_EPOLL_PWAIT2] = {"epoll_pwait2", "yes", "no"},
	[FIB_OS_MEMBARRIER] = {"membarrier", "yes", "no"},
	[FIB_OS_PROCESS_VM_READV] = {"process_vm_readv", "yes", "no"},
	[FIB_OS_TIMERFD] = {"timerfd", "yes", "no"},
};

void fib_os_feature_works(enum fib_os_feature feature)
{
	/* Often called again: a store would take the cache line from other threads. */
	if (fib_load(&known[feature]) != WORKS)
		fib_store(&known[feature], WORKS);
}

void fib_os_feature_lacks(enum fib_os_feature feature)
{
	if (fib_load(&known[feature]) != LACKS)
		fib_store(&known[feature], LACKS);
}

void fib_os_feature_failed(enum fib_os_feature feature)
{
	int unknown = UNKNOWN;

	fib_cas(&known[feature], &unknown, LACKS);
}

void fib_os_features(char ret[FIB_OS_FEATURES_SIZE])
{
	size_t used = 0, i;

	ret[0] = 0;
	for (i = 0; i < FIB_OS_FEATURES && used < FIB_OS_FEATURES_SIZE; i++) {
		const int is = fib_load(&known[i]);

		used += (size_t)snprintf(ret + used, FIB_OS_FEATURES_SIZE - used, "%s%s=%s",
					 i ? " " : "", features[i].name,
					 is == UNKNOWN ? "-"
					 : is == WORKS ? features[i].works
						       : features[i].lacks);
	}
}
