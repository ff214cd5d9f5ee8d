/* SPDX-License-Identifier: MIT */
/*
 * fiber.h - one fiber: its life, its name, its pins
 *
 * A handle is valid until the fiber is joined or detached, and every call that takes one needs
 * it valid until the call has returned. "From a fiber or a thread": of any runtime, or none.
 * What acts on the calling fiber says what it does elsewhere. No call is async-signal-safe but
 * those that say so. Deadlines are absolute nanoseconds on fiber_now()'s clock.
 */
#ifndef FIBER_FIBER_H
#define FIBER_FIBER_H

#include <fiber/api.h>

FIBER_BEGIN_DECLS

struct fiber;
struct fiber_runtime;

typedef unsigned fiber_key_t; /* of a fiber-local value, see below; never 0 */

/* A pthread start routine fits unchanged. The value returned reaches whoever joins the fiber. */
typedef void *fiber_fn(void *arg);

/* How a fiber ended. error is what fiber_fail() was given (negative); else -ECANCELED when it was
 * cancelled before its end, whether it took notice or not; else 0. value is what it returned in
 * any case but fiber_fail(). */
struct fiber_result {
	void *value;
	int error;
};

enum fiber_state {
	FIBER_CREATED,	 /* exists, has not been submitted */
	FIBER_RUNNABLE,	 /* waits for a carrier */
	FIBER_RUNNING,	 /* runs on a carrier */
	FIBER_SUSPENDED, /* waits for something else */
	FIBER_DEAD,	 /* has ended, not yet joined */
};

enum {
	FIBER_DETACHED = 1,   /* nobody will join it */
	FIBER_BOUND = 2,      /* one carrier's, chosen when it is submitted: never migrates */
	FIBER_BACKGROUND = 4, /* does not keep the runtime alive: fiber_runtime_finish() */
	FIBER_IDLE = 8,	      /* runs only when nothing else is runnable, see below */
	FIBER_UNWIND = 16,    /* fiber_exit() and fiber_fail() run C++ destructors, see there */
};

/*
 * An idle fiber, one with FIBER_IDLE, is given a carrier only where that would go to sleep
 * otherwise: nothing else is runnable there, nothing has come from outside, and no other carrier
 * has a fiber to give away. It is as cooperative as any: it keeps its carrier until it yields or
 * waits, so one that computes yields now and then, and by that lets everything go first that has
 * become runnable meanwhile. Its yield costs more than another fiber's, since the carrier looks
 * everywhere each time. Several take turns, one yield each. A fiber that yields in a loop is
 * runnable all the time: beside it, on one carrier, no idle fiber ever runs.
 *
 * It can wait for anything and be waited for; whoever holds a lock that others want should not
 * be idle. It keeps its runtime alive unless FIBER_BACKGROUND is set too. With FIBER_BOUND it is
 * one carrier's.
 */

/* A fiber-local value; declared out here so that it has one name in C and C++. */
struct fiber_local {
	fiber_key_t key;
	const void *value;
};

/* Zero-initialise, then set size to sizeof(struct fiber_attr). */
struct fiber_attr {
	size_t size;
	const char *name;  /* copied, up to 31 bytes; NULL: none */
	size_t stack_size; /* bytes; 0: the runtime's default */
	/* The caller's memory to run on, of stack_size bytes, 16 KiB at least; or NULL. It has no
	 * guard, and stays until the fiber was joined or, detached, its runtime was finished. */
	void *stack;
	unsigned flags;			  /* FIBER_DETACHED, ... */
	const struct fiber_local *locals; /* values it begins with, or NULL */
	size_t nlocals;
	/* Bytes below the stack that fault on access, up to 64 MiB, rounded up to a power of two;
	 * 0: the runtime's default. 0 with stack. */
	size_t guard_size;
};

/*
 * Make a fiber without running it. attr may be NULL. From a fiber or a thread. *ret is the
 * caller's until it is submitted and then joined or detached. -EINVAL for an attr that makes no
 * sense or names a key that does not exist, -ENOMEM without memory for a record, a stack or locals,
 * -EAGAIN when the registry is full. What locals name stays the caller's until the fiber runs.
 */
