/* SPDX-License-Identifier: MIT */
/*
 * fiber.h - a fiber: life, name, pins, cancellation, fiber-local values, labels
 *
 * A handle is valid until the fiber is joined or detached. It must stay valid until every call that
 * takes it has returned. "From a fiber or a thread" means of any runtime, or of none. A function
 * that acts on the calling fiber documents its effect outside one. Only calls that are marked "also
 * a signal handler" are async-signal-safe. Deadlines are absolute nanoseconds on fiber_now()'s
 * clock.
 */
#ifndef FIBER_FIBER_H
#define FIBER_FIBER_H

#include <fiber/api.h>

FIBER_BEGIN_DECLS

struct fiber;
struct fiber_runtime;

typedef unsigned fiber_key_t; /* key of a fiber-local value, see below; never 0 */

/* A pthread start routine fits unchanged. The caller of fiber_join() gets the value returned. */
typedef void *fiber_fn(void *arg);

/* How a fiber exited. error is the negative argument of fiber_fail(); else -ECANCELED when the
 * fiber was cancelled before it exited, whether it noticed or not; else 0. value is what the fiber
 * returned or gave to fiber_exit(), unless it called fiber_fail(). */
struct fiber_result {
	void *value;
	int error;
};

enum fiber_state {
	FIBER_CREATED,	 /* exists, not yet submitted */
	FIBER_RUNNABLE,	 /* waits for a carrier */
	FIBER_RUNNING,	 /* runs on a carrier */
	FIBER_SUSPENDED, /* waits for something else */
	FIBER_DEAD,	 /* has exited, not yet joined */
};

enum {
	FIBER_DETACHED = 1,   /* is never joined */
	FIBER_BOUND = 2,      /* stays on one carrier, chosen at submission: never migrates */
	FIBER_BACKGROUND = 4, /* does not keep the runtime alive: fiber_runtime_finish() */
	FIBER_IDLE = 8,	      /* runs only when nothing else is runnable, see below */
	FIBER_UNWIND = 16,    /* fiber_exit() and fiber_fail() run C++ destructors, see there */
	FIBER_MIGRATES = 32,  /* not bound by fiber_runtime_bind(); not with FIBER_BOUND */
	FIBER_OWN_TLS = 64,   /* has thread-locals of its own, see below */
};

/*
 * The thread-locals (__thread, thread_local) of a fiber without FIBER_OWN_TLS are those of the thread
 * that runs it: it shares them with the other fibers of its carrier. With FIBER_OWN_TLS it has its own,
 * with errno, pthread_self(3), the locale and all other things that the C library keeps by thread. They
 * have their initial values when the fiber begins; destructors run when it ends. Addresses of them
 * stay valid while the fiber exists, so code that keeps one across a wait may migrate, and
 * fiber_runtime_bind() does not bind such a fiber. A switch to or from it takes some 10 ns more. Values
 * of pthread_setspecific(3) are its own too; their destructors run only where libfiber-posix is linked.
 *
 * It exists with the GNU C library on x86-64, in a dynamic program, without a sanitizer; elsewhere
 * making such a fiber returns -ENOTSUP. A module with thread-locals in static TLS that dlopen(3) loads
 * while the fiber exists has zeros in it.
 */

/*
 * A fiber with FIBER_IDLE gets a carrier only when that carrier would sleep otherwise: it has
 * nothing else to run, nothing has arrived from outside, and no other carrier has a fiber to give
 * away. An idle fiber keeps its carrier until it yields or waits, like any other fiber. One that
 * computes should yield now and then: its yield lets everything run first that has become runnable
 * meanwhile.
 *
 * The yield of an idle fiber costs more than another fiber's, because the carrier searches all
 * queues each time. Several idle fibers take turns, one yield each. A fiber that yields in a loop
 * is always runnable: on the same carrier no idle fiber ever runs beside it.
 *
 * An idle fiber may wait for anything and be waited for. It should not hold a lock that other
 * fibers want. It keeps its runtime alive unless FIBER_BACKGROUND is set too. With FIBER_BOUND it
 * stays on one carrier.
 */

/* A fiber-local value. Declared outside struct fiber_attr so that it has one name in C and C++. */
struct fiber_local {
	fiber_key_t key;
	const void *value;
};

