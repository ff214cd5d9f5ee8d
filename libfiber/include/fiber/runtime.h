/* SPDX-License-Identifier: MIT */
/*
 * runtime.h - carriers, and the life of a program
 *
 * Carriers are threads that block all signals but SIGSEGV, SIGBUS, SIGFPE and SIGILL: the
 * program's signals are handled in its own threads. Where SIGURG has its default action and is
 * not blocked when a runtime starts, its carriers take that too: with it the stack of a fiber
 * is copied that computes for long (long_run_ns). Whoever passes a runtime sees to it that it
 * is not finished meanwhile. No call is async-signal-safe but those that say so.
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

/* What happens when a fiber or thread waits without a deadline for a lock that only it can release: it holds
 * the mutex or writes the rwlock already, or it asks to write what it alone reads. ABORT prints
 * one line that names the caller and the lock and aborts; ERROR returns -EDEADLK at once, also
 * where the call has a deadline; WAIT waits, and the tools show the caller waiting for itself.
 * Under ABORT and WAIT a call with a deadline waits until then and returns -ETIMEDOUT. A thread
 * that is no fiber follows the runtime that was started last. */
enum fiber_relock_policy { FIBER_RELOCK_ABORT, FIBER_RELOCK_ERROR, FIBER_RELOCK_WAIT };

/* What happens when a fiber ends, after its exit handlers, and still holds a mutex or writes a rwlock, which stays
 * locked for ever. WARN prints a line that names the fiber, the lock and the place where it was
 * locked, at most one a second; ABORT prints it and aborts; SILENT does nothing. */
enum fiber_held_policy { FIBER_HELD_WARN, FIBER_HELD_ABORT, FIBER_HELD_SILENT };

/* Zero-initialise, then set size to sizeof(struct fiber_runtime_options). What it points to may go
 * when the call that took it returns, but idle_arg. */
struct fiber_runtime_options {
	size_t size;
	const char *name;  /* shown by the tools; NULL: the program's name */
	unsigned carriers; /* up to 256; 0: CPUs this process may use (affinity and cgroup quota) */
	size_t stack_size; /* default for fibers, bytes, up to 1 GiB; 0: 256 KiB */
	enum fiber_pinned_policy pinned_policy;
	/* A fiber that holds its carrier longer than this is reported once, with a rate-limited line
	 * on stderr; its stack is shown by 'fiberctl slow'. 0: 20 ms; negative: none is. */
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
};

/*
 * The option idle: for a runtime that lives inside a program with an event loop of its own, or
 * with things to wait for that no descriptor stands for. A carrier that has nothing to run, and
 * would wait for descriptors, timers and other threads in the operating system, calls it and
 * lets it wait instead. It must return
 *
 *  - when deadline has come (absolute ns, FIBER_FOREVER: none), which is when this carrier's
 *    next timer is due;
 *  - when fiber_runtime_fd() is readable: a descriptor of some fiber is ready, another thread has
 *    made a fiber runnable, or the runtime stops. A hook that has this descriptor in its poll(2)
 *    misses nothing.
 *
 * It may return earlier, at any time: nothing happens but that it is called again. 0 and
 * more: go on. Negative: the hook cannot wait now, and the runtime waits in its own way this
 * time, as it would without a hook.
 *
 * It is called on a carrier's thread, whose signals are blocked, never by two threads at once,
 * and by several one after another where there are several carriers: with one carrier it is
 * always the same thread. While one carrier is in it the other ones that have nothing to run
 * sleep; while all are busy nobody calls it. It is called first when fiber_runtime_start() has
 * stored *ret, perhaps before that returns.
 *
 * In it the thread is no fiber: it may call whatever a plain thread may, unpark, spawn with
 * fiber_runtime_spawn() and post, and what it makes runnable runs when it returns (and makes the
 * descriptor readable). fiber_runtime_self() is its runtime. It must not wait for a fiber of its
 * runtime, which it may keep from running.
 */

