/* SPDX-License-Identifier: MIT */
/* owner.c - the number that the C library has for the calling thread, or the fiber that is one to it */
#include "threads/owner.h"

#include <pthread.h>
#include <stddef.h>

#include "system/native.h"

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

/* The C library writes it into a mutex. A program without fibers must not make a system call for it. */
static __attribute__((noinline)) int ask(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	int owner;

	fpx_native.pthread_mutex_lock(&mutex);
	owner = mutex.__data.__owner;
	fpx_native.pthread_mutex_unlock(&mutex);
	pthread_mutex_destroy(&mutex);
	return owner;
}

int fpx_thread_number(void)
{
	if (__builtin_expect(!number, 0))
		number = ask();
	return number;
}
