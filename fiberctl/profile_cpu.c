/* SPDX-License-Identifier: MIT */
/*
 * profile_cpu.c - collect samples of what the carriers of a program compute
 *
 * The program takes the samples while it is asked for them (wire.h, FIB_WIRE_RING_PROFILE), and keeps
 * those of at least the last 300 ms of carriers with the deepest stacks. Each request gets those that
 * are new; a gap between two numbers is lost samples.
 */
#include "fiberctl/profile.h"

#include <errno.h>
#include <string.h>

#include "fiberctl/interrupt.h"
#include "inspect/model/event.h"
#include "inspect/text/duration.h"
#include "inspect/unwind/event_walk.h"
#include "wire/wire.h"

#define EVERY INT64_C(300000000) /* ns between two requests */

struct sampling {
	struct ctl_profile *p;
	struct ins_walk walk;
	uint64_t next; /* the first number not seen yet */
};

/* The part that stands for a sample: its walk, or why it has none. */
static int part_of(struct sampling *s, const struct ins_event *event, ins_profile_part *ret)
{
	struct ctl_profile *p = s->p;

	if (event->e.doing == FIB_WIRE_DOING_SCHEDULES)
		return ins_profile_text(p->profile, "[scheduler]", ret);
	if (!event->e.stack_size) {
		if (event->e.lack < sizeof p->without / sizeof p->without[0])
			p->without[event->e.lack]++;
		return ins_profile_text(p->profile, "[no stack]", ret);
	}
	p->walked++;
	ins_event_walk(p->unwinder, event, &s->walk);
	return ins_profile_walk(p->profile, &s->walk, ret);
}

static int take(void *context, const struct ins_event *event)
{
	struct sampling *s = context;
	const int64_t cpu = event->e.duration;
	ins_profile_part part;
	int rc;

	if (event->e.number < s->next)
		return 0;
	s->p->lost += event->e.number - s->next;
	s->next = event->e.number + 1;
	rc = part_of(s, event, &part);
	return rc < 0 ? rc
		      : ins_profile_add(s->p->profile, &part, 1, 1, cpu > 0 ? (uint64_t)cpu : 0);
}

/* Have the program begin. Its first answer says which samples are older. */
static int begin(struct sampling *s, struct ins_error *error)
{
	struct ctl_profile *p = s->p;
	const struct fib_wire_events request = {
		.ring = FIB_WIRE_RING_PROFILE, .from = UINT64_MAX, .hz = FIB_WIRE_PROFILE_HZ};
	struct ins_summary summary;
	int rc = ins_events_read(p->source, &request, take, s, &summary, error);

	if (rc == -EINVAL)
		return ins_error_set(
			error, rc,
			"process %d: this program is older than this tool and cannot be profiled",
			(int)p->source->pid);
	if (rc == 0)
		s->next = summary.total;
	return rc;
}

static int go_on(struct sampling *s, struct ins_error *error)
{
	const struct fib_wire_events request = {.ring = FIB_WIRE_RING_PROFILE,
						.bare = 1,
						.from = s->next,
						.hz = FIB_WIRE_PROFILE_HZ};
	struct ins_summary summary;

	return ins_events_read(s->p->source, &request, take, s, &summary, error);
}

int ctl_profile_cpu(struct ctl_profile *p, struct ins_error *error)
{
	const int64_t began = ins_duration_now(), end = began + p->length;
	struct sampling s = {.p = p};
	int64_t now = began;
	int rc = begin(&s, error);
	bool more = rc == 0;

	p->begun = more;
	while (rc == 0 && more) {
		more = ctl_interrupt_sleep(end - now < EVERY ? end : now + EVERY);
		rc = go_on(&s, error);
		now = ins_duration_now();
		more = more && now < end;
		if (rc == 0)
			p->took = now - began;
	}
	/* What the program had sent before it ended is kept. */
	if (rc == -ENOMEM || !p->begun)
		return rc;
	if (rc < 0)
		ins_problems_add(&p->problems, "only of the first %lld ms: %s",
				 (long long)(p->took / 1000000), error->text);
	if (p->lost)
		ins_problems_add(&p->problems,
				 "%llu samples were lost: the program overwrote them before they "
				 "were read",
				 (unsigned long long)p->lost);
	return 0;
}
