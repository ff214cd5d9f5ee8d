/* SPDX-License-Identifier: MIT */
/*
 * futex.c - find what a thread that sleeps in futex(2) waits for
 *
 * The function of the C library in which the thread sleeps says the kind of object, the address of
 * the futex says which object. A lock with priority inheritance needs no function: the kernel
 * itself keeps its owner's tid in the futex.
 */
#include "inspect/threads/futex.h"

#include <linux/futex.h>
#include <time.h>

#include "inspect/model/words.h"
#include "inspect/threads/deadline.h"
#include "inspect/threads/joined.h"
#include "inspect/threads/library_wait.h"
#include "inspect/threads/lock_function.h"
#include "inspect/threads/mutex_object.h"
#include "inspect/threads/threads.h"

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

#define LOCK_CONTENDED 2 /* the value of glibc's lock with waiters */
#define BARRIER_ROUND  4 /* offset in glibc's pthread_barrier_t of its futex */

struct call {
	uint64_t address, timeout;
	int operation; /* without flags */
	uint32_t value;
	bool realtime;
};

static struct call call_of(const struct ins_thread_at *at)
{
	return (struct call){
		.address = at->argument[0],
		.operation = (int)at->argument[1] & FUTEX_CMD_MASK,
		.value = (uint32_t)at->argument[2],
		.timeout = at->argument[3],
		.realtime = at->argument[1] & FUTEX_CLOCK_REALTIME,
	};
}

static int64_t deadline_of(const struct ins_sleeper *s, const struct call *call)
{
	/* FUTEX_WAIT has a length of time, and all other operations have an absolute time. */
	if (call->operation == FUTEX_WAIT)
		return ins_deadline_after(s, call->timeout);
	/* FUTEX_LOCK_PI has no flag for its clock: it is always the real-time clock. */
	return ins_deadline_at(s, call->timeout,
			       call->realtime || call->operation == FUTEX_LOCK_PI
				       ? CLOCK_REALTIME
				       : CLOCK_MONOTONIC);
}

/* A thread that was signalled waits for the mutex of the condition, in the same function. */
static bool waits_for_signal(const struct call *call)
{
	return call->operation != FUTEX_WAIT || call->value != LOCK_CONTENDED;
}

static void take_mutex(const struct ins_sleeper *s, enum ins_libc libc, const struct call *call,
		       struct fib_row *row)
{
	row->wait_kind = FIB_WAIT_MUTEX;
	row->wait_object = ins_mutex_object(s, libc, call->address, &row->holder);
	if (ins_mutex_checks_owner(s, libc, row->wait_object))
		row->wait_arg = INS_THREAD_ONLY_HOLDER;
}

static void take_cond(const struct ins_sleeper *s, enum ins_libc libc, const struct call *call,
		      struct fib_row *row)
{
	if (libc == INS_LIBC_GLIBC && !waits_for_signal(call)) {
		take_mutex(s, libc, call, row);
		return;
	}
	row->wait_kind = FIB_WAIT_COND;
	/*
	 * A condition has two futexes in turn, an aligned pair. Where the pair is in the condition
	 * depends on the version of glibc and on its distributor's patches, so the pair itself stands
	 * for the condition. musl sleeps on a futex on the thread's stack.
	 */
	row->wait_object = libc == INS_LIBC_GLIBC ? call->address & ~UINT64_C(7) : 0;
}

/* In musl the thread is not known. */
static void take_join(const struct ins_sleeper *s, enum ins_libc libc, const struct call *call,
		      struct fib_row *row)
{
	const uint64_t tid = libc == INS_LIBC_GLIBC ? ins_joined(s, call->address, call->value) : 0;

	row->wait_kind = FIB_WAIT_JOIN;
	row->wait_object = 0;
	row->wait_arg = tid ? FIB_HOLDER_THREAD | tid : FIB_ROW_UNKNOWN;
}

static void take_object(const struct ins_sleeper *s, const struct call *call, struct fib_row *row)
{
	enum ins_libc libc;
	const enum ins_lock_function function = ins_lock_function(s, &libc);

	switch (function) {
	case INS_LOCK_FUNCTION_UNKNOWN:
		if (libc == INS_LIBC_MUSL && ins_mutex_of_musl(s, call->address, call->value,
							       &row->wait_object, &row->holder)) {
			row->wait_kind = FIB_WAIT_MUTEX;
			row->wait_arg = INS_THREAD_ONLY_HOLDER;
		}
		break;
	case INS_LOCK_FUNCTION_MUTEX:
		/* The kernel has refused a deadlock with inheritance: glibc sleeps for ever. */
		if (!call->value)
			break;
		take_mutex(s, libc, call, row);
		break;
	case INS_LOCK_FUNCTION_RWLOCK_READ:
	case INS_LOCK_FUNCTION_RWLOCK_WRITE:
		row->wait_kind = function == INS_LOCK_FUNCTION_RWLOCK_READ ? FIB_WAIT_RWLOCK_READ
									   : FIB_WAIT_RWLOCK_WRITE;
		row->wait_object =
			ins_rwlock_object(s, libc, call->address, call->value, &row->holder);
		break;
	case INS_LOCK_FUNCTION_COND:
		take_cond(s, libc, call, row);
		break;
	case INS_LOCK_FUNCTION_SEM:
		row->wait_kind = FIB_WAIT_SEM;
		break;
	case INS_LOCK_FUNCTION_JOIN:
		take_join(s, libc, call, row);
		break;
	case INS_LOCK_FUNCTION_BARRIER:
		row->wait_kind = FIB_WAIT_BARRIER;
		row->wait_object = libc == INS_LIBC_GLIBC ? call->address - BARRIER_ROUND : 0;
		break;
	case INS_LOCK_FUNCTION_ONCE:
		row->wait_kind = FIB_WAIT_ONCE;
		break;
	}
}

/* A lock with priority inheritance. False: the call is for none. */
static bool take_inherit(const struct ins_sleeper *s, const struct call *call, struct fib_row *row)
{
	uint32_t word;

	if (call->operation != FUTEX_LOCK_PI && call->operation != FUTEX_LOCK_PI2)
		return false;
	row->wait_kind = FIB_WAIT_MUTEX;
	row->wait_arg = INS_THREAD_ONLY_HOLDER;
	if (ins_sleeper_read(s, call->address, &word, sizeof word) && !(word & FUTEX_OWNER_DIED))
		row->holder = word & FUTEX_TID_MASK;
	return true;
}

void ins_futex_wait(const struct ins_sleeper *sleeper, struct fib_row *row)
{
	const struct call call = call_of(sleeper->at);

	row->wait_kind = FIB_WAIT_FUTEX;
	row->wait_object = call.address;
	row->deadline = deadline_of(sleeper, &call);
	if (ins_library_wait(sleeper, row))
		return;
	if (!take_inherit(sleeper, &call, row))
		take_object(sleeper, &call, row);
	if (row->holder)
		row->holder |= FIB_HOLDER_THREAD;
}