/* Zero-initialise, then set size to sizeof(struct fiber_attr). */
struct fiber_attr {
	size_t size;
	const char *name;  /* copied, up to 31 bytes; NULL: none */
	size_t stack_size; /* bytes; 0: the runtime's default */
	/* The caller's memory to run on, of stack_size bytes, at least 16 KiB; or NULL. It has
	 * no guard. It must stay until the fiber was joined or, if detached, its runtime was
	 * finished. */
	void *stack;
	unsigned flags;			  /* FIBER_DETACHED, ... */
	const struct fiber_local *locals; /* initial values, or NULL */
	size_t nlocals;
	/* Bytes below the stack that fault on access, up to 64 MiB, rounded up to a power of two;
	 * 0: the runtime's default. Must be 0 with stack. */
	size_t guard_size;
};

/*
 * Make a fiber without running it. attr may be NULL. From a fiber or a thread. *ret is the caller's
 * until it is submitted and then joined or detached. The memory that the values of locals point to
 * stays the caller's until the fiber runs.
 *
 * Returns 0; -EINVAL for an invalid attr or a key that does not exist in locals; -ENOMEM without
 * memory for a record, a stack or locals; -EAGAIN when the registry is full; -ENOTSUP for
 * FIBER_OWN_TLS where fibers cannot have it.
 */
FIBER_API int fiber_create(const struct fiber_attr *attr, fiber_fn *fn, void *arg,
			   struct fiber **ret);

/* Make a created fiber runnable in rt; NULL: the caller's runtime. From a fiber or a thread.
 * Returns 0; -EPERM with NULL outside a fiber; -EINVAL when it was submitted before; -ESHUTDOWN
 * when the runtime is finishing. */
FIBER_API int fiber_submit(struct fiber_runtime *rt, struct fiber *fiber);

/* Create and submit in the caller's runtime. ret NULL: detached. Returns the errors above, and
 * -EPERM outside a fiber. A failed spawn leaves nothing allocated. */
FIBER_API int fiber_spawn(fiber_fn *fn, void *arg, struct fiber **ret);
FIBER_API int fiber_spawn_attr(const struct fiber_attr *attr, fiber_fn *fn, void *arg,
			       struct fiber **ret);

/*
 * Wait until the fiber has exited, take its result and release it. From a fiber or a thread.
 *
 * Returns 0; -ETIMEDOUT when the deadline passes first; -ECANCELED when the caller is cancelled and
 * would wait; -EDEADLK in a pinned fiber under FIBER_PINNED_ERROR; -ENOMEM without memory for the
 * deadline. After an error the handle is still the caller's and the fiber can be joined again.
 * Joining oneself, a detached fiber or a fiber that another caller joins is misuse and aborts.
 */
FIBER_API int fiber_join(struct fiber *fiber, struct fiber_result *ret, int64_t deadline);

/* Release the handle. The fiber releases itself when it exits; one that was not submitted never
 * runs. Always returns 0. From a fiber or a thread. Detaching a fiber that is detached or being
 * joined is misuse and aborts. */
FIBER_API int fiber_detach(struct fiber *fiber);

/* Return the calling fiber, NULL outside a fiber. From anywhere, also a signal handler. */
FIBER_API struct fiber *fiber_self(void);

/* Return the id: ids count up from 1 and are never reused in a process. From anywhere, also a
 * signal handler. */
FIBER_API uint64_t fiber_id(const struct fiber *fiber);

/* Return the name, "" when there is none. The pointer is valid as long as the handle;
 * fiber_set_name() changes the text in place. From anywhere, also a signal handler. */
FIBER_API const char *fiber_name(const struct fiber *fiber);

/* Name the fiber for the tools. Up to 31 bytes are copied; NULL clears the name. Returns 0, or the
 * number of bytes that did not fit. From the fiber itself or from a holder of its handle. */
FIBER_API int fiber_set_name(struct fiber *fiber, const char *name);

/* Return the fiber's state. It may have changed when this returns. From anywhere, also a signal
 * handler. */
FIBER_API enum fiber_state fiber_state(const struct fiber *fiber);

/* Let every other runnable fiber of this carrier run once. Returns 0, or -EPERM when pinned or
 * outside a fiber. */
FIBER_API int fiber_yield(void);

/* Suspend until fiber_unpark() or the deadline. An earlier unpark leaves a token, at most one, and
 * makes the next park return at once. Returns 0; -ETIMEDOUT; -ECANCELED; -EPERM when pinned or
 * outside a fiber; -ENOMEM without memory for the deadline. */
FIBER_API int fiber_park(int64_t deadline);

/* Wake a parked fiber or leave it a token. Always returns 0. From a fiber or a thread; not from a
 * signal handler, which may have interrupted a carrier that changes its queue. What the caller
 * wrote before is visible to the fiber after its park. */
