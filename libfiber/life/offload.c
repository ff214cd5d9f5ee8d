/* SPDX-License-Identifier: MIT */
/*
 * offload.c - threads that run blocking calls for fibers
 *
 * A call that can only block (a file, a resolver, another library) is queued for a separate thread,
 * and the fiber parks until the call is done. The threads belong to the process, not to a runtime:
 * they know no scheduler, take calls first in, first out, rest for a while when there are none, and
 * exit.
 *
 * The rule: a thread is created when more calls are queued than threads rest, up to a limit. If the
 * limit is reached, or no thread can be created while there are others, the call waits for one of
 * those. Only if there is none at all the call fails, and is taken out of the queue.
 *
 * A call says which thread runs it, and the record of the fiber that waits for it has the address of that
 * word. So a reader finds what the fiber really waits for: what that thread does.
 *
 * A garbage collector has to find the arguments and results of all calls (fib_offload_each). A call is
 * in the list of all before it has its argument, and until its last owner frees it.
 *
 * A queued call outlives its waiter: a deadline or a cancellation ends the wait but not the call.
 * So the call is on the heap and belongs to both, and the last of the two frees it.
 */
#include "life/offload.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include <fiber/fiber.h>
#include <fiber/io.h>
#include <fiber/time.h>

#include "base/list.h"
#include "core/hooks.h"
#include "core/registry.h"
#include "os/os.h"
#include "os/spin.h"
#include "os/threads.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

/* I set before it is queued · A atomic · L under waiters.lock · P under the pool's lock */
struct offload {
	struct fib_list link;	 /* P */
	struct fib_list of_all;	 /* P: in pool.all */
	bool queued;		 /* P: no thread has taken it yet */
	int64_t since;		 /* P: when it was queued, ns of the coarse clock */
	void *(*fn)(void *);	 /* I */
	void *arg;		 /* I */
	void *value;		 /* L */
	bool done;		 /* L */
	_Atomic uint32_t owners; /* A: 2: the waiter and the offload thread */
	_Atomic uint64_t worker; /* A: the layout's `worker` */
	struct fiber_wait_queue waiters;
};

/* L under ->lock · A atomic */
static struct {
	_Atomic uint32_t lock;
	_Atomic uint32_t handed; /* A, futex: number of calls queued so far */
	struct fib_list queue;	 /* L; zeroed before the first use */
	struct fib_list all;	 /* L: struct offload.of_all; zeroed before the first use */
	uint32_t queued;	 /* L */
	uint32_t resting;	 /* L: threads that check the queue when woken */
	uint32_t starting;	 /* L: created, but not running yet */
	uint32_t threads;	 /* L: running or resting: they will take what is queued now */
} pool;

/* Under the lock: publish what the tools show of the pool. */
static void publish(void)
{
	const struct offload *first =
		pool.queued ? fib_container(pool.queue.next, struct offload, link) : NULL;

	fib_registry_offload(pool.threads, pool.queued, first ? first->since : 0);
}

static void destroy(struct offload *o)
{
	fib_spin_lock(&pool.lock);
	/* In a forked child the calls of the parent are in no list. */
	if (o->of_all.next)
		fib_list_remove(&o->of_all);
	fib_spin_unlock(&pool.lock);
	free(o);
}

static void disown(struct offload *o)
{
	/* Acquire and release: the last owner sees that the other one is done with it. */
	if (fib_sub(&o->owners, 1) == 1)
		destroy(o);
}

static void run_call(struct offload *o, uint64_t self)
{
	struct fib_wake wake;
	bool claimed = false;
	void *value;

	fib_store(&o->worker, self);
	value = o->fn(o->arg);
	fib_queue_lock(&o->waiters);
	o->value = value;
	o->done = true;
	while (!claimed && fib_queue_first(&o->waiters))
		claimed = fib_queue_claim_first(&o->waiters, &wake);
	fib_queue_unlock(&o->waiters);
	if (claimed)
		fib_wake(&wake, false);
	disown(o);
}

/* Under the lock. NULL when the queue is empty. */
static struct offload *take(void)
{
	struct offload *o;

