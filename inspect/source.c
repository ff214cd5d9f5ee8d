/* SPDX-License-Identifier: MIT */
/* source.c - what all sources have in common. */
#include "inspect/source.h"

#include <errno.h>
#include <string.h>

#include "inspect/events.h"

void ins_source_close(struct ins_source *source)
{
	if (source)
		source->ops->close(source);
}

int ins_source_read(struct ins_source *source, const struct ins_request *request, ins_fiber_fn *fn,
		    void *context, struct ins_summary *ret, struct ins_error *error)
{
	memset(ret, 0, sizeof *ret);
	return source->ops->read(source, request, fn, context, ret, error);
}

int ins_events_read(struct ins_source *source, const struct fib_wire_events *request,
		    ins_event_fn *fn, void *context, struct ins_summary *ret,
		    struct ins_error *error)
{
	memset(ret, 0, sizeof *ret);
	if (!source->ops->events)
		return ins_error_set(
			error, -EOPNOTSUPP,
			"process %d: only a process that answers for itself has events",
			(int)source->pid);
	return source->ops->events(source, request, fn, context, ret, error);
}

int ins_source_memory(struct ins_source *source, const struct ins_fiber *fiber, uint64_t address,
		      void *buf, size_t size)
{
	if (fiber) {
		uint64_t into = address - fiber->row.sp;

		if (into < fiber->stack_size && size <= fiber->stack_size - into) {
			memcpy(buf, fiber->stack + into, size);
			return 0;
		}
		into = address - fiber->aside;
		if (into < fiber->aside_size && size <= fiber->aside_size - into) {
			memcpy(buf, fiber->aside_bytes + into, size);
			return 0;
		}
		/* What was not copied is not of the same moment any more. */
		if (address - fiber->row.stack_low < fiber->row.stack_size)
			return -EFAULT;
		/* Nor is a stack that it has strayed to. */
		if (fiber->registers && !ins_modules_find(source->modules, address))
			return -EFAULT;
	}
	/* Code and unwind tables do not change: the file saves a system call for each word. */
	if (ins_modules_read(source->modules, address, buf, size, false) == 0)
		return 0;
	if (source->memory && source->memory(source, address, buf, size) == 0)
		return 0;
	return ins_modules_read(source->modules, address, buf, size, true);
}
