/* SPDX-License-Identifier: MIT */
/*
 * gc.h - for garbage collectors: where fibers keep pointers, and how to stop them all
 *
 * A collector that looks for pointers in the stacks of threads does not find those of fibers. This
 * header enumerates them as ranges of memory ("root ranges"), for all runtimes of the process.
 *
 * Usual order of a collection that stops the program: fiber_gc_stop(), the collector stops its other
 * threads, fiber_gc_each_root_range(), mark, the collector's threads go on, fiber_gc_go(). Without
 * fiber_gc_stop() the enumeration is a view of fibers that go on; see struct fiber_gc_range.
 *
 * libfiber stops its carriers by SIGURG. The collector stops all other threads itself.
 */
#ifndef FIBER_GC_H
#define FIBER_GC_H

#include <fiber/api.h>

FIBER_BEGIN_DECLS

struct fiber;

enum fiber_gc_kind {
	FIBER_GC_STACK = 1,	   /* the used part of a fiber's stack, and its saved registers */
	FIBER_GC_REGISTER,	   /* the frame pointer of a suspended fiber */
	FIBER_GC_ARGUMENT,	   /* the argument of a fiber that has not left its first turn */
	FIBER_GC_RESULT,	   /* the result of a fiber, until it is joined */
	FIBER_GC_LOCALS,	   /* a fiber's table of fiber-local values */
	FIBER_GC_EXIT_HANDLER,	   /* the argument of a handler from fiber_at_exit() */
	FIBER_GC_THREAD_LOCALS,	   /* a fiber's own block of thread-locals (FIBER_OWN_TLS) */
	FIBER_GC_CHANNEL,	   /* elements in the buffer of a channel */
	FIBER_GC_OFFLOAD,	   /* argument and result of a function that fiber_block() runs */
	FIBER_GC_OPERATION,	   /* an operation in progress (op.h) */
	FIBER_GC_IDLE_HOOK,	   /* idle_arg of a runtime */
	FIBER_GC_CARRIER,	   /* the used part of a carrier's own stack */
	FIBER_GC_CARRIER_REGISTERS /* a stopped carrier's registers, on its stack for signals */
};

/* flags */
enum {
	/* The fiber runs, or ran while its record was read: without fiber_gc_stop() the range is its
	 * whole stack and may change at any time. */
	FIBER_GC_RUNNING = 1,
	/* The fiber left on a stack that libfiber does not know, made by the program. The range is
	 * the whole stack that libfiber gave it; the collector has to know the other one. */
	FIBER_GC_ELSEWHERE = 2
};

/*
 * Pointers may be in [low, high), at addresses that are multiples of their size. Valid during the
 * call that gets it; a copy, for fiber_gc_copy_range(), for ever.
 */
struct fiber_gc_range {
	const void *low, *high;
	enum fiber_gc_kind kind;
	unsigned flags;
	uint64_t fiber;	    /* its id; 0: the range is of no fiber */
	uint64_t seq;	    /* counts the fiber's switches */
	const void *record; /* for fiber_gc_copy_range() */
};

/* Returns 0 to continue. */
typedef int fiber_gc_range_fn(const struct fiber_gc_range *range, void *arg);

/*
 * Call fn for every root range, each once; no two overlap, but two of a kind may be adjacent. Stops
 * when fn returns something else than 0, and returns that; else 0.
 *
 * Between the caller's fiber_gc_stop() and fiber_gc_go(): every range of every fiber, with what
 * running fibers have in registers. The ranges hold still, except those of offload threads.
 *
 * Otherwise: no program stops. A range of a suspended fiber is of one moment, and its fiber may
 * continue before fn reads it, or exit, and its memory may be unmapped. So read it by
 * fiber_gc_copy_range(). A value that moves from one fiber to another during the call may be in none
 * of the ranges. CARRIER, CARRIER_REGISTERS and THREAD_LOCALS are left out.
 *
 * fn is called with locks of libfiber: it must call nothing of libfiber except
 * fiber_gc_copy_range(), and must not wait for a fiber. From any thread or fiber, not from a signal
 * handler. Allocates nothing.
 */
