/* SPDX-License-Identifier: MIT */
/*
 * unwind.c - walking a copied stack
 *
 * libunwind is given a process that consists of a few registers, the stack's bytes and the unwind
 * tables of the modules. That is enough: the first pc is a label in the switch routine whose CFI
 * says where everything else was saved.
 *
 * The danger is a walk that ends early and looks whole. libunwind ends cleanly, with one frame,
 * where a module has no .eh_frame_hdr, and guesses by frame pointers where it knows nothing. So the
 * only whole walk is one in which every step had its rule and the last frame is the routine that
 * every fiber starts in. Any other is walked again by libdw, and if that does not arrive either,
 * the longer of the two is called truncated, with the reason.
 *
 * A walk that was whole leaves the rules of its steps in a cache (walk_cache.h), by which the next fiber in the same
 * places is walked first.
 */
#include "inspect/unwind/unwind.h"

#include <errno.h>
#include <fiber/fiber.h>
#include <libunwind.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/unwind/unwind_dw.h"
#include "inspect/unwind/unwind_end.h"
#include "inspect/unwind/unwind_nothing.h"
#include "inspect/unwind/unwind_refused.h"
#include "inspect/unwind/walk_cache.h"

/* libunwind exports it and has no header for it; perf and others declare it the same way. */
extern int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t as, unw_word_t ip,
					      unw_dyn_info_t *di, unw_proc_info_t *pi,
					      int need_unwind_info, void *arg);

struct table {
	bool looked;
	unw_word_t base;  /* of .eh_frame_hdr */
	unw_word_t data;  /* its sorted table */
	uint64_t entries; /* 0: none */
};

struct ins_unwinder {
	struct ins_source *source;
	unw_addr_space_t space;
	struct table *tables; /* one for each module */
	size_t table_count;
	const struct ins_fiber *fiber;	/* of the walk that goes on */
	struct ins_registers registers; /* that it begins with */
	bool lost;			/* a step had no rule */
	bool foreign;			/* the outermost frame is of another fiber */
	bool home;			/* a handler's stack led back to the fiber's */
	struct ins_unwind_dw dw;
	struct ins_walk second;
	struct ins_walk_cache *cache; /* NULL: without one */
};

/* Encodings of .eh_frame_hdr that every linker writes. */
#define ENC_UDATA4	   0x03
#define ENC_DATAREL_SDATA4 0x3b
#define ENC_SIZE4(enc)	   (((enc)&0x0f) == 0x03 || ((enc)&0x0f) == 0x0b)

static void find_table(struct ins_unwinder *u, const struct ins_module *m, struct table *ret)
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

static struct table *table_of(struct ins_unwinder *u, const struct ins_module *m)
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
	struct ins_unwinder *u = arg;
	struct ins_module *m = ins_modules_find(u->source->modules, ip);
	struct table *t = m && m->known ? table_of(u, m) : NULL;
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
	struct ins_unwinder *u = arg;

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
	const struct ins_unwinder *u = arg;

	(void)as;
	if (write)
		return -UNW_EREADONLYREG;
	return ins_registers_get_unwind(&u->registers, reg, value) ? 0 : -UNW_EBADREG;
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

int ins_unwinder_new(struct ins_source *source, struct ins_unwinder **ret)
{
	struct ins_unwinder *u = calloc(1, sizeof *u);

	if (!u)
		return -ENOMEM;
	u->source = source;
	u->dw.source = source;
	u->space = unw_create_addr_space(&accessors, 0);
	if (!u->space || ins_walk_cache_new(source, &u->cache) < 0) {
		ins_unwinder_free(u);
		return -ENOMEM;
	}
	/* Fibers stand in the same few places: what a rule says is kept by address. */
	unw_set_caching_policy(u->space, UNW_CACHE_GLOBAL);
	*ret = u;
	return 0;
}

void ins_unwinder_free(struct ins_unwinder *unwinder)
{
	if (!unwinder)
		return;
	if (unwinder->space)
		unw_destroy_addr_space(unwinder->space);
	ins_walk_cache_free(unwinder->cache);
	free(unwinder->tables);
	free(unwinder);
}

void ins_unwinder_drop_cache(struct ins_unwinder *unwinder)
{
	ins_walk_cache_free(unwinder->cache);
	unwinder->cache = NULL;
}

static void walk_unwind(struct ins_unwinder *u, const struct ins_fiber *fiber, struct ins_walk *ret)
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
	/* Below the entry of another library's coroutines may be anything. */
	while (ret->count < INS_WALK_MAX && !arrived(&u->source->layout, ret)) {
		const bool nothing = at_nothing(u->source, &u->dw, fiber, ret);

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
		/* A caller's frame is above; a stack that goes in circles is a damaged one. */
		if (came_home(fiber, last, sp))
			u->home = true;
		else if (sp <= last)
			return;
		/* Nobody called the outermost; but a signal may have come where nothing is. */
		if ((!more && pc) ||
		    (!pc && !ins_unwind_dw_of_signal(&u->dw, ret->pc[ret->count - 1])))
			return;
		last = sp;
		ret->pc[ret->count++] = pc;
		if (pc - 1 - layout->entry_low < layout->entry_high - layout->entry_low)
			u->foreign = !owns(layout, fiber, &cursor, sp);
	}
}