	if (!pool.queued)
		return NULL;
	o = fib_container(fib_list_take(&pool.queue), struct offload, link);
	o->queued = false;
	pool.queued--;
	publish();
	return o;
}

/* Wait for a call, or until the thread is to exit. Under the lock, which is released meanwhile. */
static struct offload *wait_for_work(void)
{
	int64_t end = fib_os_now() + FIB_OFFLOAD_REST;
	struct offload *o;

	pool.resting++;
	while (!(o = take()) && fib_os_now() < end) {
		uint32_t handed = fib_load(&pool.handed);

		fib_spin_unlock(&pool.lock);
		fib_registry_thread_waits(true);
		fib_os_futex_wait(&pool.handed, handed, end);
		fib_registry_thread_waits(false);
		fib_spin_lock(&pool.lock);
	}
	pool.resting--;
	return o;
}

static void *offload_thread_main(void *arg)
{
	const uint64_t self = FIB_HOLDER_THREAD | fib_os_tid();
	struct fib_hooked hooked;
	struct offload *o;

	fib_os_thread_name("fiber-offload");
	fib_hooks_thread_began(&hooked);
	fib_spin_lock(&pool.lock);
	pool.starting--;
	pool.threads++;
	publish();
	while ((o = take()) || (o = wait_for_work())) {
		fib_spin_unlock(&pool.lock);
		run_call(o, self);
		fib_spin_lock(&pool.lock);
	}
	pool.threads--;
	publish();
	fib_spin_unlock(&pool.lock);
	fib_hooks_thread_ended(&hooked);
	return arg;
}

static int start_thread(void)
{
	pthread_t thread;
	int rc = fib_os_thread_start(&thread, offload_thread_main, NULL);

	if (rc == 0)
		pthread_detach(thread);
	return rc;
}

/* No thread could be created, which does not matter if there is another. Otherwise takes o back. */
static int do_without(struct offload *o)
{
	int rc = 0;

	fib_spin_lock(&pool.lock);
	pool.starting--;
	if (!pool.threads && o->queued) {
		fib_list_remove(&o->link);
		o->queued = false;
		pool.queued--;
		publish();
		rc = -EAGAIN;
	}
	fib_spin_unlock(&pool.lock);
	return rc;
}

/* Queue o. Returns 0: a thread has it, or will; or -EAGAIN: o is still the caller's. */
static int hand_over(struct offload *o)
{
	bool more;

	/* While every fiber sleeps nothing sets the coarse clock, and a plain thread may call this. */
	fib_coarse_set(fib_os_now());
	fib_spin_lock(&pool.lock);
	if (!pool.queue.next)
		fib_list_init(&pool.queue);
	fib_list_append(&pool.queue, &o->link);
	o->queued = true;
	o->since = fib_coarse_now();
	pool.queued++;
	publish();
	more = pool.queued > pool.resting + pool.starting &&
	       pool.threads + pool.starting < FIB_OFFLOAD_THREADS_MAX;
	if (more)
		pool.starting++;
	fib_add_relaxed(&pool.handed, 1);
	fib_spin_unlock(&pool.lock);
	if (!more) {
		fib_os_futex_wake(&pool.handed, 1);
		return 0;
	}
	return start_thread() < 0 ? do_without(o) : 0;
}

/* Queue w until o is done. Returns true if o is done already. */
static bool enqueue_waiter(struct offload *o, struct fib_waiter *w)
{
	bool done;

	fib_queue_lock(&o->waiters);
	done = o->done;
	if (!done)
		fib_queue_append(&o->waiters, w);
	fib_queue_unlock(&o->waiters);
	return done;
}

/* Wait for o, in the wait that was started. */
static int wait_for_call(struct offload *o, struct fib_waiter *w, int64_t deadline)
{
	/* If the wait has been decided meanwhile, fib_queue_wait() returns at once. */
	if (enqueue_waiter(o, w) && fib_wait_retract(w))
		return 0;
	return fib_queue_wait(&o->waiters, w, deadline);
}

static struct offload *make(void *(*fn)(void *), void *arg)
{
	struct offload *o = calloc(1, sizeof *o);

