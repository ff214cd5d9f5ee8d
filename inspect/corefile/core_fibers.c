/* SPDX-License-Identifier: MIT */
/*
 * core_fibers.c - write fibers into a core so that a debugger shows them as threads
 *
 * A thread in a core is a number and registers. For a fiber these are the registers in its record;
 * the unwind information at that address gives the rest.
 *
 * A live program runs while memory is copied, so the copy of memory and the copy of a fiber are of
 * different times. The record and the stack that were read together therefore overwrite the copied
 * memory. No record comes from elsewhere. So a reader of the core finds each fiber consistent.
 *
 * If two fibers had the same stack during the copy, the stack belongs to the later one. The earlier
 * fiber has exited and is left out.
 */
#include "inspect/corefile/core_fibers.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/fiber.h>

#include "inspect/corefile/status_note.h"
#include "inspect/unwind/resume.h"

#define OFFSET(member) offsetof(struct fib_row, member), sizeof(((struct fib_row *)0)->member)

/* Fields that come from the consistent copy, even if the record has changed since. */
static const struct {
	enum fib_layout_field_id id;
	size_t offset, size;
} decided[] = {
	{FIB_FIELD_SP, OFFSET(sp)},
	{FIB_FIELD_FP, OFFSET(fp)},
	{FIB_FIELD_PC, OFFSET(pc)},
	{FIB_FIELD_SEQ, OFFSET(seq)},
	{FIB_FIELD_STATE, OFFSET(state)},
	{FIB_FIELD_WAIT_KIND, OFFSET(wait_kind)},
	{FIB_FIELD_FLAGS, OFFSET(flags)},
	{FIB_FIELD_CARRIER, OFFSET(carrier)},
	{FIB_FIELD_PINS, OFFSET(pins)},
	{FIB_FIELD_WAIT_OBJECT, OFFSET(wait_object)},
	{FIB_FIELD_WAIT_ARG, OFFSET(wait_arg)},
	{FIB_FIELD_DEADLINE, OFFSET(deadline)},
	{FIB_FIELD_CPU, OFFSET(cpu)},
	{FIB_FIELD_ID, OFFSET(id)},
	{FIB_FIELD_PARENT, OFFSET(parent)},
	{FIB_FIELD_STACK_LOW, OFFSET(stack_low)},
	{FIB_FIELD_STACK_SIZE, OFFSET(stack_size)},
	{FIB_FIELD_SPAWN_PC, OFFSET(spawn_pc)},
	{FIB_FIELD_ENTRY, OFFSET(entry)},
	{FIB_FIELD_NAME, OFFSET(name)},
	{FIB_FIELD_READS, OFFSET(reads)},
};
#define DECIDED_REGISTERS \
	3 /* the first of these; other libraries' places for them are in the table of registers */

static int put(void *w, uint64_t address, const void *buf, size_t size)
{
	return ins_core_writer_memory(w, address, buf, size, true);
}

static int write_fiber(struct ins_core_fibers *f, const struct ins_fiber *fiber)
{
	const struct fib_layout *layout = &f->source->layout;
	struct ins_fiber was = *fiber;
	struct fib_row row = fiber->row;
	int64_t since = fiber->now - row.age;
	unsigned char *bytes = calloc(1, layout->record_size);
	size_t i = layout->recipe == FIB_RECIPE_SAVED ? DECIDED_REGISTERS : 0;
	int rc;

	if (!bytes)
		return -ENOMEM;
	/* The other fields, such as the failure's text and the labels, are read now. */
	(void)f->source->memory(f->source, row.record, bytes, layout->record_size);
	if (fiber->flags & INS_FIBER_MOVING)
		row.seq |= 1;
	for (; i < sizeof decided / sizeof decided[0]; i++) {
		if (fib_layout_has(layout, decided[i].id, decided[i].size))
			memcpy(bytes + layout->fields[decided[i].id].offset,
			       (const char *)&row + decided[i].offset, decided[i].size);
	}
	if (fib_layout_has(layout, FIB_FIELD_SINCE, sizeof since))
		memcpy(bytes + layout->fields[FIB_FIELD_SINCE].offset, &since, sizeof since);
	rc = ins_resume_undo(layout, &was, bytes, put, f->w);
	if (rc == 0)
		rc = put(f->w, row.record, bytes, layout->record_size);
	if (rc == 0 && was.stack)
		rc = put(f->w, was.row.sp, was.stack, was.stack_size);
	free(bytes);
	return rc;
}