/* By both unwinders, as far as it takes. True when the walk is whole. */
static bool walk_both(struct ins_unwinder *u, const struct ins_fiber *fiber, struct ins_walk *ret)
{
	walk_unwind(u, fiber, ret);
	if (!u->lost && ended(&u->dw, fiber, ret))
		return true;
	if (!fiber->stack)
		return false;
	ins_unwind_dw(&u->dw, fiber, &u->second);
	if (ended(&u->dw, fiber, &u->second) || u->second.count > ret->count) {
		u->foreign = u->dw.foreign;
		ret->count = u->second.count;
		memcpy(ret->pc, u->second.pc, ret->count * sizeof ret->pc[0]);
	}
	return ended(&u->dw, fiber, ret);
}

static bool walk_whole(struct ins_unwinder *u, const struct ins_fiber *fiber, struct ins_walk *ret)
{
	const bool whole = walk_both(u, fiber, ret);

	ins_unwind_dw_signals(&u->dw, ret);
	return whole;
}

#define SWITCHING "it was caught in the middle of a switch"
#define OUTSIDE	  SWITCHING ", or its stack pointer is outside its stack"

/* A fiber that runs: who ran it was stopped, or it is between two. What is not sure to be its own is not shown. */
static void walk_running(struct ins_unwinder *u, const struct ins_fiber *fiber,
			 struct ins_walk *ret)
{
	const struct fib_row *row = &fiber->row;
	const bool paused = fiber->flags & INS_FIBER_PAUSED;
	const bool whole = fiber->stack && walk_whole(u, fiber, ret);
	const bool home = paused && (u->home || row->sp - row->stack_low <= row->stack_size);
	/* No switch takes half a second. */
	const bool outside = paused ? !home : !fiber->stack && row->age > 500000000;

	if (paused && whole && !u->foreign)
		return;
	ret->truncated = true;
	if (paused && (u->foreign || (!home && !whole)))
		ret->count = 0;
	if (home && !u->foreign)
		explain(u->source->modules, &u->dw, fiber, ret);
	else
		snprintf(ret->reason, sizeof ret->reason, "%s", outside ? OUTSIDE : SWITCHING);
	ins_problems_add(&u->source->problems, "a backtrace is truncated: %s", ret->reason);
}

static void begin(struct ins_walk *ret)
{
	memset(ret, 0, sizeof *ret - sizeof ret->pc);
}

static void call_truncated(struct ins_unwinder *u, const struct ins_fiber *fiber,
			   struct ins_walk *ret)
{
	ret->truncated = true;
	explain(u->source->modules, &u->dw, fiber, ret);
	ins_problems_add(&u->source->problems, "a backtrace is truncated: %s", ret->reason);
}

void ins_unwind(struct ins_unwinder *unwinder, const struct ins_fiber *fiber, struct ins_walk *ret)
{
	const struct fib_layout *layout = &unwinder->source->layout;

	begin(ret);
	if (!fib_row_walkable(&fiber->row) && !fib_row_fresh(&fiber->row) &&
	    !(fiber->flags & (INS_FIBER_PAUSED | INS_FIBER_SWITCHING))) {
		ret->truncated = fib_row_astray(&fiber->row);
		snprintf(ret->reason, sizeof ret->reason, "%s",
			 fiber->row.state == FIBER_DEAD ? "it has ended"
			 : ret->truncated		? "its stack pointer is outside its stack"
			 : fiber->row.state == FIBER_RUNNING
				 ? "it runs: its stack does not hold still"
				 : "it has no stack");
		if (ret->truncated)
			ins_problems_add(&unwinder->source->problems,
					 "a backtrace is truncated: %s", ret->reason);
		return;
	}
	if (layout->recipe != FIB_RECIPE_CFI && layout->recipe != FIB_RECIPE_SAVED) {
		ret->truncated = true;
		snprintf(ret->reason, sizeof ret->reason,
			 "stacks of port \"%s\" cannot be walked yet", layout->port);
		ins_problems_add(&unwinder->source->problems, "no backtrace: %s", ret->reason);
		return;
	}
	if (fiber->flags & (INS_FIBER_PAUSED | INS_FIBER_SWITCHING)) {
		walk_running(unwinder, fiber, ret);
		return;
	}
	if (fib_row_fresh(&fiber->row)) {
		/* Where it will begin: all there is to say, and enough to group it by. */
		ret->pc[ret->count++] = fiber->row.entry;
		return;
	}
	if (unwinder->cache && ins_walk_cache_walk(unwinder->cache, fiber, ret))
		return;
	if (walk_whole(unwinder, fiber, ret)) {
		if (unwinder->cache)
			ins_walk_cache_learn(unwinder->cache, fiber, ret);
		return;
	}
	call_truncated(unwinder, fiber, ret);
}

void ins_unwind_thread(struct ins_unwinder *unwinder, const struct ins_fiber *thread,
		       struct ins_walk *ret)
{
	begin(ret);
	if (!walk_whole(unwinder, thread, ret))
		call_truncated(unwinder, thread, ret);
}

bool ins_unwind_whole(struct ins_unwinder *unwinder, const struct ins_fiber *fiber,
		      struct ins_walk *ret)
{
	begin(ret);
	walk_unwind(unwinder, fiber, ret);
	return !unwinder->lost && ended(&unwinder->dw, fiber, ret);
}

bool ins_unwind_function(struct ins_unwinder *unwinder, uint64_t pc, uint64_t *ret)
{
	unw_proc_info_t info;

	if (unw_get_proc_info_by_ip(unwinder->space, pc, &info, unwinder) < 0)
		return false;
	*ret = info.start_ip;
	return true;
}

struct ins_source *ins_unwind_source(struct ins_unwinder *unwinder)
{
	return unwinder->source;
}
