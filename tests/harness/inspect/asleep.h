/* SPDX-License-Identifier: MIT */
/* asleep.h - threads of the test itself that sleep in a known call, for the tests of threads/ */
#ifndef TEST_INSPECT_ASLEEP_H
#define TEST_INSPECT_ASLEEP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inspect/model/source.h"
#include "inspect/process/thread.h"
#include "tests/harness/process.h"
#include "tests/harness/inspect/head.h"

struct asleep {
	void (*call)(void *); /* sleeps until the test releases it */
	void *arg;
	pthread_t thread;
	_Atomic uint64_t tid;
	int64_t in; /* the system call to wait for */
};

static void *asleep_run(void *arg)
{
	struct asleep *a = arg;

	a->tid = (uint64_t)syscall(SYS_gettid);
	a->call(a->arg);
	return NULL;
}

static inline bool asleep_there(void *arg)
{
	const struct asleep *a = arg;
	struct fib_sleeper_place place;

	return a->tid && ins_thread_place(getpid(), a->tid, &place) == 1 && place.call == a->in;
}

/* Start a thread and wait until it sleeps in that system call. */
static inline void asleep_start(struct asleep *a, void (*call)(void *), void *arg, int64_t in)
{
	*a = (struct asleep){.call = call, .arg = arg, .in = in};
	assert_int_equal(pthread_create(&a->thread, NULL, asleep_run, a), 0);
	assert_true(harness_until(asleep_there, a, 60));
}

/* After the test has released it. */
static inline void asleep_end(struct asleep *a)
{
	assert_int_equal(pthread_join(a->thread, NULL), 0);
}

/* The memory of the test itself, as that of a source. */
static inline int asleep_memory(void *source, uint64_t address, void *buf, size_t size)
{
	(void)source;
	if (address < 4096)
		return -14; /* EFAULT */
	memcpy(buf, (const void *)(uintptr_t)address, size);
	return 0;
}

#endif
