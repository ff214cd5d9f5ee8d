/* SPDX-License-Identifier: MIT */
/* wake.c - wake a thread that sleeps on a word or in a thread wait */
#include "wait/wake.h"

#include "os/os.h"
#include "wait/thread_wait.h"

void fib_wake_thread(_Atomic uint32_t *word)
{
	fib_os_futex_wake(word, 1);
	fib_thread_wait_wake(word);
}