FIBER_API int fiber_create(const struct fiber_attr *attr, fiber_fn *fn, void *arg,
			   struct fiber **ret);

/* Make a created fiber runnable in rt; NULL: the caller's runtime. From a fiber or a thread.
 * -EPERM with NULL outside a fiber, -EINVAL when it was submitted before, -ESHUTDOWN when the
 * runtime is finishing. */
FIBER_API int fiber_submit(struct fiber_runtime *rt, struct fiber *fiber);

/* Create and submit in the caller's runtime. ret NULL: detached. Errors as above, -EPERM outside a
 * fiber. A failed spawn leaves nothing behind. */
FIBER_API int fiber_spawn(fiber_fn *fn, void *arg, struct fiber **ret);
FIBER_API int fiber_spawn_attr(const struct fiber_attr *attr, fiber_fn *fn, void *arg,
			       struct fiber **ret);

/*
 * Wait until the fiber has ended, take its result, release it. From a fiber or a thread. 0;
 * -ETIMEDOUT when the deadline passes first, -ECANCELED when the caller is cancelled and would
 * wait, -EDEADLK in a pinned fiber under FIBER_PINNED_ERROR, -ENOMEM without memory for the
 * deadline: the handle is still the caller's and the fiber can be joined again. Joining oneself,
 * a detached fiber or a fiber that somebody else joins is misuse and aborts.
 */
FIBER_API int fiber_join(struct fiber *fiber, struct fiber_result *ret, int64_t deadline);

/* Give the handle back; the fiber releases itself when it ends, and one that was not submitted
 * never runs. Always 0. From a fiber or a thread. Detaching what is detached or being joined is
 * misuse and aborts. */
FIBER_API int fiber_detach(struct fiber *fiber);

/* The calling fiber, NULL outside a fiber. From anywhere, also a signal handler. */
FIBER_API struct fiber *fiber_self(void);

/* Counts up from 1, never reused in a process. From anywhere, also a signal handler. */
FIBER_API uint64_t fiber_id(const struct fiber *fiber);

/* The name, "" when there is none. Valid as long as the handle; fiber_set_name() changes it in
 * place. From anywhere, also a signal handler. */
FIBER_API const char *fiber_name(const struct fiber *fiber);

/* Name the fiber for the tools; up to 31 bytes are copied, NULL clears. Returns 0, or the number
 * of bytes that did not fit. From the fiber itself, or from whoever holds a handle to it. */
FIBER_API int fiber_set_name(struct fiber *fiber, const char *name);

/* What it does at this moment, which may be over when this returns. From anywhere, also a signal
 * handler. */
FIBER_API enum fiber_state fiber_state(const struct fiber *fiber);

/* Let every other runnable fiber of this carrier run once. 0; -EPERM pinned or outside a fiber. */
FIBER_API int fiber_yield(void);

/* Suspend until fiber_unpark() or the deadline. A token given early is kept, one at
 * most, and makes the next park return at once. 0; -ETIMEDOUT; -ECANCELED; -EPERM pinned or
 * outside a fiber; -ENOMEM without memory for the deadline. */
FIBER_API int fiber_park(int64_t deadline);

/* Wake a parked fiber or leave it a token. Always 0. From a fiber or a thread; not from a signal
 * handler, which may have interrupted a carrier in the middle of its queue. What the caller did
 * before can be seen after the park. */
FIBER_API int fiber_unpark(struct fiber *fiber);

/*
 * Wait until ready(arg) returns true, for what nobody announces; what can be announced is better
 * waited for with a condition or an event. This is the one primitive that polls: it asks at
 * once, then after each of 32 yields, then after sleeps that grow from 10 us to 1 ms, and once
 * more at the deadline (absolute ns). ready is called by the waiter itself and must not wait.
 * From a fiber, which parks in between, or a thread, which blocks. 0; -ETIMEDOUT; -ECANCELED in
 * a cancelled fiber; -EDEADLK in a pinned fiber under FIBER_PINNED_ERROR; -ENOMEM without memory
 * for a deadline. The tools show arg as the object.
 */
