/* SPDX-License-Identifier: MIT */
/*
 * once.c - pthread_once_t between fibers and threads
 *
 * The word is as the C library's (glibc, nptl/pthread_once.c): 0, 1 and the number of forks while the
 * function runs, 2 when it has returned. A child process whose parent was in the function calls it
 * itself. If the function is left by an exception or a cancellation, the word is 0 again.
 */
#include "threads/once.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fiber/time.h>

#include "threads/lot.h"

enum { FRESH, RUNS, DONE };

#define FORK 4

static _Atomic int forks; /* a multiple of FORK */

static void count_fork(void)
{
	forks += FORK;
}

__attribute__((constructor(102))) static void start(void)
{
	pthread_atfork(NULL, NULL, count_fork);
}

static bool still_runs(void *once)
{
	return __atomic_load_n((pthread_once_t *)once, __ATOMIC_SEQ_CST) == (RUNS | forks);
}

/* Store the new word and wake everybody: threads that call the C library directly sleep on the word. */
static void leave(pthread_once_t *once, int word)
{
	/* pairs: lot.meet -- a full barrier. */
	__atomic_exchange_n(once, word, __ATOMIC_SEQ_CST);
	if (fpx_lot_occupied())
		fiber_lot_wake(once, SIZE_MAX);
	syscall(SYS_futex, once, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT32_MAX, NULL, NULL, 0);
}

/* The word while the function runs; NULL: it has returned. */
static void leave_unfinished(pthread_once_t **once)
{
	if (*once)
		leave(*once, FRESH);
}

static void run(pthread_once_t *once, void (*call)(void))
{
	__attribute__((cleanup(leave_unfinished))) pthread_once_t *unfinished = once;

	call();
	unfinished = NULL;
	leave(once, DONE);
}

void fpx_once(pthread_once_t *once, void (*call)(void))
{
	const struct fiber_lot_wait wait = {
		.address = once, .kind = FIB_WAIT_PTHREAD_ONCE, .still = still_runs, .arg = once};
	int word;

	while ((word = __atomic_load_n(once, __ATOMIC_ACQUIRE)) != DONE) {
		if (word == (RUNS | forks))
			fpx_lot_wait(&wait, FIBER_FOREVER);
		else if (__atomic_compare_exchange_n(once, &word, RUNS | forks, false,
						     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			run(once, call);
	}
}
