/* SPDX-License-Identifier: MIT */
/* replay_state.c - what a fiber does, as slices of time and as the list of fibers shows it */
#include "inspect/recording/replay_state.h"

#include <fiber/fiber.h>

void ins_replay_emit(struct ins_replay *p, const struct ins_does *l, enum ins_doing doing,
		     int64_t from, int64_t to, unsigned flags)
{
	const struct ins_slice slice = {
		l->life->id, (size_t)(l - p->doing), doing,  l->ring, from, to, l->object, l->arg,
		l->kind,     (uint8_t)flags,	     l->ways};

	if (to >= from && p->ops->slice)
		p->ops->slice(p->context, &slice);
}

/* The upper half of a descriptor's wait_arg holds poll(2)'s bits. */
uint8_t ins_replay_ways(uint64_t wait_arg)
{
	return (uint8_t)(wait_arg >> 32 << 1) & (FIB_EVENT_READ | FIB_EVENT_WRITE);
}

enum ins_doing ins_doing_of(const struct fib_recording_fiber *f)
{
	return f->state == FIBER_RUNNING     ? INS_DOING_RUNNING
	       : f->state == FIBER_RUNNABLE  ? INS_DOING_RUNNABLE
	       : f->state == FIBER_SUSPENDED ? INS_DOING_WAITING
					     : INS_DOING_UNKNOWN;
}

void ins_replay_recall(struct ins_replay *p, struct ins_does *l, enum ins_doing doing, int64_t now)
{
	const struct fib_recording_head *head = &p->recording->head;
	const struct fib_recording_fiber *f = l->life->first;

	if (l->touched || !f || f->since > now || ins_doing_of(f) != doing)
		return;
	l->doing = doing;
	l->earlier = f->since < head->began;
	l->since = l->earlier ? head->began : f->since;
	l->kind = f->wait_kind;
	l->object = f->wait_kind == FIB_WAIT_JOIN ? f->wait_arg : f->wait_object;
	l->arg = (uint32_t)f->wait_arg;
	l->ways = f->wait_kind == FIB_WAIT_FD ? ins_replay_ways(f->wait_arg) : 0;
	l->ring = f->carrier < p->carriers ? p->ring[f->carrier] : INS_NO_RING;
}
