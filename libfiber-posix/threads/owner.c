/* SPDX-License-Identifier: MIT */
/* owner.c - the number that the C library has for the calling thread, or the fiber that is one to it */
#include "threads/owner.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "layout/own_tls.h"

/* Initial-exec: the library is never loaded later than the program. */
static __thread int number __attribute__((tls_model("initial-exec")));

static void forget(void)
{
	number = 0;
}

__attribute__((constructor(102))) static void start(void)
{
	pthread_atfork(NULL, NULL, forget);
}

int fpx_thread_number(void)
{
	if (__builtin_expect(!number, 0))
		number = fiber_own_tls_number();
	if (__builtin_expect(!number, 0))
		number = (int)syscall(SYS_gettid);
	return number;
}
