/* SPDX-License-Identifier: MIT */
/*
 * cleanup.c - exit handlers, fiber-local values and labels of the calling fiber
 *
 * A fiber cleans up on its own stack and still counts as running, so the functions that it calls
 * may wait like any other code. A handler may call fiber_exit(): then nothing returns to the loop
 * that called the handler, and another loop starts deeper on the same stack. So the loop keeps no
 * progress in its variables: a handler is unlinked before it is called, and the table holds which
 * destructor is next.
 */
#include "fault.h"
#include "life/cleanup.h"

#include <errno.h>
#include <stdlib.h>

#include "base/check.h"
#include "core/labels.h"
#include "core/locals.h"
#include "core/registry.h"
#include "life/discard.h"
#include "sched/sched.h"

static struct fiber *self(void)
{
	struct fib_carrier *c = fib_carrier_self();

	return c ? c->current : NULL;
}

int fiber_at_exit(void (*fn)(void *), void *arg)
{
	struct fiber *fiber = self();
	struct fib_exit *e;

	if (!fiber)
		return -EPERM;
	if (!fn)
		return -EINVAL;
	e = fib_fault(MEMORY) < 0 ? NULL : malloc(sizeof *e);
	if (!e)
		return -ENOMEM;
	*e = (struct fib_exit){fiber->exits, fn, arg};
	fiber->exits = e;
	return 0;
}

int fiber_setspecific(fiber_key_t key, const void *value)
{
	struct fiber *fiber = self();

	if (fib_fault(MEMORY) < 0)
		return -ENOMEM;
	return fiber ? fib_locals_set(&fiber->locals, key, value) : -EPERM;
}

void *fiber_getspecific(fiber_key_t key)
{
	struct fiber *fiber = self();

	return fiber ? fib_locals_get(fiber->locals, key) : NULL;
}

int fiber_label(const char *key, const char *value)
{
	struct fiber *fiber = self();

	if (fib_fault(MEMORY) < 0)
		return -ENOMEM;
	return fiber ? fib_labels_set(&fiber->labels, fiber->id, key, value) : -EPERM;
}

static void run_exits(struct fiber *fiber)
{
	struct fib_exit e, *first;

	while ((first = fiber->exits) != NULL) {
		e = *first;
		fiber->exits = e.before;
		free(first);
		e.fn(e.arg);
	}
}

void fib_cleanup_run(struct fiber *fiber)
{
	void (*destroy)(void *);
	void *value;

	run_exits(fiber);
	while (fiber->locals && fib_locals_next(fiber->locals, &destroy, &value)) {
		destroy(value);
		run_exits(fiber);
	}
	fib_drop_locals(fiber);
}

/* Find a member of a group that is on the fiber's stack. */
static struct fiber *some_member(const struct fiber *fiber)
{
	uint64_t i, committed = fib_registry_committed();

	for (i = 0; i < committed; i++) {
		struct fiber *member = fib_registry_at(i);

		if (fib_observe(&member->id) && member->group && member->group_owner == fiber)
			return member;
	}
	return NULL;
}

void fib_cleanup_check_groups(struct fiber *fiber)
{
	uint32_t live = fib_load(&fiber->members);
	struct fiber *member;

	if (fib_likely(!live))
		return;
	member = some_member(fiber);
	if (!member)
		fib_die("fiber %llu \"%s\" ended before %u members of its groups: "
			"fiber_group_wait() "
			"was left out",
			(unsigned long long)fiber->id, fiber->name, live);
	fib_die("fiber %llu \"%s\" ended before %u members of the group %p, one is fiber %llu "
		"\"%s\": "
		"fiber_group_wait() was left out",
		(unsigned long long)fiber->id, fiber->name, live, member->group,
		(unsigned long long)member->id, member->name);
}