FIBER_API int fiber_unpark(struct fiber *fiber);

/*
 * Poll until ready(arg) returns true. For conditions that no code signals; otherwise a condition
 * variable or an event is better. This is the only primitive that polls: it calls ready at once,
 * then after each of 32 yields, then after sleeps that grow from 10 us to 1 ms, and once more at
 * the deadline (absolute ns). The waiter itself calls ready, which must not wait. From a fiber,
 * which parks in between, or a thread, which blocks. The tools show arg as the object.
 *
 * Returns 0; -ETIMEDOUT; -ECANCELED in a cancelled fiber; -EDEADLK in a pinned fiber under
 * FIBER_PINNED_ERROR; -ENOMEM without memory for a deadline.
 */
FIBER_API int fiber_wait_until(bool (*ready)(void *), void *arg, int64_t deadline);

/*
 * Ask a fiber to exit. The fiber's current wait returns -ECANCELED, and so does every later wait. A
 * cancellation cannot be withdrawn. Nothing is lost: bytes that were moved are returned first, a
 * wait that returns -ECANCELED was granted nothing, and fiber_cond_wait() holds the mutex again.
 *
 * Calls that need not wait work as before, so a fiber can clean up, unlock and hand on what it
 * holds. A fiber that does not wait runs on until it calls fiber_cancelled(). A pinned fiber that
 * blocks in the system for a descriptor sees the cancellation when that call returns.
 *
 * The handle must be valid. A fiber that has exited may be cancelled, and one that was not yet
 * submitted, which then never waits. A fiber may cancel itself. Always returns 0. From a fiber of
 * any runtime or a thread.
 */
FIBER_API int fiber_cancel(struct fiber *fiber);

/* Whether the calling fiber was cancelled; false outside a fiber. From a fiber or a thread. */
FIBER_API bool fiber_cancelled(void);

/*
 * Mask and unmask cancellation of the calling fiber. While masked, no cancellation ends the fiber's
 * waits, whether it came before or comes during the mask. A cancelled fiber can so wait while it
 * cleans up. The request is kept: the first wait after the last unmask returns -ECANCELED, and
 * fiber_cancelled() reports it at any time. The calls nest, up to 255 deep.
 *
 * A masked wait ends as any other does, also at its deadline, but cannot be cancelled: it should be
 * short or have a deadline. A runtime that finishes waits for its masked background fibers.
 *
 * An exiting fiber is unmasked: its exit handlers and the destructors of its fiber-local values
 * start unmasked and mask where they have to wait. From a fiber; no effect elsewhere. Unmasking
 * without a mask is misuse and aborts.
 */
FIBER_API void fiber_cancel_mask(void);
FIBER_API void fiber_cancel_unmask(void);

/* Masks until the enclosing block is left by any path, as FIBER_PINNED_SCOPE pins.
 * A declaration: { FIBER_CANCEL_MASKED_SCOPE; ... } */
#define FIBER_CANCEL_MASKED_SCOPE	   FIBER_CANCEL_MASKED_SCOPE_AT(__LINE__)
#define FIBER_CANCEL_MASKED_SCOPE_AT(line) FIBER_CANCEL_MASKED_SCOPE_NAMED(line)
#define FIBER_CANCEL_MASKED_SCOPE_NAMED(line)                           \
	__attribute__((cleanup(fiber_cancel_masked_scope_end), unused)) \
	const int fiber_cancel_masked_at_##line = (fiber_cancel_mask(), 0)
/* Called when the block is left; for FIBER_CANCEL_MASKED_SCOPE only. */
FIBER_API void fiber_cancel_masked_scope_end(const int *scope);

/*
 * Exit the calling fiber with a value. Outside a fiber it is misuse and aborts.
 *
 * By default fiber_exit() and fiber_fail() do not unwind the stack: no destructor of a C++ object
 * on it runs. With FIBER_UNWIND, or the option unwind of the runtime, the stack is unwound first,
 * as pthread_exit() does: destructors run, the innermost function's first, then the exit handlers,
 * then the destructors of fiber-local values. Destructors may wait. A fiber that its runtime ends
 * is unwound likewise: see fiber_runtime_finish(). A program without C++ has no unwinder, and
 * nothing is unwound.
 *
 * A catch (...) on the way must rethrow, and the unwinding must not leave a function that is
 * noexcept: either aborts. Calling this function again in such a destructor ends the fiber there;
 * the remaining destructors do not run.
 */
FIBER_API FIBER_NORETURN void fiber_exit(void *value);

