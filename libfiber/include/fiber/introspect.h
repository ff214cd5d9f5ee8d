/* SPDX-License-Identifier: MIT */
/*
 * introspect.h - the program looking at itself
 *
 * The same records that fiberctl and fibertrace read, seen from inside: fibers go on while they
 * are looked at, none is stopped and none notices. Each info is of one moment of its fiber; a
 * fiber that would not hold still is reported as running. Two infos may be of two moments.
 * Looking costs a few microseconds a fiber, most of them in the kernel.
 */
#ifndef FIBER_INTROSPECT_H
#define FIBER_INTROSPECT_H

#include <fiber/api.h>
#include <fiber/fiber.h>
#include <fiber/runtime.h>

FIBER_BEGIN_DECLS

/* One fiber. Times are nanoseconds; texts are terminated; new fields take the place of reserved
 * ones. */
struct fiber_info {
	uint64_t id;
	uint64_t parent_id; /* who spawned it; 0: a thread did */
	char name[32];
	enum fiber_state state;
	unsigned flags; /* FIBER_DETACHED, ... */
	int carrier;	/* that runs it; -1 when none does */
	unsigned pins;	/* nesting depth */

	const char *wait_kind;	   /* "mutex", "fd", "sleep", ... as the tools say; "none" */
	const void *wait_object;   /* what it waits for; NULL: the kind has none */
	char wait_object_name[32]; /* of fiber_object_name(), "" */
	uint64_t holder_id;	   /* the fiber that holds the object; 0: none, or a thread */
	uint64_t holder_thread;	   /* the plain thread that does (gettid(2)); 0: none, or a fiber */
	uint64_t target_id;	   /* the fiber it joins; 0 */
	int fd;			   /* the descriptor it waits for; -1 */
	short events;		   /* poll(2)'s bits it waits for there */
	int64_t since;		   /* in its state since, on fiber_now()'s clock */
	int64_t deadline;	   /* of its wait, on the same clock; FIBER_FOREVER: none */

	uint64_t switches; /* how often it was switched to */
	uint64_t cpu_ns;   /* on a carrier, in steps of about a millisecond */
	size_t stack_size;
	size_t stack_used; /* 0 while it runs, and where its stack pointer is outside its stack */
	size_t stack_high_water; /* deepest use so far, in pages; 0: could not be found out */
	const void *spawn_pc;	 /* where it was spawned: the address after the call */
	const void *entry;	 /* the function it runs */
	char labels[248];	 /* of fiber_label(); see fiber_info_label() */

	uint64_t reserved[8];
};

/* The label at *at, which starts at 0 and is moved on to the next; false behind the last one. The
 * texts are in info. From anywhere, also a signal handler. */
FIBER_API bool fiber_info_label(const struct fiber_info *info, size_t *at, const char **ret_key,
				const char **ret_value);

/* All fibers of a runtime at about one time. */
struct fiber_snapshot;

/*
 * Take a snapshot of the fibers of rt that exist now, those that ended and were not joined yet
 * included; rt NULL: of every fiber of the process, also those that were created and not
 * submitted. From a fiber or a thread; does not wait. *ret is the caller's. 0 or -ENOMEM.
 */
FIBER_API int fiber_snapshot(struct fiber_runtime *rt, struct fiber_snapshot **ret);

/* How many fibers are in it. From anywhere, also a signal handler. */
FIBER_API size_t fiber_snapshot_count(const struct fiber_snapshot *snapshot);

/* Copy the next fiber to *ret. True; false after the last one, and *ret is as it was. From a fiber
 * or a thread, one at a time. */
FIBER_API bool fiber_snapshot_next(struct fiber_snapshot *snapshot, struct fiber_info *ret);

/* Release it; NULL is fine. From a fiber or a thread. */
FIBER_API void fiber_snapshot_free(struct fiber_snapshot *snapshot);

/*
 * Call fn(info, arg) for each fiber of rt (NULL: of the process), until it returns something
 * other than 0, which is then returned; else 0. Nothing is allocated and no lock is held: fn may
 * do anything, and fibers that come and go meanwhile are seen or not, each at most once. From
 * anywhere, in a signal handler if fn allows that.
 */
FIBER_API int fiber_foreach(struct fiber_runtime *rt,
			    int (*fn)(const struct fiber_info *info, void *arg), void *arg);

/*
 * Write every fiber of the process to fd as text, two lines a fiber and a third for its labels.
 * The number of fibers, or a negative errno of write(2); -EAGAIN when a descriptor that does not
 * wait took nothing for a second. From anywhere and async-signal-safe: only write(2) and looks
 * through the kernel, no allocation, no lock, whatever the interrupted thread holds. Takes 8 KiB
 * of stack.
 */
FIBER_API int fiber_dump(int fd);

FIBER_END_DECLS

#endif