static struct ins_core_fiber *add(struct ins_core_fibers *f, const struct fib_row *row)
{
	struct ins_core_fiber *one;

	if (f->count == f->room) {
		size_t room = f->room ? f->room * 2 : 256;

		one = realloc(f->at, room * sizeof *one);
		if (!one)
			return NULL;
		f->at = one;
		f->room = room;
	}
	one = &f->at[f->count];
	memset(one, 0, sizeof *one);
	one->id = row->id;
	one->record = row->record;
	one->stack_low = row->stack_low;
	one->stack_size = row->stack_size;
	one->turn = (unsigned)f->count++;
	if (row->name[0])
		snprintf(one->name, sizeof one->name, "%.15s", row->name);
	else
		snprintf(one->name, sizeof one->name, "fiber %" PRIu64, row->id % 1000000000);
	return one;
}

/* Keep the registers of a fiber whose switch has no CFI (resume.h). */
static int keep_others(struct ins_core_fiber *one, const struct ins_fiber *fiber)
{
	if (!fiber->registers.known)
		return 0;
	one->others = malloc(sizeof *one->others);
	if (!one->others)
		return -ENOMEM;
	*one->others = fiber->registers;
	return 0;
}

/* Whether the stack is all zeros: gdb's gcore leaves stacks out and has zeros instead. */
static bool lost(const struct ins_fiber *fiber)
{
	size_t i;

	for (i = 0; i < fiber->stack_size; i++)
		if (fiber->stack[i])
			return false;
	return true;
}

static int take(void *context, const struct ins_fiber *fiber)
{
	struct ins_core_fibers *f = context;
	const struct fib_row *row = &fiber->row;
	struct ins_core_fiber *one = add(f, row);

	if (!one)
		return -ENOMEM;
	if (fib_row_walkable(row) && !(fiber->flags & INS_FIBER_MOVING)) {
		if (keep_others(one, fiber) < 0)
			return -ENOMEM;
		one->own = one->stack = true;
		f->lost += lost(fiber);
		one->sp = row->sp;
		one->fp = row->fp;
		one->pc = row->pc;
	} else if (fib_row_not_started(row)) {
		/* The fiber has no stack: a walk from here ends at once. */
		one->own = true;
		one->pc = row->entry;
	} else if (row->state == FIBER_DEAD) {
		f->ended++;
		one->stack_low = 0; /* another fiber may have it */
	} else {
		one->runs = true;
	}
	return f->live ? write_fiber(f, fiber) : 0;
}

