/* SPDX-License-Identifier: MIT */
/*
 * group.c - a group of fibers that are started and awaited together
 *
 * Members are linked through their records, under the lock of the group's wait queue. A member is
 * spawned detached, because no caller gets a handle to it. When it exits, and while it still has
 * its record, its carrier calls fib_group_member_ended().
 *
 * A group usually is on a waiter's stack. The call that takes `live` to 0 claims all waiters under
 * the lock and does not touch the group after the unlock. A member that fails is counted until it
 * has cancelled the others.
 *
 * The stack that holds a group must not end before the members. A return from a function cannot be
 * noticed, but the exit of a fiber can. So each fiber counts the live members of the groups on its
 * stack. The count is in the fiber's record, since the group may be gone by then.
 *
 * To cancel all members, move the first to the end of the list and cancel it, once per member. So
 * the lock is held for one member at a time. A member cannot exit while the lock is held. One whose
 * wait was claimed cannot run before it is woken, after the unlock.
 */
#include <errno.h>
#include <string.h>

#include <fiber/group.h>
#include <fiber/time.h>

#include "base/check.h"
#include "choice.h"
#include "fault.h"
#include "order.h"
#include "life/discard.h"
#include "life/spawn.h"
#include "sync/group.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

int fiber_group_init(struct fiber_group *group)
{
	fib_must_have(group, "the group");
	memset(group, 0, sizeof *group);
	return 0;
}

int fiber_group_set_flags(struct fiber_group *group, unsigned flags)
{
	fib_must_have(group, "the group");
	if (flags & ~(unsigned)FIBER_GROUP_KEEP)
		return -EINVAL;
	group->flags = flags;
	return 0;
}

static struct fiber *member_of(void *link)
{
	return link ? fib_container(link, struct fiber, group_link) : NULL;
}

/* Under the lock. */
static void link_member(struct fiber_group *group, struct fiber *fiber)
{
	struct fib_list *last = group->last;

	fiber->group_link.next = NULL;
	fiber->group_link.prev = last;
	if (last)
		last->next = &fiber->group_link;
	else
		group->first = &fiber->group_link;
	group->last = &fiber->group_link;
}

/* Under the lock. */
static void unlink_member(struct fiber_group *group, struct fiber *fiber)
{
	struct fib_list *link = &fiber->group_link;

	if (link->prev)
		link->prev->next = link->next;
	else
		group->first = link->next;
	if (link->next)
		link->next->prev = link->prev;
	else
		group->last = link->prev;
}

static void cancel_first(struct fiber_group *group)
{
	struct fib_wake wake;
	struct fiber *fiber;
	bool claimed = false;

	fib_queue_lock(&group->waiters);
	fiber = member_of(group->first);
	if (fiber) {
		unlink_member(group, fiber);
		link_member(group, fiber);
		claimed = fib_cancel_claim(fiber, &wake);
	}
	fib_queue_unlock(&group->waiters);
	if (claimed)
		fib_wake(&wake, false);
}

/* For a caller during which the group stays allocated. */
static void cancel_all(struct fiber_group *group)
{
	uint32_t n;

	fib_queue_lock(&group->waiters);
	group->cancelled = 1;
	n = group->live;
	fib_queue_unlock(&group->waiters);
	while (n--)
		cancel_first(group);
}

/* Remove one member from the count. The group may be freed when this returns. */
static void uncount(struct fiber_group *group)
{
	struct fib_wake_list list = {NULL, NULL};

	fib_queue_lock(&group->waiters);
	if (--group->live == 0)
		fib_queue_claim_all(&group->waiters, &list);
	fib_queue_unlock(&group->waiters);
	fib_wake_all(&list);
}

/* The fiber on whose stack the group is need not wait for this member. Call before uncount(). */
static void disown(struct fiber *fiber)
{
	/* Release: the owner that reads 0 sees everything the members did to the group. */
	if (fiber->group_owner)
		fib_sub(&fiber->group_owner->members, 1);
}

/* Called by a member as the last step of its exit. */
void fib_group_member_ended(struct fiber *fiber)
{
	struct fiber_group *group = fiber->group;
	const int error = fiber->result.error;
	bool cancels;

	fib_order_release(group);
	fib_queue_lock(&group->waiters);
	unlink_member(group, fiber);
	if (!group->error)
		group->error = error;
	cancels = error && !(group->flags & FIBER_GROUP_KEEP) && !group->cancelled;
	fib_queue_unlock(&group->waiters);
	if (cancels)
		cancel_all(group);
	disown(fiber);
	uncount(group);
}

