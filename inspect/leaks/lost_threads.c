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
 * idle carrier, libfiber's frames have saved the registers of the program on the stack. Its frames
 * show that; its name does not, since a thread inherits the name of its creator. Any other such
 * thread leaves the result unsure.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/leaks/lost_look.h"
#include "inspect/model/thread_at.h"
#include "inspect/model/thread_stack.h"
#include "inspect/process/threads.h"
#include "inspect/unwind/unwind.h"

#define SPLIT (UINT64_C(16) << 20) /* a stack in several areas is not larger */
#define OUTER 3u		   /* frames of the C library that may be around libfiber's */

/* mlock() or mprotect() may have split the stack: areas that follow without a gap count too. */
static int add_stack(struct ins_lost_look *look, uint64_t sp)
{
	const uint64_t from = (sp - INS_RED_ZONE) & ~UINT64_C(7);
	const struct ins_region *r = look->regions.at, *end = r + look->regions.count;
	int rc;

	while (r < end && !(sp >= r->start && sp < r->end))
		r++;
	if (r == end)
		return 0;
	rc = ins_mark_root(look->mark, from > r->start ? from : r->start, r->end);
	for (r++; rc == 0 && r < end && r->start == r[-1].end && r->start - sp < SPLIT; r++)
		if (!r->file)
			rc = ins_mark_root(look->mark, r->start, r->end);
	return rc;
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
	return rc;
}