FIBER_API int fiber_wait_until(bool (*ready)(void *), void *arg, int64_t deadline);

/*
 * Ask a fiber to end. The wait it is in returns -ECANCELED, and so does every wait it begins
 * from then on: the request is never withdrawn. Nothing is lost by that: bytes that were moved
 * are returned first, a wait that ended with -ECANCELED was not granted anything, and
 * fiber_cond_wait() holds the mutex again. Calls that need not wait work as ever, so a fiber can
 * clean up, unlock and hand on what it has. A fiber that does not wait runs on until it asks
 * fiber_cancelled(). A pinned fiber that blocks in the system for a descriptor learns of it when
 * that call ends.
 *
 * The handle must be valid; a fiber that has ended or was not submitted yet may be cancelled,
 * the latter never waits. A fiber may cancel itself. Always 0. From a fiber of any runtime or a
 * thread.
 */
FIBER_API int fiber_cancel(struct fiber *fiber);

/* Whether the calling fiber was cancelled; false outside a fiber. From a fiber or a thread. */
FIBER_API bool fiber_cancelled(void);

/*
 * Between these two, cancellations do not end the calling fiber's waits: neither one that came
 * before nor one that comes meanwhile. So a cancelled fiber can clean up where that has to wait.
 * A request is kept, and the first wait after the last unmask returns -ECANCELED;
 * fiber_cancelled() reports it at any time. The calls nest, up to 255 deep. A masked wait ends
 * as any other does, at its deadline too, but nothing else can end it: it should be short or have
 * a deadline. A runtime that finishes waits for its masked background fibers.
 *
 * A fiber that ends masks no more: its exit handlers and the destructors of its fiber-local values
 * begin unmasked and mask where they have to wait. From a fiber; elsewhere no effect. To unmask
 * what is not masked is misuse and aborts.
 */
FIBER_API void fiber_cancel_mask(void);
FIBER_API void fiber_cancel_unmask(void);

/* Masks until the enclosing block is left, by any way out, as FIBER_PINNED_SCOPE pins.
 * A declaration: { FIBER_CANCEL_MASKED_SCOPE; ... } */
#define FIBER_CANCEL_MASKED_SCOPE	   FIBER_CANCEL_MASKED_SCOPE_AT(__LINE__)
#define FIBER_CANCEL_MASKED_SCOPE_AT(line) FIBER_CANCEL_MASKED_SCOPE_NAMED(line)
#define FIBER_CANCEL_MASKED_SCOPE_NAMED(line)                           \
	__attribute__((cleanup(fiber_cancel_masked_scope_end), unused)) \
	const int fiber_cancel_masked_at_##line = (fiber_cancel_mask(), 0)
/* Called where the block is left; for FIBER_CANCEL_MASKED_SCOPE only. */
FIBER_API void fiber_cancel_masked_scope_end(const int *scope);

/*
 * End the calling fiber with a value. Outside a fiber it is misuse and aborts.
 *
 * This and fiber_fail() leave the fiber's functions where they are: by default no destructor of a C++ object
 * on its stack runs. With FIBER_UNWIND, or the option unwind of its runtime, the stack is unwound
 * first, as pthread_exit() does: destructors run, the innermost function's first, then the exit handlers, then the
 * destructors of fiber-local values. Destructors may wait. A catch (...) on the way must rethrow, and a function that is
 * noexcept must not be left: either aborts. Calling this again in such a destructor ends the fiber
 * there, without the rest of the destructors. So is a fiber unwound that its runtime ends:
 * fiber_runtime_finish(). A program without C++ has no unwinder, and nothing is unwound.
 */
FIBER_API FIBER_NORETURN void fiber_exit(void *value);

/* End the calling fiber with an error (a negative errno; a positive one is negated, 0 becomes
 * -EINVAL). The text is kept for the tools and cut at 95 bytes; fmt may be NULL. */
