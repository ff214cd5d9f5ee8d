/* SPDX-License-Identifier: MIT */
/*
 * unwind_lu.c - walk copied registers and bytes with libunwind
 *
 * libunwind is given a process that consists of a few registers, the stack's bytes and the modules'
 * unwind tables. That is enough: the first pc is a label in the switch routine, whose CFI says
 * where the other registers were saved.
 *
 * A call through a null pointer or into data crashes at an address without a function, so the walk
 * would end at its first frame. But no code ran there: the stack is as the call left it, and the
 * return address is at its top. The walk goes on at that return address. This is certain only for a
 * thread that a signal stopped there; any other return address that leads to no code means a
 * damaged stack. So the source is asked whether the address was executable, as far as it knows.
 */
#include "inspect/unwind/unwind_lu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/unwind/unwind_end.h"

/*
 * libunwind exports this function but no header declares it; perf and others declare it the same
 * way.
 */
extern int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t as, unw_word_t ip,
					      unw_dyn_info_t *di, unw_proc_info_t *pi,
					      int need_unwind_info, void *arg);

struct ins_unwind_table {
	bool looked;
	unw_word_t base;  /* of .eh_frame_hdr */
	unw_word_t data;  /* its sorted table */
	uint64_t entries; /* 0: none */
};

/* Encodings of .eh_frame_hdr that every linker writes. */
#define ENC_UDATA4	   0x03
#define ENC_DATAREL_SDATA4 0x3b
#define ENC_SIZE4(enc)	   (((enc)&0x0f) == 0x03 || ((enc)&0x0f) == 0x0b)

static void find_table(struct ins_unwind_lu *u, const struct ins_module *m,
		       struct ins_unwind_table *ret)
{
	struct {
		uint8_t version, eh_frame_enc, count_enc, table_enc;
		uint32_t eh_frame, count;
	} head;
	unsigned i;

	ret->looked = true;
	for (i = 0; i < m->image.segments; i++) {
		const Elf64_Phdr *ph = &m->image.segment[i];
		uint64_t at = m->bias + ph->p_vaddr;

		if (ph->p_type != PT_GNU_EH_FRAME || ph->p_memsz < sizeof head)
			continue;
		if (ins_source_memory(u->source, NULL, at, &head, sizeof head) < 0)
			return;
		if (head.version != 1 || !ENC_SIZE4(head.eh_frame_enc) ||
		    head.count_enc != ENC_UDATA4 || head.table_enc != ENC_DATAREL_SDATA4)
			return;
		if (head.count > (ph->p_memsz - sizeof head) / 8)
			return;
		ret->base = at;
		ret->data = at + sizeof head;
		ret->entries = head.count;
		return;
	}
}

static struct ins_unwind_table *table_of(struct ins_unwind_lu *u, const struct ins_module *m)
{
	const struct ins_modules *modules = u->source->modules;
	size_t i = (size_t)(m - modules->at);

	if (u->table_count != modules->count) {
		free(u->tables);
		u->tables = calloc(modules->count, sizeof *u->tables);
		u->table_count = u->tables ? modules->count : 0;
	}
	if (i >= u->table_count)
		return NULL;
	if (!u->tables[i].looked)
		find_table(u, m, &u->tables[i]);
	return &u->tables[i];
}

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *pi, int need,
			  void *arg)
{
	struct ins_unwind_lu *u = arg;
	struct ins_module *m = ins_modules_find(u->source->modules, ip);
	struct ins_unwind_table *t = m && m->known ? table_of(u, m) : NULL;
	int rc = -UNW_ENOINFO;

	if (t && t->entries) {
		unw_dyn_info_t di;

		memset(&di, 0, sizeof di);
		di.format = UNW_INFO_FORMAT_REMOTE_TABLE;
		di.start_ip = m->start;
		di.end_ip = m->end;
		di.u.rti.segbase = t->base;
		di.u.rti.table_data = t->data;
		di.u.rti.table_len = t->entries * 8 / sizeof(unw_word_t);
		rc = UNW_OBJ(dwarf_search_unwind_table)(as, ip, &di, pi, need, arg);
	}
	if (rc < 0)
		u->lost = true;
	return rc;
}