static int on_stop(void *context, const struct ins_thread_state *thread)
{
	struct ins_lost_look *look = context;
	int rc = add_registers(look, &thread->registers);

	/* The stack of a fiber that runs is a root as a whole. */
	if (rc == 0 && !on_a_fiber(look, thread->registers.sp))
		rc = add_stack(look, thread->registers.sp);
	return rc;
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

/* Whether a frame is libfiber's, also if it was called from outside. */
static bool is_inside(const struct ins_walk *walk, unsigned frame)
{
	return ins_walk_internal(walk, frame) || ins_walk_called(walk, frame);
}

/* The address in the stack where the return address of the outermost frame is; 0: not found. */
static uint64_t find_return(const struct ins_thread_stack *stack, const struct ins_walk *walk)
{
	uint64_t word, found = 0;
	size_t i;

	for (i = 0; i + sizeof word <= stack->fiber.stack_size; i += sizeof word) {
		memcpy(&word, stack->bytes + i, sizeof word);
		if (word == walk->pc[walk->count - 1])
			found = stack->fiber.row.sp + i;
	}
	return found;
}

/*
 * Whether the frames from `from` on are few, and in the module of the innermost one: the C library, where
 * the thread sleeps and where it began. In a program that is linked statically that says nothing.
 */
static bool is_outer(struct ins_modules *modules, const struct ins_walk *walk, unsigned from)
{
	const struct ins_module *libc = ins_modules_find(modules, walk->pc[0]);

	if (walk->truncated || walk->count - from >= OUTER)
		return false;
	for (; from < walk->count; from++)
		if (ins_modules_find(modules, walk->pc[from]) != libc)
			return false;
	return true;
}

/* Whether an address is in the C library, as a module of its own. */
static bool is_libc(struct ins_modules *modules, uint64_t pc)
{
	const struct ins_module *m = ins_modules_find(modules, pc);
	const char *slash = m && m->path ? strrchr(m->path, '/') : NULL;
	const char *name = slash ? slash + 1 : "";

	return strncmp(name, "libc.so", 7) == 0 || strncmp(name, "libc-", 5) == 0 ||
	       strncmp(name, "libpthread", 10) == 0 || strncmp(name, "ld-musl", 7) == 0;
}

/*
 * Whether the `first` innermost frames are few, and of the C library. A function of the program that
 * libfiber has called may be there too: it may have a pointer in a register. In a program that is
 * linked statically it cannot be told from the C library.
 */
static bool is_inner(struct ins_modules *modules, const struct ins_walk *walk, unsigned first)
{
	unsigned i;

	for (i = 0; i < first; i++)
		if (!is_libc(modules, walk->pc[i]))
			return false;
	return first < OUTER;
}

enum frames {
	PROGRAMS, /* anything */
	IN_CALL,  /* the innermost are libfiber's, and it is the main thread */
	LIBRARYS, /* all are libfiber's, but for those of the C library at both ends */
};

/*
 * What the frames of a thread are. An idle carrier and the service thread have only frames of libfiber.
 * These hold nothing of the program, only what libfiber left there. *ret_base: where they end; the memory
 * above is the thread's own variables; else 0.
 */
static enum frames frames_of(struct ins_lost_look *look, uint64_t tid, uint64_t *ret_base)
{
	struct ins_thread_stack stack;
	struct ins_walk *walk = calloc(1, sizeof *walk);
	unsigned first = 0, last;
	enum frames frames = PROGRAMS;

	*ret_base = 0;
	if (!walk || (!look->unwinder && ins_unwinder_new(look->source, &look->unwinder) < 0) ||
	    ins_thread_stack_read(look->source, tid, &stack) < 0) {
		free(walk);
		return PROGRAMS;
	}
	if (stack.bytes)
		ins_unwind_thread(look->unwinder, &stack.fiber, walk);
	while (first < walk->count && !is_inside(walk, first))
		first++;
	for (last = first; last < walk->count && is_inside(walk, last);)
		last++;
	if (!is_inner(look->source->modules, walk, first)) {
		frames = PROGRAMS;
	} else if (last > first && is_outer(look->source->modules, walk, last)) {
		*ret_base = find_return(&stack, walk);
		frames = *ret_base ? LIBRARYS : PROGRAMS;
	} else if (last > first && tid == (uint64_t)look->source->pid) {
		frames = IN_CALL;
	}
	free(walk);
	ins_thread_stack_free(&stack);
	return frames;
}

/* A thread that sleeps, or of a core, outside the stacks of fibers. */
static int add_sleeper(struct ins_lost_look *look, uint64_t tid, uint64_t sp,
		       enum frames *ret_frames)
{
	uint64_t base;
	int rc;

	*ret_frames = PROGRAMS;
	if (on_a_fiber(look, sp))
		return 0;
	*ret_frames = frames_of(look, tid, &base);
	if (!base)
		return add_stack(look, sp);
	rc = ins_mark_dead(look->mark, sp - INS_RED_ZONE, base);
	/* Without the red zone: nothing is below the thread's own variables. */
	return rc < 0 ? rc : add_stack(look, base + INS_RED_ZONE);
}

static int add_live(struct ins_lost_look *look, uint64_t tid, const struct ins_thread_at *at)
{
	uint64_t sp, pc;
	enum frames frames;
	int rc;

	if (at->runs || !at->registers.sp)
		return take(look, tid);
	rc = add_sleeper(look, tid, at->registers.sp, &frames);
	if (rc < 0 || !look->registers || frames == LIBRARYS)
		return rc;
	if (ins_threads_look(look->source->pid, (pid_t)tid, &sp, &pc) != INS_SIGHT_FRAGILE)
		return take(look, tid);
	/* A carrier's switch between contexts has saved the registers of main() on the stack. */
	look->unknown += frames != IN_CALL;
	return 0;
}

/* A thread of a process that is stopped. */
static int add_stopped(struct ins_lost_look *look, const struct ins_thread_state *thread)
{
	enum frames frames;
	int rc = add_sleeper(look, (uint64_t)thread->tid, thread->registers.sp, &frames);

	return rc < 0 || frames == LIBRARYS ? rc : add_registers(look, &thread->registers);
}

/* A thread of a core. */
static int add_dead(struct ins_lost_look *look, const struct ins_thread_at *at)
{
	enum frames frames;
	int rc;

	ins_lost_look_stack(look, at->registers.sp);
	rc = add_sleeper(look, at->tid, at->registers.sp, &frames);

	return rc < 0 || frames == LIBRARYS ? rc : add_registers(look, &at->registers);
}

int ins_lost_threads(struct ins_lost_look *look)
{
	struct ins_source *source = look->source;
	struct ins_thread_ids ids = {0};
	struct ins_thread_at at;
	size_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < look->stopped_count; i++)
		rc = add_stopped(look, &look->stopped[i]);
	if (rc < 0 || look->stopped)
		return rc;
	rc = source->ops->threads(source, &ids);
	for (i = 0; rc == 0 && i < ids.count; i++) {
		rc = source->ops->thread_at(source, ids.tid[i], INS_THREAD_MOVES, &at);
		if (rc < 0) {
			look->unknown += rc != -ESRCH; /* else it has ended */
			rc = 0;
			continue;
		}
		rc = look->live ? add_live(look, ids.tid[i], &at) : add_dead(look, &at);
	}
	free(ids.tid);
	return rc;
}
