/* SPDX-License-Identifier: MIT */
/*
 * group.h - fibers that are spawned and finished together
 *
 * A group owns the fibers that are spawned into it: they are not joined; the group waits for all of
 * them. The first that fails cancels the others. Members use the group's memory, so its storage
 * must stay until fiber_group_wait() has returned something other than -ETIMEDOUT or -EDEADLK. To
 * leave early, cancel the group and then wait.
 *
 * A fiber that exits while a group on its stack has live members is misuse, prints one line and
 * aborts. That the function with the group has returned is not noticed before the fiber exits. No
 * call is async-signal-safe. A zero-initialised group is ready to use. The fields belong to the
 * library.
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
	int error; /* of the first member that failed */
	uint32_t live;
	uint32_t cancelled;
	void *first;
	void *last;
	struct fiber_wait_queue waiters;
};

/* Make an empty group; the previous contents of the memory do not matter. Always returns 0.
 * Required before a group is used again. */
FIBER_API int fiber_group_init(struct fiber_group *group);

/* Set FIBER_GROUP_KEEP or 0, before the first spawn. Returns 0, or -EINVAL for anything else. */
FIBER_API int fiber_group_set_flags(struct fiber_group *group, unsigned flags);

/*
 * Spawn fn(arg) into the group, in the caller's runtime. The value that fn returns is dropped; a
 * member fails with fiber_fail(). From a fiber, also from a member. Returns 0; -ECANCELED without
 * spawning when the group was cancelled, also by the failure of a member; -EPERM outside a fiber;
 * the errors of fiber_create().
 */
FIBER_API int fiber_group_spawn(struct fiber_group *group, fiber_fn *fn, void *arg);

/*
 * Wait until every member has exited. From a fiber that is not a member, or a thread; several
 * callers may wait. Returns 0 when no member failed, else the error of the first that did. A member
 * that was cancelled fails with -ECANCELED.
 *
 * -ETIMEDOUT past the deadline (absolute ns): the group stays live and can be waited for again. (A
 * member may also have failed with -ETIMEDOUT; then fiber_group_live() is 0.) A caller that is
 * cancelled cancels the group, continues to wait for its members, and gets -ECANCELED when they
 * have exited. -EDEADLK when the caller is pinned and the policy forbids the wait: the group stays
 * live.
 */
FIBER_API int fiber_group_wait(struct fiber_group *group, int64_t deadline);

/* Cancel every member; nothing can be spawned into the group any more. Does not wait. Always
 * returns 0. From a fiber or a thread; a member that calls it is cancelled as well. */
FIBER_API int fiber_group_cancel(struct fiber_group *group);

/* Return the number of members that have not exited. From a fiber or a thread. */
FIBER_API unsigned fiber_group_live(struct fiber_group *group);

FIBER_END_DECLS

#endif