static void put_unwind_info(unw_addr_space_t as, unw_proc_info_t *pi, void *arg)
{
	(void)as;
	(void)pi;
	(void)arg;
}

static int access_mem(unw_addr_space_t as, unw_word_t address, unw_word_t *value, int write,
		      void *arg)
{
	struct ins_unwind_lu *u = arg;

	(void)as;
	if (write)
		return -UNW_EINVAL;
	if (ins_source_memory(u->source, u->fiber, address, value, sizeof *value) < 0)
		return -UNW_EINVAL;
	return 0;
}

static int access_reg(unw_addr_space_t as, unw_regnum_t reg, unw_word_t *value, int write,
		      void *arg)
{
	const struct ins_unwind_lu *u = arg;

	(void)as;
	if (write)
		return -UNW_EREADONLYREG;
	return ins_registers_get_unwind(&u->registers, reg, value) ? 0 : -UNW_EBADREG;
}

/* -- callbacks that registers and a stack give no answer to -- */

static int no_dynamic(unw_addr_space_t as, unw_word_t *ret, void *arg)
{
	(void)as;
	(void)ret;
	(void)arg;
	return -UNW_ENOINFO;
}

static int no_fpreg(unw_addr_space_t as, unw_regnum_t reg, unw_fpreg_t *value, int write, void *arg)
{
	(void)as;
	(void)reg;
	(void)value;
	(void)write;
	(void)arg;
	return -UNW_EBADREG;
}

static int no_resume(unw_addr_space_t as, unw_cursor_t *cursor, void *arg)
{
	(void)as;
	(void)cursor;
	(void)arg;
	return -UNW_EINVAL;
}

static int no_name(unw_addr_space_t as, unw_word_t ip, char *buf, size_t size, unw_word_t *offset,
		   void *arg)
{
	(void)as;
	(void)ip;
	(void)buf;
	(void)size;
	(void)offset;
	(void)arg;
	return -UNW_ENOINFO;
}

static unw_accessors_t accessors = {
	.find_proc_info = find_proc_info,
	.put_unwind_info = put_unwind_info,
	.get_dyn_info_list_addr = no_dynamic,
	.access_mem = access_mem,
	.access_reg = access_reg,
	.access_fpreg = no_fpreg,
	.resume = no_resume,
	.get_proc_name = no_name,
};

int ins_unwind_lu_begin(struct ins_unwind_lu *u, struct ins_source *source,
			struct ins_unwind_dw *dw)
{
	u->source = source;
	u->dw = dw;
	u->space = unw_create_addr_space(&accessors, 0);
	if (!u->space)
		return -ENOMEM;
	/* Many fibers wait in the same few places: libunwind keeps the rules by address. */
	unw_set_caching_policy(u->space, UNW_CACHE_GLOBAL);
	return 0;
}

void ins_unwind_lu_free(struct ins_unwind_lu *u)
{
	if (u->space)
		unw_destroy_addr_space(u->space);
	free(u->tables);
}

bool ins_unwind_lu_function(struct ins_unwind_lu *u, uint64_t pc, uint64_t *ret)
{
	unw_proc_info_t info;

	if (unw_get_proc_info_by_ip(u->space, pc, &info, u) < 0)
		return false;
	*ret = info.start_ip;
	return true;
}

/* -- a call of an address without a function -- */

/* Whether a signal stopped the last frame at an address that cannot have code. */
static bool at_nothing(struct ins_source *source, struct ins_unwind_dw *dw,
		       const struct ins_fiber *fiber, const struct ins_walk *walk)
{
	const unsigned last = walk->count - 1;

	if (!source->no_code || !(fiber->flags & INS_FIBER_PAUSED) ||
	    !source->no_code(source, walk->pc[last]))
		return false;
	return last == 0 || ins_unwind_dw_of_signal(dw, walk->pc[last - 1]);
}

/* Step to the caller: *ret gets its registers, *ret_back the return address. */
static bool hop_back(struct ins_source *source, const struct ins_fiber *fiber, unw_cursor_t *cursor,
		     struct ins_registers *ret, unw_word_t *ret_back)
{
#if defined(__x86_64__)
	struct ins_registers there; /* the cursor still reads *ret */
	unw_word_t sp, value;
	unsigned i;

