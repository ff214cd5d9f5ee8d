/* SPDX-License-Identifier: MIT */
/*
 * features.h - which facilities of the kernel this process has found to work
 *
 * Each has a substitute, so a program runs without them, but not as well. A facility is recorded
 * where it is used: nothing is tried only in order to know. Any thread; the first three functions also in
 * signal handlers.
 */
#ifndef FIB_OS_FEATURES_H
#define FIB_OS_FEATURES_H

#include <stdbool.h>
#include <stddef.h>

enum fib_os_feature {
	FIB_OS_GUARD_ADVICE,	 /* guards inside a mapping (MADV_GUARD_INSTALL), Linux 6.13 */
	FIB_OS_GUARD_MANY,	 /* many of them in a call (process_madvise on itself), 6.14 */
	FIB_OS_IO_URING,	 /* with what poll/uring/ring.c needs, 5.17 */
	FIB_OS_EPOLL_PWAIT2,	 /* 5.11 */
	FIB_OS_MEMBARRIER,	 /* of this process' threads, 4.14 */
	FIB_OS_PROCESS_VM_READV, /* 3.2; sandboxes refuse it */
	FIB_OS_TIMERFD,		 /* 2.6.25 */
	FIB_OS_FEATURES
};

void fib_os_feature_works(enum fib_os_feature feature);
/* It does not work. */
void fib_os_feature_lacks(enum fib_os_feature feature);
/* The same, if it is not known yet: its call may also fail where the kernel has it. */
void fib_os_feature_failed(enum fib_os_feature feature);

#define FIB_OS_FEATURES_SIZE 192
/* "guard=advice io_uring=- ...", as documented in fib_wire_counters; ends with a NUL. */
void fib_os_features(char ret[FIB_OS_FEATURES_SIZE]);

#endif
