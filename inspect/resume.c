/* SPDX-License-Identifier: MIT */
/*
 * resume.c - from a saved frame to the registers that a walk begins with
 *
 * libfiber's switch has CFI, so a stack pointer and an address in it are all that an unwinder needs. Others push the registers
 * and keep the stack pointer (boost.context), or write them into a struct (ucontext), in code that no unwinder can read.
 * Their registry says where each one is, and the walk begins where the switch was called, with what it will restore.
 *
 * The table is a stranger's, checked by fib_layout_check(); the addresses that it leads to are anybody's. What cannot be
 * read, or leads out of the fiber's stack, is no place to begin at.
 */
#include "inspect/resume.h"

#include <errno.h>
#include <string.h>

#include "inspect/unwind_dw.h"

/* What is saved, as it was read. */
struct saved {
	uint64_t sp, pc, context;
	uint64_t reg[INS_REGISTERS];
	uint32_t known;
};

struct places {
	const unsigned char *record, *context;
	size_t context_size;
};

/* What the registers of the struct reach up to. */
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
	return true;
}

static bool load_all(const struct fib_layout *layout, const struct places *p,
		     const struct ins_fiber *fiber, struct saved *ret)
{
	uint64_t value;
	uint32_t i;

	ret->sp = fiber->row.sp;
	ret->pc = fiber->row.pc;
	ret->known = 0;
	for (i = 0; i < layout->register_count; i++) {
		struct fib_layout_register r = layout->registers[i];

		if (!load(p, fiber, r, &value))
			return false;
		if (r.number == FIB_REGISTER_SP) {
			ret->sp = value;
		} else if (r.number == FIB_REGISTER_PC) {
			ret->pc = value;
		} else if (r.number < INS_REGISTERS) {
			ret->reg[r.number] = value;
			ret->known |= UINT32_C(1) << r.number;
		}
	}
	return true;
}

/* As a bit of ins_fiber.saved; 0: this machine's is not known. */
static uint32_t frame_pointer(void)
{
	int fp = ins_unwind_dw_frame_pointer();

	return fp < 0 ? 0 : UINT32_C(1) << fp;
}

static int find_saved(struct ins_source *source, const void *bytes, const struct ins_fiber *fiber,
		      struct saved *ret)
{
	const struct fib_layout *layout = &source->layout;
	unsigned char context[FIB_LAYOUT_REACH];
	struct places places = {bytes, context, context_size(layout)};
	uint64_t at = 0;

	if (places.context_size) {
		memcpy(&at, places.record + layout->context.offset, sizeof at);
		if (source->memory(source, at, context, places.context_size) < 0)
			return -EFAULT;
	}
	if (!load_all(layout, &places, fiber, ret) || ret->pc < 2 ||
	    ret->sp - fiber->row.sp >= fiber->stack_size)
		return -EFAULT;
	ret->context = at;
	return 0;
}

void ins_resume(struct ins_source *source, const void *bytes, struct ins_fiber *fiber)
{
	struct saved saved;
	uint64_t popped;

	if (source->layout.recipe != FIB_RECIPE_SAVED || !fiber->stack)
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
	fiber->row.sp = saved.sp;
	fiber->row.stack_used -= popped;
	fiber->row.pc = saved.pc - 1;
	fiber->popped = (uint32_t)popped;
	fiber->context = saved.context;
	memcpy(fiber->reg, saved.reg, sizeof fiber->reg);
	fiber->saved = saved.known;
	if (frame_pointer() & saved.known)
		fiber->row.fp = saved.reg[ins_unwind_dw_frame_pointer()];
}

void ins_resume_kept(const struct fib_layout *layout, struct ins_fiber *fiber)
{
	uint32_t i;

	if (layout->recipe != FIB_RECIPE_SAVED || !fiber->stack)
		return;
	for (i = 0; i < layout->register_count; i++) {
		if (layout->registers[i].number != ins_unwind_dw_frame_pointer())
			continue;
		fiber->saved = frame_pointer();
		fiber->reg[layout->registers[i].number] = fiber->row.fp;
	}
}

int ins_resume_undo(const struct fib_layout *layout, struct ins_fiber *fiber, void *bytes,
		    ins_resume_put_fn *put, void *context)
{
	uint64_t sp = fiber->row.sp, pc = fiber->row.pc + 1, value;
	uint32_t i;
	int rc = 0;

	if (layout->recipe != FIB_RECIPE_SAVED || !fiber->stack)
		return 0;
	for (i = 0; rc == 0 && i < layout->register_count; i++) {
		struct fib_layout_register r = layout->registers[i];

		if (r.number < INS_REGISTERS)
			value = fiber->reg[r.number];
		else
			value = r.number == FIB_REGISTER_SP ? sp : pc;
		if (r.base == FIB_BASE_RECORD)
			memcpy((char *)bytes + r.offset, &value, sizeof value);
		else if (r.base == FIB_BASE_CONTEXT)
			rc = put(context, fiber->context + r.offset, &value, sizeof value);
		if (r.number == FIB_REGISTER_PC)
			pc = 0;
	}
	fiber->row.sp = sp - fiber->popped;
	fiber->stack -= fiber->popped;
	fiber->stack_size += fiber->popped;
	fiber->row.stack_used += fiber->popped;
	memcpy((char *)bytes + layout->fields[FIB_FIELD_SP].offset, &fiber->row.sp, sizeof sp);
	if (pc) /* no register: the record's own says it */
		memcpy((char *)bytes + layout->fields[FIB_FIELD_PC].offset, &pc, sizeof pc);
	fiber->popped = 0;
	return rc;
}
