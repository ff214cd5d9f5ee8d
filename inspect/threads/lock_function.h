/* SPDX-License-Identifier: MIT */
/* lock_function.h - find the function of the C library in which a thread sleeps */
#ifndef INS_LOCK_FUNCTION_H
#define INS_LOCK_FUNCTION_H

#include "inspect/threads/sleeper.h"

enum ins_lock_function {
	INS_LOCK_FUNCTION_UNKNOWN,
	INS_LOCK_FUNCTION_MUTEX,
	INS_LOCK_FUNCTION_RWLOCK_READ,
	INS_LOCK_FUNCTION_RWLOCK_WRITE,
	INS_LOCK_FUNCTION_COND, /* waits for a signal, or for its mutex after the signal */
	INS_LOCK_FUNCTION_SEM,
	INS_LOCK_FUNCTION_JOIN,
	INS_LOCK_FUNCTION_BARRIER,
	INS_LOCK_FUNCTION_ONCE,
};

enum ins_libc { INS_LIBC_UNKNOWN, INS_LIBC_GLIBC, INS_LIBC_MUSL };

/* Find the function, and the C library that it belongs to, from the innermost frames. */
enum ins_lock_function ins_lock_function(const struct ins_sleeper *sleeper, enum ins_libc *ret);

#endif