	if (o) {
		fib_store(&o->owners, 2);
		/* A collector does not stop the program while the lock is held (runtime/gc.c). */
		fib_spin_lock(&pool.lock);
		o->fn = fn;
		o->arg = arg;
		if (!pool.all.next)
			fib_list_init(&pool.all);
		fib_list_append(&pool.all, &o->of_all);
		fib_spin_unlock(&pool.lock);
	}
	return o;
}

/* What the record of a fiber that waits for o has as the argument of its wait. */
static uint64_t worker_of(const struct offload *o)
{
	return o ? (uintptr_t)&o->worker : 0;
}

/* The caller has begun its wait. Until then its record has no worker, as before a thread takes the call. */
static void show_worker(const struct offload *o)
{
	struct fib_carrier *c = fib_carrier_self();

	if (c && c->current)
		c->current->wait_arg = worker_of(o);
}

int fiber_block(void *(*fn)(void *), void *arg, void **ret, int64_t deadline)
{
	struct offload *o;
	struct fib_waiter w;
	bool done;
	int rc, begun;

	/* A fiber that must exit does so here: nothing is allocated yet. */
	begun = fib_wait_begin(&w, FIB_WAIT_OFFLOAD, (const void *)(uintptr_t)fn, 0, deadline);
	if (begun == -EDEADLK)
		return begun;
	o = make(fn, arg);
	if (begun == 0)
		show_worker(o);
	/*
	 * Without time to wait fn is started all the same: after -ETIMEDOUT the caller knows that
	 * fn uses arg.
	 */
	rc = o ? hand_over(o) : -ENOMEM;
	if (rc < 0) {
		if (begun == 0)
			fib_wait_abort(&w);
		if (o)
			destroy(o);
		return rc;
	}
	rc = begun < 0 ? begun : wait_for_call(o, &w, deadline);
	fib_queue_lock(&o->waiters);
	done = o->done;
	if (done && ret)
		*ret = o->value;
	fib_queue_unlock(&o->waiters);
	disown(o);
	return done ? 0 : rc;
}

int fib_offload_uncancellable(void *(*fn)(void *), void *arg, int64_t deadline)
{
	struct fib_waiter w;
	struct offload *o;
	int rc = fib_wait_check(deadline);

	if (rc < 0)
		return rc;
	o = make(fn, arg);
	rc = fib_wait_begin_uncancellable(&w, FIB_WAIT_OFFLOAD, (const void *)(uintptr_t)fn,
					  worker_of(o), FIBER_FOREVER);
	if (rc < 0) {
		if (o)
			destroy(o);
		return rc;
	}
	rc = o ? hand_over(o) : -ENOMEM;
	if (rc < 0) {
		fib_wait_abort(&w);
		if (o)
			destroy(o);
		return rc;
	}
	rc = wait_for_call(o, &w, FIBER_FOREVER);
	disown(o);
	return rc;
}

unsigned fib_offload_threads(void)
{
	unsigned n;

	fib_spin_lock(&pool.lock);
	n = pool.threads + pool.starting;
	fib_spin_unlock(&pool.lock);
	return n;
}

int fib_offload_each(int (*fn)(const void *low, const void *high, void *arg), void *arg)
{
	const struct fib_list *at;
	int rc = 0;

	for (at = pool.all.next; at && at != &pool.all && rc == 0; at = at->next) {
		const struct offload *o = fib_container(at, struct offload, of_all);

		_Static_assert(offsetof(struct offload, value) ==
				       offsetof(struct offload, arg) + sizeof o->arg,
			       "one range");
		rc = fn(&o->arg, &o->value + 1, arg);
	}
	return rc;
}

void fib_offload_lock(void)
{
	fib_spin_lock(&pool.lock);
}

bool fib_offload_try(void)
{
	return fib_spin_try(&pool.lock);
}

void fib_offload_unlock(void)
{
	fib_spin_unlock(&pool.lock);
}

void fib_offload_forget(void)
{
	while (pool.all.next && fib_list_take(&pool.all))
		;
	fib_list_init(&pool.queue);
	pool.queued = 0;
	pool.resting = 0;
	pool.starting = 0;
	pool.threads = 0;
	publish();
}
