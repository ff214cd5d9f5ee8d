/* SPDX-License-Identifier: MIT */
/*
 * thread.c - make, end and join threads that are fibers
 *
 * The C library's own pthread_exit(3) unwinds the stack, runs cleanup handlers, and jumps to the
 * function that started the thread. Here run() is that function: it registers itself as a cleanup
 * handler does.
 *
 * Race (thread.state): the fiber's end, and a caller that detaches it, change the state by one swap
 * each. The second one releases the thread. A fiber that ends first keeps its block, which is its
 * pthread_t, until it is joined or detached; one that ends second gives it back when it leaves.
 *
 * One caller at a time claims a thread, to join or to detach it. Programs make both calls at once for
 * one thread, which the C library bears and fiber_join() does not.
 */
#include "threads/thread.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fiber/fiber.h>
#include <fiber/time.h>

#include "call/park.h"
#include "layout/layout.h"
#include "layout/own_tls.h"
#include "system/caller.h"
#include "system/find.h"
#include "system/native.h"
#include "threads/keys.h"

enum { JOINABLE, DETACHED, ENDED };

struct thread {
	struct fiber *fiber;
	void *value;	      /* F: what it returned, or gave to pthread_exit(3) */
	int state;	      /* A: thread.state */
	bool claimed;	      /* A: a caller joins it, or it is detached */
	bool cancelled;	      /* A: pthread_cancel(3) was called */
	bool uncancelled;     /* F: pthread_setcancelstate(PTHREAD_CANCEL_DISABLE) */
	bool exits;	      /* F: it ends */
	struct fpx_mask mask; /* F */
};

/* In the frame of run(). */
struct start {
	__pthread_unwind_buf_t jump;
	void *value;
};

static struct fiber_runtime *adopter; /* A */
static size_t default_stack;	      /* I: with adopter */
static fiber_key_t start_key;	      /* I: of the struct start of a fiber that runs */

__thread bool fpx_own_tls;

bool fpx_thread_adopts(void)
{
	return __atomic_load_n(&adopter, __ATOMIC_ACQUIRE) != NULL;
}

extern struct fib_layout fiber_registry;

static bool is_record(pthread_t thread)
{
	const uint64_t records = fiber_registry.records;
	const uint64_t readable = __atomic_load_n(&fiber_registry.committed, __ATOMIC_ACQUIRE);

	return thread >= records && thread - records < readable * fiber_registry.record_size;
}

bool fpx_thread_is(pthread_t thread)
{
	return is_record(thread) || fiber_own_tls_is((void *)thread);
}

/* NULL: not one that was made here, or joined. */
static struct thread *thread_of(pthread_t thread)
{
	return is_record(thread) ? NULL : *fiber_own_tls_word((void *)thread);
}

/* NULL: not one that was made here. Not inlined: its caller may be on another thread later. */
static __attribute__((noinline)) struct thread *self(void)
{
	const pthread_t caller = fpx_native.pthread_self();

	return fpx_fiber() && fpx_thread_is(caller) ? thread_of(caller) : NULL;
}

pthread_t fpx_thread_of_fiber(struct fiber *self)
{
	return (pthread_t)self;
}

struct fiber *fpx_thread_fiber(pthread_t thread)
{
	const struct thread *t = thread_of(thread);

	if (is_record(thread))
		return (struct fiber *)thread;
	if (t)
		return t->fiber;
	return thread == fpx_native.pthread_self() ? fiber_self() : NULL;
}

static sigset_t mask_at_start; /* I: of the program, before it made threads */

void fpx_child_mask(sigset_t *ret)
{
	struct thread *t = self();

	*ret = t ? t->mask.blocked : mask_at_start;
}

struct fpx_mask *fpx_thread_mask_of(pthread_t thread)
{
	struct thread *t = thread_of(thread);

	return t ? &t->mask : NULL;
}

/* -- run it -- */

static int *live; /* I: the C library's number of threads, or NULL */

/* The end of the caller of fork() in the child. As in the C library the last thread ends the process. */
static _Noreturn void end_in_child(void)
{
	if (live && __atomic_sub_fetch(live, 1, __ATOMIC_ACQ_REL) == 0)
		exit(0);
	for (;;)
		syscall(SYS_exit, 0);
}

