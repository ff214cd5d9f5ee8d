/* SPDX-License-Identifier: MIT */
/* source.c - what all sources have in common */
#include "inspect/model/source.h"

#include <errno.h>
#include <string.h>

#include "inspect/model/event.h"

void ins_source_close(struct ins_source *source)
{
	if (!source)
		return;
	if (source->namer)
		source->namer->free(source->namer);
	source->ops->close(source);
}

struct counted {
	struct ins_source *source;
	ins_fiber_fn *fn;
	void *context;
	uint64_t count;
	bool places;
	bool stacks; /* the caller wants them */
};

/*
 * A stack that is copied only for the place may be incomplete: then the place is not known, which
 * is no problem.
 */
static void forget_stack(struct ins_source *source, struct ins_fiber *fiber)
{
	const unsigned lacks = INS_FIBER_MOVING | INS_FIBER_CUT | INS_FIBER_GONE;

	source->passed += (fiber->flags & lacks) != 0;
	fiber->flags &= ~lacks;
	fiber->stack = NULL;
	fiber->stack_size = 0;
}

static int emit(struct counted *c, const struct ins_fiber *fiber)
{
	struct ins_namer *namer = c->source->namer;
	struct ins_fiber named;

	if (!namer || (fiber->row.name[0] && !c->places))
		return c->fn(c->context, fiber);
	named = *fiber;
	if (!named.row.name[0])
		namer->name(namer, c->source, &named);
	if (c->places)
		namer->place(namer, c->source, &named);
	if (c->places && !c->stacks)
		forget_stack(c->source, &named);
	return c->fn(c->context, &named);
}

static int count(void *context, const struct ins_fiber *fiber)
{
	struct counted *c = context;
	const int rc = emit(c, fiber);

	if (!c->source->watched)
		return rc;
	ins_progress_fibers(&c->source->progress, ++c->count, c->source->layout.committed);
	return rc;
}

bool ins_source_still(const struct ins_source *source)
{
	return strcmp(source->kind, "snapshot") == 0 || strcmp(source->kind, "core") == 0;
}

int ins_source_read(struct ins_source *source, const struct ins_request *request, ins_fiber_fn *fn,
		    void *context, struct ins_summary *ret, struct ins_error *error)
{
	struct counted counted = {.source = source, .fn = fn, .context = context};
	struct ins_request with = *request;
	struct ins_pauses *pauses = source->pauses;
	int rc;

	memset(ret, 0, sizeof *ret);
	source->passed = 0;
	if (source->namer)
		with.modules = true;
	counted.places = source->namer && request->places;
	counted.stacks = request->stacks;
	with.stacks = request->stacks || counted.places;
	/* No thread is stopped for a place. */
	if (!request->stacks)
		source->pauses = NULL;
	if (source->watched)
		ins_progress_begin(&source->progress, "");
	source->looked_up = 0;
	rc = source->ops->read(source, &with, count, &counted, ret, error);
	if (source->watched)
		ins_progress_end(&source->progress);
	source->pauses = pauses;
	return rc;
}

struct named_events {
	struct ins_source *source;
	ins_event_fn *fn;
	void *context;
};

static int name_event(void *context, const struct ins_event *event)
{
	struct named_events *c = context;
	struct ins_namer *namer = c->source->namer;
	struct ins_event named;

	if (!namer || event->fiber.row.name[0])
		return c->fn(c->context, event);
	named = *event;
	namer->name(namer, c->source, &named.fiber);
	return c->fn(c->context, &named);
}

int ins_events_read(struct ins_source *source, const struct fib_wire_events *request,
		    ins_event_fn *fn, void *context, struct ins_summary *ret,
		    struct ins_error *error)
{
	struct named_events names = {source, fn, context};

	memset(ret, 0, sizeof *ret);
	if (!source->ops->events)
		return ins_error_set(
			error, -EOPNOTSUPP,
			"process %d: only a process that answers for itself has events",
			(int)source->pid);
	return source->ops->events(source, request, name_event, &names, ret, error);
}

int64_t ins_fiber_left(const struct ins_fiber *fiber)
{
	const struct fib_row *row = &fiber->row;
	int64_t ns;

	if (row->deadline == INT64_MAX || row->wait_kind == FIB_WAIT_NONE)
		return -1;
	/* Both values are untrusted. On overflow the deadline is either long past or never. */
	if (__builtin_sub_overflow(row->deadline, fiber->now, &ns))
		ns = row->deadline < 0 ? 0 : INT64_MAX;
	return ns > 0 ? ns : 0;
}

int ins_fiber_memory(const struct ins_fiber *fiber, uint64_t address, void *buf, size_t size)
{
	uint64_t into = address - fiber->row.sp;

	if (fiber->stack && into < fiber->stack_size && size <= fiber->stack_size - into) {
		memcpy(buf, fiber->stack + into, size);
		return 0;
	}
	into = address - fiber->aside;
	if (into < fiber->aside_size && size <= fiber->aside_size - into) {
		memcpy(buf, fiber->aside_bytes + into, size);
		return 0;
	}
	/* Memory of the stack that was not copied may have changed since. */
	return address - fiber->row.stack_low < fiber->row.stack_size ? -EFAULT : -ENOENT;
}

int ins_source_memory(struct ins_source *source, const struct ins_fiber *fiber, uint64_t address,
		      void *buf, size_t size)
{
	const int rc = fiber ? ins_fiber_memory(fiber, address, buf, size) : -ENOENT;

	if (rc != -ENOENT)
		return rc;
	/*
	 * The same holds for memory outside the stack that a running fiber's stack pointer has
	 * moved to.
	 */
	if (fiber && (fiber->flags & INS_FIBER_PAUSED) &&
	    !ins_modules_find(source->modules, address))
		return -EFAULT;
	/* Code and unwind tables do not change; reading the file saves a system call per word. */
	if (ins_modules_read(source->modules, address, buf, size, false) == 0)
		return 0;
	if (source->memory && source->memory(source, address, buf, size) == 0)
		return 0;
	return ins_modules_read(source->modules, address, buf, size, true);
}

int ins_source_word(struct ins_source *source, const struct ins_fiber *fiber, uint64_t address,
		    uint64_t *ret)
{
	const int rc = ins_source_memory(source, fiber, address, ret, sizeof *ret);

	if (rc == 0 && source->modules->machine.swapped)
		ins_swap(ret, sizeof *ret);
	return rc;
}