/*
 * Run fn as the first fiber, wait until every fiber but background ones has ended, make those
 * end, stop. options may be NULL. From a thread that is no fiber. 0 and *ret says how fn ended;
 * -EINVAL for options that make no sense, -ENOMEM, -EAGAIN without threads, -EPERM inside a
 * fiber.
 */
FIBER_API int fiber_run(fiber_fn *fn, void *arg, const struct fiber_runtime_options *options,
			struct fiber_result *ret);

/* The same for n fibers at once; ret_results[i] belongs to fns[i] and may be NULL as a whole. */
FIBER_API int fiber_run_many(fiber_fn *const fns[], void *const args[], size_t n,
			     const struct fiber_runtime_options *options,
			     struct fiber_result ret_results[]);

/* Start carriers and return. From a thread or a fiber. The runtime is the caller's until
 * fiber_runtime_finish(). Errors as fiber_run(). */
FIBER_API int fiber_runtime_start(const struct fiber_runtime_options *options,
				  struct fiber_runtime **ret);

/* Spawn into a runtime from any thread or fiber. ret NULL: detached. Errors as fiber_create(), and
 * -ESHUTDOWN once the runtime is finishing and its last fiber has ended. */
FIBER_API int fiber_runtime_spawn(struct fiber_runtime *rt, const struct fiber_attr *attr,
				  fiber_fn *fn, void *arg, struct fiber **ret);

/* No live fiber: every one but background fibers has ended. From anywhere, also a signal handler. */
FIBER_API bool fiber_runtime_done(struct fiber_runtime *rt);

/*
 * Wait for all fibers, stop the carriers, free the runtime. From a thread, which blocks, or a
 * fiber of another runtime, which parks until no fiber is left and then blocks its carrier for
 * the moment that threads take to end. One caller at a time. 0; -EPERM in a fiber of rt;
 * -ETIMEDOUT when the deadline (absolute ns) passes first, -ECANCELED in a cancelled fiber,
 * -EDEADLK in a pinned one under FIBER_PINNED_ERROR: the runtime goes on and this can be called
 * again.
 *
 * Fibers with FIBER_BACKGROUND are not waited for. When only they are left nothing can be
 * spawned any more (-ESHUTDOWN) and they are cancelled: the wait each is in returns -ECANCELED,
 * so it can clean up and end. One that goes on is ended, as by fiber_fail(-ECANCELED), in one of
 * the next calls in which it would wait or yield, or at once where it waits for a mutex or a
 * rwlock: its exit handlers and the destructors of its locals run, what its functions had still
 * to do does not, and mutexes that it holds stay held. Nothing of it is left in any queue, and
 * its handle is as valid as that of any fiber that has ended. A background fiber that computes
 * without waiting or yielding, blocks its carrier, or waits in what no cancellation ends (for
 * the members of a group, or for a condition's mutex whose holder has ended) holds the finish up
 * until the deadline; nothing can be spawned after that either.
 */
FIBER_API int fiber_runtime_finish(struct fiber_runtime *rt, int64_t deadline);

/* The policy for pinned fibers that would wait; a change holds from the next wait on. From
 * anywhere, also a signal handler. -EINVAL for a value that is no policy. */
FIBER_API enum fiber_pinned_policy fiber_pinned_policy(struct fiber_runtime *rt);
FIBER_API int fiber_set_pinned_policy(struct fiber_runtime *rt, enum fiber_pinned_policy policy);

/* The runtime of the calling fiber or idle hook, NULL elsewhere. From anywhere, also a signal
 * handler. */
FIBER_API struct fiber_runtime *fiber_runtime_self(void);

/*
 * A descriptor that is readable as long as a carrier which waits in the option idle should
 * return. For poll(2), select(2) and epoll_ctl(2) only: it is the runtime's, must neither be
 * read nor closed, and is gone when the runtime has finished. The same for a runtime's whole
 * life. rt NULL: the caller's, in a fiber or an idle hook. -EPERM with NULL elsewhere. From
 * anywhere, also a signal handler.
 */
FIBER_API int fiber_runtime_fd(struct fiber_runtime *rt);

FIBER_END_DECLS

#endif