static int by_id(const void *a, const void *b)
{
	const struct ins_core_fiber *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static const struct ins_core_fiber *sorted; /* for one call of qsort */

static int by_stack(const void *a, const void *b)
{
	const struct ins_core_fiber *x = &sorted[*(const size_t *)a],
				    *y = &sorted[*(const size_t *)b];

	if (x->stack_low != y->stack_low)
		return x->stack_low < y->stack_low ? -1 : 1;
	return x->turn < y->turn ? -1 : x->turn > y->turn;
}

int ins_core_fibers_drop(struct ins_core_fibers *f, struct ins_core_fiber *fiber)
{
	const struct fib_layout_field id = f->source->layout.fields[FIB_FIELD_ID];
	static const uint64_t none;

	fiber->own = fiber->runs = false;
	fiber->gone = true;
	return ins_core_writer_memory(f->w, fiber->record + id.offset, &none, sizeof none, true);
}

/*
 * Sort the fibers by id and by stack. Of a live process' fibers with the same stack, drop all but
 * the last.
 */
static int sort(struct ins_core_fibers *f)
{
	size_t i;
	int rc = 0;

	f->by_stack = malloc((f->count + 1) * sizeof *f->by_stack);
	if (!f->by_stack)
		return -ENOMEM;
	qsort(f->at, f->count, sizeof *f->at, by_id);
	for (i = 0; i < f->count; i++)
		f->by_stack[i] = i;
	sorted = f->at;
	qsort(f->by_stack, f->count, sizeof *f->by_stack, by_stack);
	for (i = 1; rc == 0 && f->live && i < f->count; i++) {
		struct ins_core_fiber *was = &f->at[f->by_stack[i - 1]];

		if (was->stack_low && was->stack_low == f->at[f->by_stack[i]].stack_low)
			rc = ins_core_fibers_drop(f, was);
	}
	return rc;
}

int ins_core_fibers_read(struct ins_core_fibers *ret, struct ins_source *source,
			 struct ins_core_writer *w, bool live, struct ins_summary *summary,
			 struct ins_error *error)
{
	const struct ins_request request = {.stacks = true};
	struct ins_error why = {""};
	int rc;

	memset(ret, 0, sizeof *ret);
	ret->source = source;
	ret->w = w;
	ret->live = live;
	rc = ins_source_read(source, &request, take, ret, summary, &why);
	if (rc == 0)
		rc = sort(ret);
	if (rc < 0)
		return ins_error_set(error, rc, "%s", why.text[0] ? why.text : strerror(-rc));
	return 0;
}

struct ins_core_fiber *ins_core_fibers_on(struct ins_core_fibers *f, uint64_t sp)
{
	size_t low = 0, high = f->count;
	struct ins_core_fiber *one;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (f->at[f->by_stack[mid]].stack_low <= sp)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return NULL;
	one = &f->at[f->by_stack[low - 1]];
	return !one->gone && one->stack_low && sp - one->stack_low < one->stack_size ? one : NULL;
}

void ins_core_fibers_number(struct ins_core_fibers *f)
{
	pid_t large = INS_CORE_FIBER_LARGE;
	size_t i;

	f->threads = f->running = 0;
	for (i = 0; i < f->count; i++) {
		struct ins_core_fiber *one = &f->at[i];

		f->running += one->runs;
		one->thread = 0;
		if (!one->own)
			continue;
		if (one->id < INS_CORE_FIBER_LARGE - INS_CORE_FIBER_FIRST)
			one->thread = INS_CORE_FIBER_FIRST + (pid_t)one->id;
		else
			one->thread = large++;
		f->threads++;
	}
}

int ins_core_fibers_name(struct ins_core_fibers *f, const char *name)
{
	struct elf_prpsinfo info = f->info;

	memset(info.pr_fname, 0, sizeof info.pr_fname);
	memcpy(info.pr_fname, name, strnlen(name, sizeof info.pr_fname - 1));
	ins_status_note_swap_process(f->w->machine, &info);
	return ins_core_writer_note(f->w, "CORE", NT_PRPSINFO, &info, sizeof info);
}

int ins_core_fibers_notes(struct ins_core_fibers *f)
{
	const struct ins_registers none = {.machine = f->w->machine.number};
	unsigned char status[INS_STATUS_NOTE_MOST];
	struct ins_registers registers;
	size_t i, size;
	int rc = 0;

	for (i = 0; rc == 0 && i < f->count; i++) {
		const struct ins_core_fiber *one = &f->at[i];

		if (!one->thread)
			continue;
		ins_registers_make(&registers, one->pc, one->sp, one->fp,
				   one->others ? one->others : &none);
		size = ins_status_note_make(f->w->machine, &registers, one->thread, status);
		if (!size)
			return -ENOTSUP;
		rc = ins_core_fibers_name(f, one->name);
		if (rc == 0)
			rc = ins_core_writer_note(f->w, "CORE", NT_PRSTATUS, status, size);
	}
	return rc;
}

void ins_core_fibers_free(struct ins_core_fibers *f)
{
	size_t i;

	for (i = 0; i < f->count; i++)
		free(f->at[i].others);
	free(f->at);
	free(f->by_stack);
	f->at = NULL;
	f->by_stack = NULL;
}
