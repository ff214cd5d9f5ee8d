/* SPDX-License-Identifier: MIT */
/*
 * runtime.h - start, run and finish a runtime
 *
 * Carriers are threads that block all signals but SIGSEGV, SIGBUS, SIGFPE and SIGILL: the program's
 * own threads handle its signals. If SIGURG has its default action and is not blocked when a
 * runtime starts, its carriers leave SIGURG unblocked too. The library uses it to copy the stack of
 * a fiber that runs too long (long_run_ns).
 *
 * A caller that passes a runtime must ensure that it is not finished during the call. Only calls
 * that are marked "also a signal handler" are async-signal-safe.
 */
#ifndef FIBER_RUNTIME_H
#define FIBER_RUNTIME_H

#include <fiber/api.h>
#include <fiber/fiber.h>

FIBER_BEGIN_DECLS

/* What happens when a pinned fiber would wait. WARN records the event, prints a rate-limited line
 * on stderr and blocks the carrier; ERROR records it and returns -EDEADLK without waiting; SILENT
 * counts it and blocks. */
enum fiber_pinned_policy { FIBER_PINNED_WARN, FIBER_PINNED_ERROR, FIBER_PINNED_SILENT };

/*
 * What happens when a fiber or thread waits without a deadline for a lock that only it can release:
 * it holds the mutex or writes the rwlock already, or it asks to write what it alone reads.
 *
 * ABORT prints one line that names the caller and the lock and aborts. ERROR returns -EDEADLK at
 * once, also when the call has a deadline. WAIT waits, and the tools show the caller waiting for
 * itself. Under ABORT and WAIT a call with a deadline waits until then and returns -ETIMEDOUT. A
 * thread that is not a fiber follows the runtime that was started last.
 */
enum fiber_relock_policy { FIBER_RELOCK_ABORT, FIBER_RELOCK_ERROR, FIBER_RELOCK_WAIT };

/* What happens when a fiber, after its exit handlers, still holds a mutex or writes a rwlock, which
 * then stays locked forever. WARN prints a line that names the fiber, the lock and the place where
 * it was locked, at most one a second; ABORT prints it and aborts; SILENT does nothing. */
enum fiber_held_policy { FIBER_HELD_WARN, FIBER_HELD_ABORT, FIBER_HELD_SILENT };

/* Zero-initialise, then set size to sizeof(struct fiber_runtime_options). Memory that the fields
 * point to may be freed when the call that took the options returns, except idle_arg. */
struct fiber_runtime_options {
	size_t size;
	const char *name;  /* shown by the tools; NULL: the program's name */
	unsigned carriers; /* up to 256; 0: CPUs this process may use (affinity and cgroup quota) */
	size_t stack_size; /* default for fibers, bytes, up to 1 GiB; 0: 256 KiB */
	enum fiber_pinned_policy pinned_policy;
	/* A fiber that holds its carrier longer than this is reported once, with a rate-limited
	 * line on stderr; 'fiberctl slow' shows its stack. 0: 20 ms; negative: no reports. */
	int64_t long_run_ns;
	const char *control_path; /* NULL: default path; "": no control socket */
	int (*idle)(void *idle_arg, int64_t deadline); /* called instead of blocking; may be NULL */
	void *idle_arg;
	/* Default for fibers: bytes below the stack that fault on access, up to 64 MiB, rounded up
	 * to a power of two; 0: 64 KiB. */
	size_t guard_size;
	enum fiber_relock_policy relock_policy;
	enum fiber_held_policy held_policy;
	bool unwind; /* all fibers as with FIBER_UNWIND: fiber_exit() runs C++ destructors */
	/* The rounding mode and the other FPU control bits belong to the carrier, not to each
	 * fiber: a switch is some nanoseconds shorter. A fiber that changes them restores them
	 * before it calls anything that may wait. */
	bool shared_fpu;
	/* With substitutes, up to 256; 0: as carriers. A carrier that one fiber keeps for 10 ms,
	 * because it computes or blocks in a system call, gets a substitute, which runs the other
	 * fibers. Then more than `carriers` may run for a moment after that fiber has gone on. */
	unsigned carriers_max;
	/* A fiber that has waited for this long, ns, loses the pages of its stack that it does not
	 * use, and gets new ones when it needs them; 0: it keeps them. For many fibers that wait for
	 * long, as the connections of a server. The process's new stacks all begin at the end of a
	 * page then: a switch among many fibers takes longer. No fiber may be suspended in a context
	 * (context.h) whose memory is a part of its own stack. Without effect where membarrier(2) is
	 * not allowed. */
	int64_t trim_waiting_ns;
};

/*
 * The option idle is for a runtime inside a program with its own event loop, or with event sources
 * that have no descriptor. A carrier that has nothing to run calls the hook instead of waiting in
 * the operating system for descriptors, timers and other threads. The hook must return
 *
 *  - when deadline is reached (absolute ns, FIBER_FOREVER: none): this carrier's next timer is due;
 *  - when fiber_runtime_fd() is readable: a fiber's descriptor is ready, another thread has made a
 *    fiber runnable, or the runtime stops. A hook that polls this descriptor misses nothing.
 *
 * It may return earlier, at any time; then it is called again. Return 0 or more to continue. Return
 * a negative value if the hook cannot wait now: the runtime then waits in its own way this time, as
 * without a hook.
 *
 * The hook is called on a carrier's thread, whose signals are blocked, and never by two threads at
 * once. With several carriers the thread may change from call to call; with one carrier it is
 * always the same thread. While one carrier is in the hook, the other carriers that have nothing to
 * run sleep. While all carriers are busy the hook is not called. The first call comes after
 * fiber_runtime_start() has stored *ret, possibly before that function returns.
 *
 * In the hook the thread is not a fiber. It may make any call that a plain thread may: unpark,
 * spawn with fiber_runtime_spawn(), post. Fibers that it makes runnable run when it returns, and
 * make fiber_runtime_fd() readable. fiber_runtime_self() returns its runtime. It must not wait for
 * a fiber of its runtime, because it may keep that fiber from running.
 */

