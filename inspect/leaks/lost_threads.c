/* SPDX-License-Identifier: MIT */
/*
 * lost_threads.c - the stacks and registers of threads, as roots
 *
 * For a thread that sleeps, the kernel gives its stack pointer without a stop. Its other registers
 * are visible only if it is stopped for a moment, and one of them may have the only pointer to an
 * object: main() may keep one in a register while it waits. So a first look does without them. If it
 * finds fibers that seem lost, the next look reads the registers.
 *
 * A thread in a system call that a stop would end with EINTR is not stopped (threads.h). If it is an
 * idle carrier, libfiber's frames have saved the registers of the program on the stack. Any other
 * such thread leaves the result unsure.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/leaks/lost_look.h"
#include "inspect/model/thread_at.h"
#include "inspect/process/threads.h"

struct threads {
	struct ins_lost_look *look;
	size_t carriers; /* threads with a carrier's name */
};

static int add_stack(struct ins_lost_look *look, uint64_t sp)
{
	const uint64_t from = (sp - INS_RED_ZONE) & ~UINT64_C(7);
	size_t i;

	for (i = 0; i < look->regions.count; i++) {
		const struct ins_region *r = &look->regions.at[i];

		if (sp >= r->start && sp < r->end)
			return ins_mark_root(look->mark, from > r->start ? from : r->start, r->end);
	}
	return 0;
}

static bool on_a_fiber(const struct ins_lost_look *look, uint64_t sp)
{
	struct ins_fiber fiber;
	size_t i;

	for (i = 0; i < ins_table_count(look->table); i++) {
		ins_table_get(look->table, i, &fiber);
		if (sp >= fiber.row.stack_low && sp - fiber.row.stack_low < fiber.row.stack_size)
			return true;
	}
	return false;
}

static int add_registers(struct ins_lost_look *look, const struct ins_registers *registers)
{
	unsigned i;
	int rc = ins_mark_word(look->mark, registers->pc);

	for (i = 0; rc == 0 && i < INS_REGISTERS; i++)
		if (registers->known >> i & 1)
			rc = ins_mark_word(look->mark, registers->at[i]);
	/* The stack of a fiber that runs is a root as a whole. */
	if (rc == 0 && !on_a_fiber(look, registers->sp))
		rc = add_stack(look, registers->sp);
	return rc;
}

static int on_stop(void *context, const struct ins_thread_state *thread)
{
	return add_registers(context, &thread->registers);
}

/* Stop the thread for a moment. A thread that cannot be stopped leaves the result unsure. */
static int take(struct ins_lost_look *look, uint64_t tid)
{
	int rc = -EPERM;

	if (look->source->pauses)
		rc = ins_thread_state_take((pid_t)tid, on_stop, look, look->source->pauses);
	if (rc == -ENOMEM || rc == -ESRCH)
		return rc == -ENOMEM ? rc : 0;
	if (rc < 0)
		look->unknown++;
	return 0;
}

/* Whether libfiber's own frames are all that the registers of a sleeping thread belong to. */
static bool is_librarys(const struct threads *t, uint64_t tid, const char *name)
{
	const struct ins_source *source = t->look->source;

	if (strcmp(name, "fiber-carrier") == 0 || strcmp(name, "fiber-service") == 0 ||
	    strcmp(name, "fiber-lookout") == 0)
		return true;
	/* The thread that started the runtime is a carrier too. */
	return tid == (uint64_t)source->pid && t->carriers < source->layout.carriers;
}

static int add_live(const struct threads *t, uint64_t tid, const struct ins_thread_at *at)
{
	struct ins_lost_look *look = t->look;
	uint64_t sp, pc;
	int rc;

	if (at->runs || at->hidden || !at->registers.sp)
		return take(look, tid);
	rc = on_a_fiber(look, at->registers.sp) ? 0 : add_stack(look, at->registers.sp);
	if (rc < 0 || !look->registers)
		return rc;
	if (is_librarys(t, tid, at->name) && !on_a_fiber(look, at->registers.sp))
		return 0;
	if (ins_threads_look(look->source->pid, (pid_t)tid, &sp, &pc) == INS_SIGHT_FRAGILE) {
		look->unknown++;
		return 0;
	}
	return take(look, tid);
}

static void count_carriers(struct threads *t, const struct ins_thread_ids *ids)
{
	struct ins_source *source = t->look->source;
	struct ins_thread_at at;
	size_t i;

	for (i = 0; i < ids->count; i++)
		if (source->ops->thread_at(source, ids->tid[i], &at) == 0)
			t->carriers += strcmp(at.name, "fiber-carrier") == 0;
}

int ins_lost_threads(struct ins_lost_look *look)
{
	struct ins_source *source = look->source;
	struct threads t = {look, 0};
	struct ins_thread_ids ids = {0};
	struct ins_thread_at at;
	size_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < look->stopped_count; i++)
		rc = add_registers(look, &look->stopped[i].registers);
	if (rc < 0 || look->stopped)
		return rc;
	rc = source->ops->threads(source, &ids);
	if (rc == 0 && look->live)
		count_carriers(&t, &ids);
	for (i = 0; rc == 0 && i < ids.count; i++) {
		if (source->ops->thread_at(source, ids.tid[i], &at) < 0)
			continue; /* it has ended */
		rc = look->live ? add_live(&t, ids.tid[i], &at)
				: add_registers(look, &at.registers);
	}
	free(ids.tid);
	return rc;
}