/* The fiber's part of thread.state. */
static void end(struct thread *t, void *value)
{
	int state = JOINABLE;

	t->value = value;
	if (__atomic_compare_exchange_n(&t->state, &state, ENDED, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return;
	*fiber_own_tls_word((void *)fpx_native.pthread_self()) = NULL;
	free(t);
}

/* The calling thread ends. What it calls now may wait: it is not cancelled any more. */
static void begin_end(struct thread *t)
{
	if (!t->exits)
		fiber_cancel_mask();
	t->exits = true;
}

static void *run(fiber_fn *fn, void *arg)
{
	struct start start = {.value = NULL};

	fpx_own_tls = true;
	fiber_setspecific(start_key, &start);
	if (self())
		__atomic_store_n(&self()->mask.unrestarted, fpx_unrestarted_flag(),
				 __ATOMIC_RELEASE);
	if (!__sigsetjmp_cancel(start.jump.__cancel_jmp_buf, 0)) {
		__pthread_register_cancel(&start.jump);
		start.value = fn(arg);
		__pthread_unregister_cancel(&start.jump);
	}
	if (self())
		begin_end(self());
	fiber_own_tls_finish();
	fpx_keys_end();
	if (!fiber_self())
		end_in_child();
	if (self()) {
		fpx_home_lose(fiber_self());
		fpx_mask_end(&self()->mask);
		end(self(), start.value);
	}
	return start.value;
}

/* What the caller of fork() blocks, if it is a fiber. Initial-exec: the library is never loaded later than
 * the program. */
static __thread struct {
	bool fiber;
	sigset_t mask;
} forks __attribute__((tls_model("initial-exec")));

static void before_fork(void)
{
	forks.fiber = fiber_self() != NULL;
	if (forks.fiber)
		fpx_child_mask(&forks.mask);
}

/* The child has the thread that called fork(), with the mask of the fiber that it was, and no fibers. */
static void become_thread(void)
{
	__atomic_store_n(&adopter, NULL, __ATOMIC_RELEASE);
	fpx_home_forget(forks.fiber ? &forks.mask : NULL);
}

__attribute__((constructor)) static void prepare(void)
{
	fpx_native.pthread_sigmask(SIG_SETMASK, NULL, &mask_at_start);
	pthread_atfork(before_fork, NULL, become_thread);
	fpx_find("__nptl_nthreads", &live);
	if (fiber_key_create(&start_key, NULL) < 0)
		return;
	fiber_own_tls_set_main(run);
	fpx_on_cancelled = fpx_thread_test_cancel;
}

struct fpx_mask *fpx_thread_mask(void)
{
	struct thread *t = self();

	return t ? &t->mask : NULL;
}

bool fpx_thread_can_exit(void)
{
	return fpx_fiber() && start_key && fiber_getspecific(start_key);
}

void fpx_thread_exit(void *value)
{
	struct start *start = fiber_getspecific(start_key);
	struct thread *t = self();

	if (t)
		begin_end(t);
	start->value = value;
	fpx_native.pthread_exit(value);
	__builtin_unreachable();
}

/* -- make it -- */

void fpx_thread_adopt(struct fiber_runtime *rt, size_t stack_size)
{
	default_stack = stack_size;
	__atomic_store_n(&adopter, rt, __ATOMIC_RELEASE);
}

/* What of the attributes is a fiber's. The scheduling of a thread is not. */
static void translate(const pthread_attr_t *attr, struct fiber_attr *ret)
{
	size_t size = 0, guard;
	void *stack = NULL;

	*ret = (struct fiber_attr){
		.size = sizeof *ret, .flags = FIBER_OWN_TLS, .stack_size = default_stack};
	if (!attr)
		return;
	/* The C library has the upper end, which is 0 without a stack. */
	if (pthread_attr_getstack(attr, &stack, &size) == 0 && (uintptr_t)stack + size != 0) {
		ret->stack = stack;
		ret->stack_size = size;
	} else if (pthread_attr_getstacksize(attr, &size) == 0 && size) {
		ret->stack_size = size;
		if (pthread_attr_getguardsize(attr, &guard) == 0)
			ret->guard_size = guard;
	}
}

static int positive(int rc)
{
	return rc == -ENOMEM || rc == -ESHUTDOWN ? EAGAIN : -rc;
}

int fpx_thread_create(pthread_t *ret, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	struct fiber_runtime *rt = __atomic_load_n(&adopter, __ATOMIC_ACQUIRE);
	struct thread *t = calloc(1, sizeof *t);
	struct fiber_attr wanted;
	struct fiber *fiber;
	int detached = PTHREAD_CREATE_JOINABLE;
	int rc;

	if (!t)
		return EAGAIN;
	translate(attr, &wanted);
	rc = fiber_create(&wanted, start, arg, &fiber);
	if (rc < 0) {
		free(t);
		return positive(rc);
	}
	t->fiber = fiber;
	if (attr)
		pthread_attr_getdetachstate(attr, &detached);
	t->claimed = detached == PTHREAD_CREATE_DETACHED;
	t->state = t->claimed ? DETACHED : JOINABLE;
	*fiber_own_tls_word(fiber_own_tls(fiber)) = t;
	*ret = (pthread_t)fiber_own_tls(fiber); /* before it runs: it may read it */
	fpx_mask_begin(&t->mask, fpx_thread_mask());
	rc = fiber_submit(rt, fiber);
	if (rc < 0) {
		fpx_mask_end(&t->mask);
		*fiber_own_tls_word(fiber_own_tls(fiber)) = NULL;
		free(t);
		fiber_detach(fiber);
		return positive(rc);
	}
	if (detached == PTHREAD_CREATE_DETACHED)
		fiber_detach(fiber);
	return 0;
}

/* Where a field of a fiber's record is. */
static size_t field(unsigned which)
{
	return fiber_registry.fields[which].offset;
}

int fpx_thread_attributes(pthread_t thread, pthread_attr_t *ret)
{
	const struct thread *t = thread_of(thread);
	const char *const record = (const char *)fpx_thread_fiber(thread);
	int rc;

	if (!record)
		return ESRCH;
	rc = pthread_attr_init(ret);
	if (rc)
		return rc;
	pthread_attr_setstack(
		ret, *(void *const *)(const void *)(record + field(FIB_FIELD_STACK_LOW)),
		*(const size_t *)(const void *)(record + field(FIB_FIELD_STACK_SIZE)));
	pthread_attr_setdetachstate(ret,
				    t && __atomic_load_n(&t->state, __ATOMIC_ACQUIRE) == DETACHED);
	return 0;
}

/* -- join it -- */

/* The fiber has ended, and its block is the caller's. */
static void release(pthread_t thread, struct thread *t)
{
	*fiber_own_tls_word((void *)thread) = NULL;
	free(t);
	fiber_own_tls_give((void *)thread);
}

static bool claim(struct thread *t)
{
	return !__atomic_exchange_n(&t->claimed, true, __ATOMIC_ACQUIRE);
}

static void unclaim(struct thread *t)
{
	__atomic_store_n(&t->claimed, false, __ATOMIC_RELEASE);
}

/* No cancellation point. */
static int await_uncancelled(struct thread *t, int64_t deadline)
{
	int rc;

	fiber_cancel_mask();
	rc = fiber_join(t->fiber, NULL, deadline);
	fiber_cancel_unmask();
	return rc;
}

/* Wait for the end of a thread that the caller has claimed. Returns 0 or a negative errno. */
static int await(struct thread *t, int64_t deadline)
{
	int rc;

	do
		rc = fiber_join(t->fiber, NULL, deadline);
	while (rc == -ECANCELED && !fiber_cancelled());
	if (rc != -ECANCELED)
		return rc;
	unclaim(t); /* the caller may end here */
	fpx_thread_test_cancel();
	/* It ends already, or its cancellation is disabled. */
	return claim(t) ? await_uncancelled(t, deadline) : -EINVAL;
}

int fpx_thread_join(pthread_t thread, void **ret, int64_t deadline)
{
	struct thread *t = thread_of(thread);
	int rc;

	if (fpx_thread_fiber(thread) == fiber_self() && fiber_self())
		return EDEADLK;
	/* It was joined, or detached and has ended, or it was not made here. */
	if (!t)
		return ESRCH;
	if (!claim(t))
		return EINVAL;
	rc = deadline == 0 ? await_uncancelled(t, 0) : await(t, deadline);
	if (rc == -ETIMEDOUT)
		unclaim(t);
	if (rc < 0)
		return rc == -ETIMEDOUT && deadline == 0 ? EBUSY : -rc;
	if (ret)
		*ret = t->value;
	release(thread, t);
	return 0;
}

int fpx_thread_detach(pthread_t thread)
{
	struct thread *t = thread_of(thread);
	struct fiber *const fiber = t ? t->fiber : NULL;
	int state = JOINABLE;

	if (!t)
		return ESRCH;
	/* As in the C library: no error if another caller waits for it. */
	if (!claim(t))
		return __atomic_load_n(&t->state, __ATOMIC_ACQUIRE) == DETACHED ? EINVAL : 0;
	/* After this it may end, and release what t is. */
	if (__atomic_compare_exchange_n(&t->state, &state, DETACHED, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE)) {
		fiber_detach(fiber);
		return 0;
	}
	/* It is about to leave. */
	await_uncancelled(t, FIBER_FOREVER);
	release(thread, t);
	return 0;
}

/* -- cancel it -- */

int fpx_thread_cancel(pthread_t thread)
{
	struct thread *t = thread_of(thread);

	if (!t)
		return ESRCH;
	__atomic_store_n(&t->cancelled, true, __ATOMIC_RELEASE);
	if (__atomic_load_n(&t->state, __ATOMIC_ACQUIRE) != ENDED)
		fiber_cancel(t->fiber);
	return 0;
}

int fpx_thread_cancel_state(int state, int *before)
{
	struct thread *t = self();
	const bool disable = state == PTHREAD_CANCEL_DISABLE;

	if (state != PTHREAD_CANCEL_ENABLE && !disable)
		return EINVAL;
	if (before)
		*before = t && t->uncancelled ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;
	if (!t || t->uncancelled == disable)
		return 0;
	t->uncancelled = disable;
	if (disable)
		fiber_cancel_mask();
	else
		fiber_cancel_unmask();
	return 0;
}

void fpx_thread_test_cancel(void)
{
	struct thread *t = self();

	if (!t || !__atomic_load_n(&t->cancelled, __ATOMIC_ACQUIRE) || t->uncancelled || t->exits)
		return;
	fpx_thread_exit(PTHREAD_CANCELED);
}

bool fpx_thread_can_stop(void)
{
	struct thread *t = self();

	return t && (!fiber_cancelled() || __atomic_load_n(&t->cancelled, __ATOMIC_ACQUIRE));
}
