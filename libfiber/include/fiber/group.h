/* SPDX-License-Identifier: MIT */
/*
 * group.h - fibers that are begun and ended together
 *
 * A group owns the fibers that are spawned into it: nobody joins them, the group waits for all.
 * The first that fails cancels the others. A group cannot be left with live fibers: they use its
 * memory, so its storage must stay until fiber_group_wait() has returned something else than
 * -ETIMEDOUT or -EDEADLK. To leave early is to cancel and then to wait. A fiber that ends while
 * a group on its stack has live members is misuse, prints one line and aborts; that the function
 * with the group has returned is not noticed before that. No call is async-signal-safe. A zero-initialised group is ready; the fields belong to the library.
 */
#ifndef FIBER_GROUP_H
#define FIBER_GROUP_H

#include <fiber/api.h>
#include <fiber/fiber.h>
#include <fiber/sync.h>

FIBER_BEGIN_DECLS

enum {
	FIBER_GROUP_KEEP = 1, /* a member that fails does not cancel the others */
};

struct fiber_group {
	char name[32];
	unsigned flags;
	int error; /* of the first that failed */
	uint32_t live;
	uint32_t cancelled;
	void *first;
	void *last;
	struct fiber_wait_queue waiters;
};

/* Make an empty group of memory that held anything. Always 0. A group is used again only after
 * this. */
FIBER_API int fiber_group_init(struct fiber_group *group);

/* FIBER_GROUP_KEEP or 0, before the first spawn. -EINVAL for anything else. */
FIBER_API int fiber_group_set_flags(struct fiber_group *group, unsigned flags);

/*
 * Spawn fn(arg) into the group, in the caller's runtime. What it returns is dropped; it fails by
 * fiber_fail(). From a fiber, also from a member. 0; -ECANCELED, and nothing was spawned, when
 * the group was cancelled or a member has failed and cancelled it; -EPERM outside a fiber;
 * errors as fiber_create().
 */
FIBER_API int fiber_group_spawn(struct fiber_group *group, fiber_fn *fn, void *arg);

/*
 * Wait until every member has ended. From a fiber that is no member, or a thread; several may
 * wait. 0 when none failed, else the error of the first that did; a member that was cancelled
 * fails with -ECANCELED.
 *
 * -ETIMEDOUT past the deadline (absolute ns): the group lives on and can be waited for again (a
 * member may have failed with that number too; then fiber_group_live() is 0). A caller that is
 * cancelled cancels the group, goes on waiting for its members, and gets -ECANCELED when they
 * have ended. -EDEADLK: pinned, the policy refuses; the group lives on.
 */
FIBER_API int fiber_group_wait(struct fiber_group *group, int64_t deadline);

/* Cancel every member; nothing can be spawned into the group any more. Does not wait. Always 0.
 * From a fiber or a thread; a member that calls it is cancelled as well. */
FIBER_API int fiber_group_cancel(struct fiber_group *group);

/* How many members have not ended. From a fiber or a thread. */
FIBER_API unsigned fiber_group_live(struct fiber_group *group);

FIBER_END_DECLS

#endif
