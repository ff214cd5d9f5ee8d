/* SPDX-License-Identifier: MIT */
/*
 * resume.c - get the registers that a walk starts with from a saved frame
 *
 * libfiber's switch has CFI, so a stack pointer and an address in the switch are enough for an
 * unwinder. Other libraries push the registers and keep the stack pointer (boost.context), or write
 * them into a struct (ucontext), in code without unwind information. Their registry says where each
 * register is. The walk then starts where the switch was called, with the registers that the switch
 * will restore.
 *
 * The table is untrusted and checked by fib_layout_check(); the addresses that it leads to are
 * untrusted too. A walk does not start from values that cannot be read or that lead out of the
 * fiber's stack.
 */
#include "inspect/unwind/resume.h"

#include <errno.h>
#include <string.h>

#include "inspect/model/registers.h"

struct places {
	const unsigned char *record, *context;
	size_t context_size;
	bool swapped; /* the byte order of the context and of the stack */
};

/* How many bytes of the struct hold registers. */
static size_t context_size(const struct fib_layout *layout)
{
	size_t size = 0;
	uint32_t i;

	for (i = 0; i < layout->register_count; i++) {
		const struct fib_layout_register *r = &layout->registers[i];

		if (r->base == FIB_BASE_CONTEXT && r->offset + sizeof(uint64_t) > size)
			size = r->offset + sizeof(uint64_t);
	}
	return size;
}

static bool load(const struct places *p, const struct ins_fiber *fiber,
		 struct fib_layout_register r, uint64_t *ret)
{
	const unsigned char *from;
	size_t room;

	if (r.base == FIB_BASE_SP) {
		*ret = fiber->row.sp + r.offset;
		return true;
	}
	from = r.base == FIB_BASE_STACK	   ? fiber->stack
	       : r.base == FIB_BASE_RECORD ? p->record
					   : p->context;
	room = r.base == FIB_BASE_STACK	   ? fiber->stack_size
	       : r.base == FIB_BASE_RECORD ? SIZE_MAX /* checked with the layout */
					   : p->context_size;
	if (!from || room < r.offset + sizeof *ret)
		return false;
	memcpy(ret, from + r.offset, sizeof *ret);
	if (p->swapped && r.base != FIB_BASE_RECORD) /* a record was converted */
		ins_swap(ret, sizeof *ret);
	return true;
}

static bool load_all(const struct fib_layout *layout, const struct places *p,
		     const struct ins_fiber *fiber, struct ins_registers *ret)
{
	uint64_t value;
	uint32_t i;

	memset(ret, 0, sizeof *ret);
	ret->machine = layout->machine;
	ret->pc = fiber->row.pc;
	ret->sp = fiber->row.sp;
	for (i = 0; i < layout->register_count; i++) {
		struct fib_layout_register r = layout->registers[i];

		if (!load(p, fiber, r, &value))
			return false;
		ins_registers_set_saved(ret, r.number, value);
	}
	return true;
}

static int find_saved(struct ins_source *source, const void *bytes, struct ins_fiber *fiber,
		      struct ins_registers *ret)
{
	const struct fib_layout *layout = &source->layout;
	unsigned char context[FIB_LAYOUT_REACH];
	struct places places = {bytes, context, context_size(layout),
				source->modules->machine.swapped};
	uint64_t at = 0;

	if (places.context_size) {
		memcpy(&at, places.record + layout->context.offset, sizeof at);
		if (source->memory(source, at, context, places.context_size) < 0)
			return -EFAULT;
	}
	if (!load_all(layout, &places, fiber, ret) || ret->pc < 2 ||
	    ret->sp - fiber->row.sp >= fiber->stack_size)
		return -EFAULT;
	fiber->context = at;
	return 0;
}

/* Whether the fiber is switched out and its registers are where the table says. */
static bool is_saved(const struct fib_layout *layout, const struct ins_fiber *fiber)
{
	return layout->recipe == FIB_RECIPE_SAVED && fiber->stack &&
	       !(fiber->flags & INS_FIBER_PAUSED);
}

void ins_resume(struct ins_source *source, const void *bytes, struct ins_fiber *fiber)
{
	struct ins_registers saved;
	uint64_t popped;

	if (!is_saved(&source->layout, fiber))
		return;
	if (find_saved(source, bytes, fiber, &saved) < 0) {
		fiber->flags = INS_FIBER_GONE;
		fiber->stack = NULL;
		fiber->stack_size = 0;
		return;
	}
	popped = saved.sp - fiber->row.sp;
	fiber->stack += popped;
	fiber->stack_size -= popped;
	fiber->row.stack_used -= popped;
	fiber->popped = (uint32_t)popped;
	saved.pc--;
	ins_registers_give(&saved, fiber);
}

int ins_resume_undo(const struct fib_layout *layout, struct ins_fiber *fiber, void *bytes,
		    ins_resume_put_fn *put, void *context)
{
	struct ins_registers saved;
	uint64_t pc = fiber->row.pc + 1, value;
	uint32_t i;
	int rc = 0;

	if (!is_saved(layout, fiber))
		return 0;
	ins_registers_of(fiber, &saved);
	saved.pc = pc;
	for (i = 0; rc == 0 && i < layout->register_count; i++) {
		struct fib_layout_register r = layout->registers[i];

		if (!ins_registers_get_saved(&saved, r.number, &value))
			continue;
		if (r.base == FIB_BASE_RECORD)
			memcpy((char *)bytes + r.offset, &value, sizeof value);
		else if (r.base == FIB_BASE_CONTEXT)
			rc = put(context, fiber->context + r.offset, &value, sizeof value);
		if (r.number == FIB_REGISTER_PC)
			pc = 0;
	}
	fiber->row.sp -= fiber->popped;
	fiber->stack -= fiber->popped;
	fiber->stack_size += fiber->popped;
	fiber->row.stack_used += fiber->popped;
	memcpy((char *)bytes + layout->fields[FIB_FIELD_SP].offset, &fiber->row.sp,
	       sizeof fiber->row.sp);
	if (pc) /* no register has it: the record does */
		memcpy((char *)bytes + layout->fields[FIB_FIELD_PC].offset, &pc, sizeof pc);
	fiber->popped = 0;
	return rc;
}