/*
 * Run fn as the first fiber, wait until every fiber except background ones has exited, end the
 * background fibers, stop. options may be NULL. From a thread that is not a fiber. Returns 0, and
 * *ret is the result of fn; -EINVAL for invalid options; -ENOMEM; -EAGAIN when threads cannot be
 * created; -EPERM inside a fiber.
 */
FIBER_API int fiber_run(fiber_fn *fn, void *arg, const struct fiber_runtime_options *options,
			struct fiber_result *ret);

/* As fiber_run(), for n fibers. ret_results[i] belongs to fns[i]; ret_results may be NULL. */
FIBER_API int fiber_run_many(fiber_fn *const fns[], void *const args[], size_t n,
			     const struct fiber_runtime_options *options,
			     struct fiber_result ret_results[]);

/* Start carriers and return. From a thread or a fiber. The runtime is the caller's until
 * fiber_runtime_finish(). Returns the errors of fiber_run(). */
FIBER_API int fiber_runtime_start(const struct fiber_runtime_options *options,
				  struct fiber_runtime **ret);

/* Spawn into a runtime from any thread or fiber. ret NULL: detached. Returns the errors of
 * fiber_create(), and -ESHUTDOWN once the runtime is finishing and its last fiber has exited. */
FIBER_API int fiber_runtime_spawn(struct fiber_runtime *rt, const struct fiber_attr *attr,
				  fiber_fn *fn, void *arg, struct fiber **ret);

/* Return whether every fiber except background ones has exited. From anywhere, also a signal
 * handler. */
FIBER_API bool fiber_runtime_done(struct fiber_runtime *rt);

/*
 * Wait for all fibers, stop the carriers, free the runtime. From a thread, which blocks, or a fiber
 * of another runtime, which parks until no fiber is left and then blocks its carrier for the moment
 * that the threads need to exit. One caller at a time.
 *
 * Returns 0; -EPERM in a fiber of rt; -ETIMEDOUT when the deadline (absolute ns) passes first;
 * -ECANCELED in a cancelled fiber; -EDEADLK in a pinned one under FIBER_PINNED_ERROR. After an
 * error the runtime continues and this can be called again.
 *
 * Fibers with FIBER_BACKGROUND are not waited for. When only they are left, nothing can be spawned
 * any more (-ESHUTDOWN) and they are cancelled: the current wait of each returns -ECANCELED, so it
 * can clean up and exit. If it continues instead, it is ended, as by fiber_fail(-ECANCELED), in one
 * of the next calls in which it would wait or yield, or at once if it waits for a mutex or a
 * rwlock.
 *
 * A fiber that is ended so runs its exit handlers and the destructors of its locals, but not the
 * rest of its functions, and mutexes that it holds stay held. It is removed from every queue, and
 * its handle stays valid as that of any fiber that has exited.
 *
 * The finish waits until the deadline for a background fiber that computes without waiting or
 * yielding, blocks its carrier, or is in a wait that no cancellation ends (for the members of a
 * group, or for a condition's mutex whose holder has exited). Nothing can be spawned after that
 * either.
 */
FIBER_API int fiber_runtime_finish(struct fiber_runtime *rt, int64_t deadline);

/*
 * Bind fibers to carriers, as with FIBER_BOUND, in every runtime of the process that is started
 * after this call. Fibers with FIBER_OWN_TLS are excepted, and those with FIBER_MIGRATES: all their
 * code must tolerate that a fiber continues on another thread, where errno and thread-local
 * variables have other addresses. libfiber-posix makes this call when it is loaded. From anywhere,
 * also a signal handler. Always returns 0.
 */
FIBER_API int fiber_runtime_bind(void);

/* Get and set the policy for pinned fibers that would wait. A change takes effect with the next
 * wait. From anywhere, also a signal handler. Setting returns 0, or -EINVAL for a value that is not
 * a policy. */
FIBER_API enum fiber_pinned_policy fiber_pinned_policy(struct fiber_runtime *rt);
FIBER_API int fiber_set_pinned_policy(struct fiber_runtime *rt, enum fiber_pinned_policy policy);

/* Return the runtime of the calling fiber or idle hook, NULL elsewhere. From anywhere, also a
 * signal handler. */
FIBER_API struct fiber_runtime *fiber_runtime_self(void);

/*
 * Return a descriptor that is readable while a carrier that waits in the option idle should return.
 * Use it only with poll(2), select(2) and epoll_ctl(2). It belongs to the runtime: do not read or
 * close it. It is the same during the runtime's whole life and is closed when the runtime has
 * finished. rt NULL: the caller's runtime, in a fiber or an idle hook; -EPERM with NULL elsewhere.
 * From anywhere, also a signal handler.
 */
FIBER_API int fiber_runtime_fd(struct fiber_runtime *rt);

FIBER_END_DECLS

#endif
