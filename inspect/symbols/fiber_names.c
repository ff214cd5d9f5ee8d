/* SPDX-License-Identifier: MIT */
/*
 * fiber_names.c - show fibers without a name by their function, and where a fiber is
 *
 * Every command reads its fibers through the source, so the names are set there. Symbols are
 * created with the first fiber that needs them, because a program sends its modules before its
 * fibers. Answers of the symbols are cached by address.
 */
#include "inspect/symbols/fiber_names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/model/running.h"
#include "inspect/symbols/program_frame.h"
#include "inspect/symbols/symbolize.h"
#include "inspect/unwind/unwind.h"

struct names {
	struct ins_namer namer; /* first */
	struct ins_symbols *symbols;
	struct ins_unwinder *unwinder; /* NULL until a place is wanted */
	struct ins_walk walk;
};

/* The length of a demangled function's name without its parameters. */
static size_t bare(const char *function)
{
	const char *end = strrchr(function, ')');
	int depth = 0;

	if (!end)
		return strlen(function);
	for (; end >= function; end--) {
		depth += (*end == ')') - (*end == '(');
		if (!depth)
			break;
	}
	return end > function ? (size_t)(end - function) : strlen(function);
}

const char *ins_fiber_name_of(const char *function, char *buf, size_t size)
{
	const size_t n = bare(function), room = size - sizeof "()";

	if (n <= room)
		snprintf(buf, size, "%.*s()", (int)n, function);
	else
		snprintf(buf, size, "%.*s..()", (int)(room - 2), function);
	return buf;
}

static void name(struct ins_namer *namer, struct ins_source *source, struct ins_fiber *fiber)
{
	struct names *names = (struct names *)namer;
	const struct ins_frame *f;
	size_t count;

	if (!fiber->row.entry ||
	    (!names->symbols && ins_symbols_new(source->modules, &names->symbols) < 0))
		return;
	f = ins_symbols_at(names->symbols, fiber->row.entry, false, &count);
	/* A function may start with an inlined one. */
	f += count - 1;
	if (f->function)
		ins_fiber_name_of(f->function, fiber->row.name, sizeof fiber->row.name);
	else if (ins_frame_module(f))
		snprintf(fiber->row.name, sizeof fiber->row.name, "%.15s+0x%" PRIx64,
			 ins_frame_module(f), f->offset);
	else
		return;
	fiber->flags |= INS_FIBER_NAMED;
}

/* walked: the fiber with a stack. */
static void find_place(struct names *names, struct ins_source *source,
		       const struct ins_fiber *walked, struct ins_fiber *fiber)
{
	unsigned i;

	if ((!names->symbols && ins_symbols_new(source->modules, &names->symbols) < 0) ||
	    (!names->unwinder && ins_unwinder_new(source, &names->unwinder) < 0))
		return;
	/* A walk that is not whole is no problem of a command that shows no stacks. */
	if (!ins_unwind_whole(names->unwinder, walked, &names->walk))
		return;
	i = ins_program_frame(names->symbols, &names->walk);
	fiber->place = names->walk.pc[i] - ins_walk_returned(&names->walk, i);
}

static void place(struct ins_namer *namer, struct ins_source *source, struct ins_fiber *fiber)
{
	struct names *names = (struct names *)namer;
	struct ins_running running;

	if (fib_row_walkable(&fiber->row) && fiber->stack)
		find_place(names, source, fiber, fiber);
	if (fiber->stack || ins_running_read(source, fiber, &running) < 0)
		return;
	if (running.fiber.stack)
		find_place(names, source, &running.fiber, fiber);
	ins_running_free(&running);
}

static void drop(struct ins_namer *namer)
{
	struct names *names = (struct names *)namer;

	ins_unwinder_free(names->unwinder);
	ins_symbols_free(names->symbols);
	free(names);
}

int ins_fiber_names_begin(struct ins_source *source)
{
	struct names *names = calloc(1, sizeof *names);

	if (!names)
		return -ENOMEM;
	names->namer = (struct ins_namer){.name = name, .place = place, .free = drop};
	source->namer = &names->namer;
	return 0;
}
