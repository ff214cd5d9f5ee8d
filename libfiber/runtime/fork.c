/* SPDX-License-Identifier: MIT */
/*
 * fork.c - make the library usable in a forked child
 *
 * The child has one thread, and only the memory of its parent's carriers. Data that all runtimes of
 * a process share must be consistent in it: a lock that a carrier held at that moment would stay
 * held, and a list might be half changed. So fork() waits until no thread is in such code.
 *
 * The parent's fibers cannot continue in the child: those that waited wait for events in the
 * parent, and those that ran have no thread. So the child drops the schedulers, the records and the
 * waiters for descriptors. Its registry is empty, and the tools show only fibers that it makes
 * itself. (service.c drops the service thread's data.)
 *
 * Locks of the parent's fibers stay held. Their stacks stay mapped, since the caller of fork() may
 * be on one: a fiber that forks continues in the child as a plain thread, on the stack it had,
 * until it calls exec or _exit.
 */
#include <pthread.h>

#include "base/atomic.h"
#include "base/tls.h"
#include "core/hazard.h"
#include "core/labels.h"
#include "core/registry.h"
#include "core/sole.h"
#include "io/name.h"
#include "io/table.h"
#include "life/offload.h"
#include "os/own_tls.h"
#include "runtime/runtime.h"
#include "stack/pool.h"
#include "sync/chan_list.h"
#include "sync/lot.h"
#include "wait/thread_wait.h"
#include "watch/halt.h"
#include "watch/tick.h"
#include "watch/watch.h"

static void before(void)
{
	fib_watch_lock();
	fib_tick_lock();
	fib_registry_lock();
	fib_labels_lock();
	fib_stack_lock_pool();
	fib_offload_lock();
	fib_chan_list_lock();
	fib_thread_wait_lock();
	fib_os_own_tls_lock();
}

static void in_parent(void)
{
	fib_os_own_tls_unlock();
	fib_thread_wait_unlock();
	fib_chan_list_unlock();
	fib_offload_unlock();
	fib_stack_unlock_pool();
	fib_labels_unlock();
	fib_registry_unlock();
	fib_tick_unlock();
	fib_watch_unlock();
}

static void in_child(void)
{
	fib_os_own_tls_forget();
	fib_tls_set_carrier(NULL);
	fib_watch_clear();
	fib_tick_forget();
	fib_halt_forget();
	fib_registry_forget();
	fib_hazard_forget();
	fib_sole_forget();
	fib_offload_forget();
	fib_thread_wait_forget();
	fib_lot_forget();
	fib_descriptor_forget_all();
	fib_name_forget();
	fib_stack_forget();
	in_parent();
}

void fib_fork_watch(void)
{
	static _Atomic int watching;

	/* Without memory for the handlers a child that starts fibers may hang; nothing else
	 * changes. */
	if (!fib_swap(&watching, 1))
		pthread_atfork(before, in_parent, in_child);
}