/* Exit the calling fiber with an error: a negative errno; a positive one is negated, 0 becomes
 * -EINVAL. The text is kept for the tools, up to 69 bytes; fmt may be NULL. */
FIBER_API FIBER_NORETURN void fiber_fail(int error, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Pin and unpin the calling fiber. A pinned fiber neither yields nor migrates: fiber_yield() and
 * fiber_park() return -EPERM, and any other wait follows the runtime's pinned-blocking policy. Pins
 * nest. From a fiber; no effect elsewhere. Unpinning a fiber that is not pinned is misuse and
 * aborts.
 */
FIBER_API void fiber_pin(void);
FIBER_API void fiber_unpin(void);

/* Pins until the enclosing block is left by any path: its end, break, goto, return, fiber_exit(), a
 * C++ exception. An exiting fiber is unpinned: its exit handlers may wait.
 * A declaration: { FIBER_PINNED_SCOPE; ... } */
#define FIBER_PINNED_SCOPE	    FIBER_PINNED_SCOPE_AT(__LINE__)
#define FIBER_PINNED_SCOPE_AT(line) FIBER_PINNED_SCOPE_NAMED(line)
#define FIBER_PINNED_SCOPE_NAMED(line)                           \
	__attribute__((cleanup(fiber_pinned_scope_end), unused)) \
	const int fiber_pinned_at_##line = (fiber_pin(), 0)
/* Called when the block is left; for FIBER_PINNED_SCOPE only. */
FIBER_API void fiber_pinned_scope_end(const int *scope);

/*
 * Register fn(arg) to be called when the calling fiber exits: when its function returns, by
 * fiber_exit() or by fiber_fail(). The handler added last is called first. Each is called once, on
 * the fiber's own stack, before any fiber_join() returns. A handler may wait and may add handlers,
 * which are called next.
 *
 * If a handler calls fiber_exit() or fiber_fail(), it stops there and the remaining handlers are
 * called. The last value and the last error given are the fiber's; fiber_exit() does not clear an
 * error. Returns 0; -EPERM outside a fiber; -EINVAL without fn; -ENOMEM.
 */
FIBER_API int fiber_at_exit(void (*fn)(void *), void *arg);

/*
 * Create a key for fiber-local values, as pthread_key_create() does for threads. A key names one
 * value in every fiber, initially NULL. destroy, if not NULL, is called with each value that is not
 * NULL when the value's fiber exits, after the exit handlers, on the fiber's own stack. The value
 * already reads as NULL then.
 *
 * Destructors may wait, and may set values, which are destroyed in up to 3 more rounds and then
 * dropped. A handler that a destructor adds is called right after it. A destructor that calls
 * fiber_exit() or fiber_fail() stops there. From a fiber or a thread, of any runtime or none.
 * Returns 0, or -EAGAIN when the process has 1024 keys.
 */
FIBER_API int fiber_key_create(fiber_key_t *ret, void (*destroy)(void *));

/* Delete the key. Its values are dropped, not destroyed, and no fiber may use the key again:
 * fiber_setspecific() and a second deletion return -EINVAL. A fiber on another thread may be in the
 * key's destructor at this moment. From a fiber or a thread. */
FIBER_API int fiber_key_delete(fiber_key_t key);

/* Set the calling fiber's value. Returns 0; -EINVAL for a key that does not exist; -ENOMEM; -EPERM
 * outside a fiber. Never waits. */
FIBER_API int fiber_setspecific(fiber_key_t key, const void *value);

/* Return the calling fiber's value: NULL when it set none, for a key that does not exist, and
 * outside a fiber. Costs a few loads. */
FIBER_API void *fiber_getspecific(fiber_key_t key);

/*
 * Put a label key=value on the calling fiber, for the tools: "request" = "GET /", "user" = "4711".
 * Setting a key again replaces its value; value NULL removes it. Both texts are copied. Labels stay
 * until the fiber has been joined or, if detached, has exited. A fiber's labels together take up to
 * 246 bytes; each takes the length of its key and its value and 2 more.
 *
 * Returns 0; -ENOSPC when there is no room beside the other labels; -ENAMETOOLONG for a label that
 * would not fit alone; -EINVAL for a key that is NULL or empty or contains '='; -ENOMEM without
 * memory for the first label; -EPERM outside a fiber. After an error nothing has changed. Never
 * waits.
 */
FIBER_API int fiber_label(const char *key, const char *value);

/* Return whether fiber_yield() would succeed: inside a fiber that is not pinned. From anywhere,
 * also a signal handler. */
FIBER_API bool fiber_can_yield(void);

FIBER_END_DECLS

#endif