	if (unw_get_reg(cursor, UNW_X86_64_RSP, &sp) < 0 ||
	    ins_source_memory(source, fiber, sp, ret_back, sizeof *ret_back) < 0 || !*ret_back)
		return false;
	/*
	 * An address within the call has the caller's rules; behind it another function may start.
	 */
	ins_registers_make(&there, *ret_back - 1, sp + sizeof *ret_back, 0, NULL);
	for (i = 0; i < UNW_X86_64_RIP; i++)
		if (i != UNW_X86_64_RSP && unw_get_reg(cursor, (int)i, &value) == 0)
			ins_registers_set(&there, i, value);
	*ret = there;
	return true;
#else
	(void)source, (void)fiber, (void)cursor, (void)ret, (void)ret_back;
	return false;
#endif
}

/* -- the walk -- */

/* Whether sp has moved from a signal handler's alternate stack to the fiber's stack. */
static bool came_home(const struct ins_fiber *fiber, uint64_t from, uint64_t sp)
{
	const struct fib_row *row = &fiber->row;

	return (fiber->flags & INS_FIBER_PAUSED) && from - row->stack_low > row->stack_size &&
	       sp - row->stack_low <= row->stack_size;
}

/*
 * Whether the frames on this stack are the fiber's. Another fiber may have just exited on the stack
 * while this one is about to start. Then the register that the outermost routine uses for the
 * fiber's record (arch/) holds another record.
 */
static bool owns(const struct fib_layout *layout, const struct ins_fiber *fiber,
		 unw_cursor_t *outermost, uint64_t sp)
{
	const struct fib_row *row = &fiber->row;
	unw_word_t record = row->record;

	if (!(fiber->flags & INS_FIBER_PAUSED))
		return true;
	if (sp - row->stack_low > row->stack_size)
		return false;
#if defined(__x86_64__)
	if (unw_get_reg(outermost, UNW_X86_64_R12, &record) < 0)
		return true;
#endif
	return record == row->record ||
	       record - layout->records >= layout->committed * layout->record_size;
}

void ins_unwind_lu_none(struct ins_unwind_lu *u, const struct ins_fiber *fiber)
{
	u->fiber = fiber;
	u->lost = true;
	u->foreign = u->home = false;
}

void ins_unwind_lu(struct ins_unwind_lu *u, const struct ins_fiber *fiber, struct ins_walk *ret)
{
	const struct fib_layout *layout = &u->source->layout;
	unw_word_t pc, sp, last = fiber->row.sp;
	unw_cursor_t cursor;
	int more = 1;

	u->fiber = fiber;
	ins_registers_of(fiber, &u->registers);
	u->lost = u->foreign = u->home = false;
	ret->pc[0] = fiber->row.pc;
	ret->count = 1;
	if (unw_init_remote(&cursor, u->space, u) < 0)
		return;
	/* With another library's coroutines, anything may be below the entry. */
	while (ret->count < INS_WALK_MAX && !ins_walk_arrived(layout, ret)) {
		const bool nothing = at_nothing(u->source, u->dw, fiber, ret);

		if (nothing && !hop_back(u->source, fiber, &cursor, &u->registers, &pc))
			return;
		if (nothing) {
			if (unw_init_remote(&cursor, u->space, u) < 0)
				return;
		} else {
			more = unw_step(&cursor);
			if (more < 0 || u->lost || unw_get_reg(&cursor, UNW_REG_IP, &pc) < 0)
				return;
		}
		if (unw_get_reg(&cursor, UNW_REG_SP, &sp) < 0)
			return;
		/* A caller's frame is farther up; a cycle means a damaged stack. */
		if (came_home(fiber, last, sp))
			u->home = true;
		else if (sp <= last)
			return;
		/* The outermost frame has no caller. But a signal may have come at address 0. */
		if ((!more && pc) ||
		    (!pc && !ins_unwind_dw_of_signal(u->dw, ret->pc[ret->count - 1])))
			return;
		last = sp;
		ret->pc[ret->count++] = pc;
		if (pc - 1 - layout->entry_low < layout->entry_high - layout->entry_low)
			u->foreign = !owns(layout, fiber, &cursor, sp);
	}
}
