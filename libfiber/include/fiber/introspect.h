/* SPDX-License-Identifier: MIT */
/*
 * introspect.h - a program inspects its own fibers
 *
 * These functions read the same records as fiberctl and fibertrace. Fibers continue to run while
 * they are inspected. Each struct fiber_info describes one moment of its fiber; a fiber that
 * changed during every attempt is reported as running. Two infos may describe two different
 * moments. Inspecting costs a few microseconds a fiber, mostly in the kernel.
 */
#ifndef FIBER_INTROSPECT_H
#define FIBER_INTROSPECT_H

#include <fiber/api.h>
#include <fiber/fiber.h>
#include <fiber/runtime.h>

FIBER_BEGIN_DECLS

/* One fiber. Times are nanoseconds. Texts are NUL-terminated. New fields will take the place of
 * reserved ones. */
struct fiber_info {
	uint64_t id;
	uint64_t parent_id; /* the fiber that spawned it; 0: a thread did */
	char name[32];
	enum fiber_state state;
	unsigned flags; /* FIBER_DETACHED, ... */
	int carrier;	/* the carrier that runs it; -1: none */
	unsigned pins;	/* nesting depth */

	const char *wait_kind;	   /* "mutex", "fd", "sleep", ... as in the tools; "none" */
	const void *wait_object;   /* what it waits for; NULL: this kind has no object */
	char wait_object_name[32]; /* from fiber_object_name(), or "" */
	uint64_t holder_id;	   /* the fiber that holds the object; 0: none, or a thread */
	uint64_t holder_thread;	   /* gettid(2): it holds the object or runs the call; 0: none */
	uint64_t target_id;	   /* the fiber it joins; 0: none */
	int fd;			   /* the descriptor it waits for; -1 */
	short events;		   /* poll(2)'s bits it waits for on fd */
	int64_t since;		   /* start of its state, on fiber_now()'s clock */
	int64_t deadline;	   /* of its wait, on the same clock; or FIBER_FOREVER */

	uint64_t switches; /* times it was switched to */
	uint64_t cpu_ns;   /* time on a carrier, in steps of about 1 ms */
	size_t stack_size;
	size_t stack_used;	 /* 0 while it runs, or if its stack pointer is outside its stack */
	size_t stack_high_water; /* deepest use so far, in whole pages; 0: unknown */
	const void *spawn_pc;	 /* where it was spawned: the address after the call */
	const void *entry;	 /* the function it runs */
	char labels[248];	 /* from fiber_label(); read with fiber_info_label() */

	uint64_t reserved[8];
};

/* Get the label at *at and advance *at to the next one; start with 0. Returns false after the last
 * label. The texts are in info. From anywhere, also a signal handler. */
FIBER_API bool fiber_info_label(const struct fiber_info *info, size_t *at, const char **ret_key,
				const char **ret_value);

/* All fibers of a runtime at about the same time. */
struct fiber_snapshot;

/*
 * Take a snapshot of the fibers of rt that exist now, including those that exited and were not yet
 * joined. rt NULL: every fiber of the process, including those created and not submitted. From a
 * fiber or a thread; does not wait. *ret is the caller's. Returns 0 or -ENOMEM.
 */
FIBER_API int fiber_snapshot(struct fiber_runtime *rt, struct fiber_snapshot **ret);

/* Return the number of fibers in the snapshot. From anywhere, also a signal handler. */
FIBER_API size_t fiber_snapshot_count(const struct fiber_snapshot *snapshot);

/* Copy the next fiber to *ret and return true. After the last one return false and leave *ret
 * unchanged. From a fiber or a thread, one at a time. */
FIBER_API bool fiber_snapshot_next(struct fiber_snapshot *snapshot, struct fiber_info *ret);

/* Free the snapshot; NULL is allowed. From a fiber or a thread. */
FIBER_API void fiber_snapshot_free(struct fiber_snapshot *snapshot);

/*
 * Call fn(info, arg) for each fiber of rt (NULL: of the process) until it returns a value other
 * than 0. Returns that value, else 0. Nothing is allocated and no lock is held, so fn may do
 * anything. Fibers that are created or exit meanwhile may or may not be seen, each at most once.
 * From anywhere; in a signal handler if fn allows that.
 */
FIBER_API int fiber_foreach(struct fiber_runtime *rt,
			    int (*fn)(const struct fiber_info *info, void *arg), void *arg);

/*
 * Write every fiber of the process to fd as text: two lines a fiber and a third for its labels.
 * Returns the number of fibers, or a negative errno of write(2); -EAGAIN when a non-blocking
 * descriptor accepted no data for a second. From anywhere and async-signal-safe: it only calls
 * write(2) and reads memory through the kernel, without allocation or lock, whatever locks the
 * interrupted thread holds. Needs 8 KiB of stack.
 */
FIBER_API int fiber_dump(int fd);

FIBER_END_DECLS

#endif