FIBER_API FIBER_NORETURN void fiber_fail(int error, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* A pinned fiber neither yields nor migrates; fiber_yield() and fiber_park() give -EPERM, any
 * other wait follows the runtime's pinned-blocking policy. Pins nest. From a fiber; elsewhere no
 * effect. Unpinning what is not pinned is misuse and aborts. */
FIBER_API void fiber_pin(void);
FIBER_API void fiber_unpin(void);

/* Pins until the enclosing block is left, by any way out: its end, break, goto, return,
 * fiber_exit(), a C++ exception. A fiber that ends is pinned no more: its exit handlers may wait.
 * A declaration: { FIBER_PINNED_SCOPE; ... } */
#define FIBER_PINNED_SCOPE	    FIBER_PINNED_SCOPE_AT(__LINE__)
#define FIBER_PINNED_SCOPE_AT(line) FIBER_PINNED_SCOPE_NAMED(line)
#define FIBER_PINNED_SCOPE_NAMED(line)                           \
	__attribute__((cleanup(fiber_pinned_scope_end), unused)) \
	const int fiber_pinned_at_##line = (fiber_pin(), 0)
/* Called where the block is left; for FIBER_PINNED_SCOPE only. */
FIBER_API void fiber_pinned_scope_end(const int *scope);

/*
 * Have fn(arg) called when the calling fiber ends: when its function returns, by fiber_exit()
 * and by fiber_fail() alike. The handler added last is called first, once, on the fiber's own
 * stack, before the fiber counts as ended: nobody's fiber_join() returns before. A handler may
 * do what any code of the fiber may: wait, and add handlers, which are called next. One that
 * calls fiber_exit() or fiber_fail() is left there and the handlers after it are called; the
 * last value and the last error given are the fiber's, and fiber_exit() does not take an error
 * back. -EPERM outside a fiber, -EINVAL without fn, -ENOMEM.
 */
FIBER_API int fiber_at_exit(void (*fn)(void *), void *arg);

/*
 * Fiber-local values, in the shape of pthread's. A key names one value in every fiber, NULL at
 * first. There are up to 1024 keys in a process: -EAGAIN beyond. destroy, where it is not NULL,
 * is called with each value that is not NULL when its fiber ends, after the exit handlers, on
 * the fiber's own stack; the value reads as NULL by then. Destructors may wait, and may set
 * values, which are destroyed in up to 3 more rounds and then forgotten. A handler that a
 * destructor adds is called right after it; a destructor that ends the fiber again is left
 * there. From a fiber or a thread, of any runtime or none.
 */
FIBER_API int fiber_key_create(fiber_key_t *ret, void (*destroy)(void *));

/* Give the key back. The values set under it are forgotten, not destroyed, and no fiber may use
 * the key again: fiber_setspecific() says -EINVAL, and so does a second deletion. Another thread's
 * fiber may be in the key's destructor just now. From a fiber or a thread. */
FIBER_API int fiber_key_delete(fiber_key_t key);

/* Set the calling fiber's value. -EINVAL for a key that does not exist, -ENOMEM, -EPERM outside a
 * fiber. Never waits. */
FIBER_API int fiber_setspecific(fiber_key_t key, const void *value);

/* The calling fiber's value: NULL when it set none, for a key that does not exist, and outside a
 * fiber. A few loads. */
FIBER_API void *fiber_getspecific(fiber_key_t key);

/*
 * Put a label key=value on the calling fiber, for the tools: "request" = "GET /", "user" =
 * "4711". Setting a key again replaces its value, value NULL removes it. Both are copied. Labels
 * stay until the fiber has been joined or, detached, has ended. A fiber's labels together take
 * up to 246 bytes, each the length of its key and its value and 2 more: -ENOSPC when there is no
 * room beside the others, -ENAMETOOLONG for one that would not fit alone; then nothing has
 * changed. -EINVAL for a key that is NULL or empty or has a '=' in it, -ENOMEM when there is no
 * memory for the first one, -EPERM outside a fiber. Never waits.
 */
FIBER_API int fiber_label(const char *key, const char *value);

/* Whether fiber_yield() would: inside a fiber that is not pinned. From anywhere, also a signal
 * handler. */
FIBER_API bool fiber_can_yield(void);

FIBER_END_DECLS

#endif
