/* SPDX-License-Identifier: MIT */
/*
 * sleeper.c - a thread that only sleeps, for LD_PRELOAD
 *
 * A process with a second thread pays more for each use of a descriptor: the kernel must assume that
 * the other thread closes it meanwhile. libfiber always has more threads. The hand-written loop with
 * this thread shows what of the difference that is.
 */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static void *sleep_for_ever(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

static __attribute__((constructor)) void start(void)
{
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_create(&thread, NULL, sleep_for_ever, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}