/* Returns the fiber on whose stack the group is, or NULL if the spawner does not know it. */
static struct fiber *owner_of(struct fiber_group *group, struct fiber *spawner)
{
	const uintptr_t at = (uintptr_t)group - (uintptr_t)spawner->stack.low;

	if (at < spawner->stack.size)
		return spawner;
	return spawner->group == group ? spawner->group_owner : NULL;
}

/* Make a new fiber a member. False: the group is cancelled. */
static bool enter(struct fiber_group *group, struct fiber *spawner, struct fiber *fiber)
{
	bool open;

	fiber->group = group;
	fiber->group_owner = owner_of(group, spawner);
	fib_or(&fiber->life, FIB_LIFE_DETACHED);
	fib_queue_lock(&group->waiters);
	open = !group->cancelled;
	if (open) {
		link_member(group, fiber);
		group->live++;
	}
	fib_queue_unlock(&group->waiters);
	if (open && fiber->group_owner)
		fib_add_relaxed(&fiber->group_owner->members, 1);
	return open;
}

int fiber_group_spawn(struct fiber_group *group, fiber_fn *fn, void *arg)
{
	struct fib_carrier *c = fib_carrier_self();
	struct fiber *fiber;
	struct fib_sched *s;
	int rc;

	fib_choice(group);
	fib_must_have(group, "the group");
	if (!c || !c->current)
		return -EPERM;
	s = c->sched;
	rc = fib_fault(SPAWN);
	if (rc == 0)
		rc = fib_make(NULL, s, fn, arg, __builtin_return_address(0), &fiber);
	if (rc < 0)
		return rc;
	if (!enter(group, c->current, fiber)) {
		fib_unmake(fiber);
		return -ECANCELED;
	}
	rc = fib_submit(s, fiber);
	if (rc < 0) {
		fib_queue_lock(&group->waiters);
		unlink_member(group, fiber);
		fib_queue_unlock(&group->waiters);
		disown(fiber);
		fib_unmake(fiber);
		uncount(group);
	}
	return rc;
}

/* Returns whether all members have exited. If not, join the queue (if w is not NULL). */
static bool has_ended(struct fiber_group *group, struct fib_waiter *w)
{
	bool ended;

	fib_queue_lock(&group->waiters);
	ended = group->live == 0;
	if (!ended && w)
		fib_queue_append(&group->waiters, w);
	if (ended)
		fib_order_acquire(group);
	fib_queue_unlock(&group->waiters);
	return ended;
}

static int wait_for_members(struct fiber_group *group, int64_t deadline, bool uncancellable)
{
	struct fib_waiter w;
	int rc;

	if (has_ended(group, NULL))
		return 0;
	rc = uncancellable ? fib_wait_begin_uncancellable(&w, FIB_WAIT_GROUP, group, 0, deadline)
			   : fib_wait_begin(&w, FIB_WAIT_GROUP, group, 0, deadline);
	if (rc < 0)
		return rc;
	if (has_ended(group, &w)) {
		fib_wait_abort(&w);
		return 0;
	}
	rc = fib_queue_wait(&group->waiters, &w, deadline);
	if (rc == 0)
		fib_order_acquire(group);
	return rc;
}

int fiber_group_wait(struct fiber_group *group, int64_t deadline)
{
	int rc;

	fib_choice(group);
	fib_must_have(group, "the group");
	rc = wait_for_members(group, deadline, false);
	if (rc == -ECANCELED) {
		cancel_all(group);
		rc = wait_for_members(group, deadline, true);
		return rc < 0 ? rc : -ECANCELED;
	}
	return rc < 0 ? rc : group->error;
}

int fiber_group_cancel(struct fiber_group *group)
{
	fib_choice(group);
	fib_must_have(group, "the group");
	cancel_all(group);
	return 0;
}

unsigned fiber_group_live(struct fiber_group *group)
{
	unsigned live;

	fib_choice(group);
	fib_must_have(group, "the group");
	fib_queue_lock(&group->waiters);
	live = group->live;
	fib_queue_unlock(&group->waiters);
	fib_order_acquire(group);
	return live;
}