FIBER_API int fiber_gc_each_root_range(fiber_gc_range_fn *fn, void *arg);

/*
 * Copy the range, high - low bytes, to `to`. Returns 0; -EAGAIN if the range is RUNNING or its fiber
 * has run since the range was reported: then the copy may be a mixture; -EFAULT if the memory is not
 * mapped any more. From any thread or fiber.
 */
FIBER_API int fiber_gc_copy_range(const struct fiber_gc_range *range, void *to);

/*
 * Stop the carriers of all runtimes, wherever they are: in a fiber that computes or waits in a
 * system call, between two fibers, asleep. After it no fiber runs but the caller's, until the same
 * caller calls fiber_gc_go(). A stopped carrier may hold any lock of the program and of the C library. So
 * until fiber_gc_go() the caller must not allocate with malloc(3), print, or call anything of
 * libfiber but the functions of this header. A calling fiber is pinned meanwhile.
 *
 * A carrier that blocks SIGURG stops when it unblocks it. System calls that a fiber waits in are
 * interrupted and restarted, as by a signal handler with SA_RESTART. Under ThreadSanitizer, which calls
 * handlers late, a carrier that sleeps does not stop.
 *
 * Returns 0; -EDEADLK: the caller has stopped them already; -EBUSY: the program handles SIGURG
 * itself, or a carrier has no stack for signals; -ETIMEDOUT: another thread's stop lasts, or a carrier
 * did not stop until the deadline (ns of fiber_now()'s clock). After an error nothing is stopped.
 * From any thread or fiber, not from a signal handler.
 */
FIBER_API int fiber_gc_stop(int64_t deadline);

/* Let the carriers continue. 0; -EPERM: the calling thread has not stopped them. */
FIBER_API int fiber_gc_go(void);

/*
 * A carrier, for a collector that stops threads by signals and looks at their stacks itself: a signal
 * that interrupts the stopped carrier finds a stack that ends at `bottom`, the first byte above it.
 */
struct fiber_gc_carrier {
	void *thread; /* what thread_began returned, or NULL */
	const void *bottom;
};

/*
 * Call fn for every carrier. Only between the caller's fiber_gc_stop() and fiber_gc_go(). Returns 0, what
 * fn returned, or -EPERM.
 */
FIBER_API int fiber_gc_each_carrier(int (*fn)(const struct fiber_gc_carrier *, void *arg),
				    void *arg);

/*
 * Functions that libfiber calls. Each may be NULL. None may wait, switch fibers, or end its caller.
 * fiber_created: a fiber is about to become runnable for the first time; by the thread or fiber that
 * submits it. fiber_ended: the fiber is about to leave its stack for good, after its exit handlers; by the
 * fiber itself. thread_began, thread_ended: by each thread of libfiber that runs code of the program
 * (carriers, and those of fiber_block()), on its own stack, before and after all of it. These threads
 * block all signals of the program; thread_began may unblock some.
 */
struct fiber_gc_hooks {
	size_t size; /* sizeof(struct fiber_gc_hooks) */
	void *arg;
	void (*fiber_created)(struct fiber *fiber, void *arg);
	void (*fiber_ended)(struct fiber *fiber, void *arg);
	void *(*thread_began)(void *arg);
	void (*thread_ended)(void *thread, void *arg); /* thread: what thread_began returned */
};

/*
 * Set the hooks; NULL: none. They are not copied and must stay valid. Before the first runtime is started, or
 * after the last has finished. Threads of fiber_block() may outlive a runtime by some seconds: they keep
 * the hooks that they began with. Returns 0; -EINVAL: a wrong size; -EBUSY: there is a runtime.
 */
FIBER_API int fiber_gc_set_hooks(const struct fiber_gc_hooks *hooks);

FIBER_END_DECLS

#endif
