/* SPDX-License-Identifier: MIT */
/*
 * source_core.c - the fibers in a core file
 *
 * Nothing in a core changes, so all data is consistent, but some of it may be missing. Code is
 * usually not in a core: it comes from the files that the core names, or from the executable that
 * was given. A truncated core lacks the upper part of memory. Each gap is reported, and none is
 * filled.
 */
#include "inspect/source/source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/fiber.h>

#include "inspect/corefile/core.h"
#include "inspect/corefile/core_regions.h"
#include "inspect/corefile/core_running.h"
#include "inspect/corefile/core_status.h"
#include "inspect/corefile/core_thread_at.h"
#include "inspect/model/thread_stack.h"
#include "inspect/source/byte_order.h"
#include "inspect/source/guard.h"
#include "inspect/source/reading.h"
#include "inspect/source/records.h"
#include "inspect/source/registry.h"
#include "inspect/unwind/resume.h"

#define HIGH_WATER_BYTES (UINT64_C(1) << 30)

struct dead {
	struct ins_source source;
	struct ins_core core;
	int64_t clock;
	unsigned char *stack;
	size_t stack_room;
	unsigned char below[INS_RED_ZONE]; /* below sp */
	struct ins_reading reading;
};

static int dead_memory(void *source, uint64_t address, void *buf, size_t size)
{
	return ins_core_read(&((struct dead *)source)->core, address, buf, size);
}

static bool dead_no_code(const struct ins_source *source, uint64_t address)
{
	return ins_core_no_code(&((const struct dead *)source)->core, address);
}

static uint64_t dead_run(struct ins_source *source, uint64_t address, uint64_t size,
			 bool *ret_there)
{
	return ins_core_run(&((struct dead *)source)->core, address, size, ret_there);
}

static uint64_t dead_held(const struct ins_source *source)
{
	return ((const struct dead *)source)->core.file_size;
}

static uint64_t depth(struct ins_source *source, const struct fib_row *row)
{
	struct dead *d = (struct dead *)source;
	uint64_t top = row->stack_low + row->stack_size, lowest;

	if (!row->stack_size || top < row->stack_low || row->stack_size > HIGH_WATER_BYTES)
		return FIB_ROW_UNKNOWN;
	if (!ins_reading_spend(&d->reading.depth_left, row->stack_size))
		return FIB_ROW_UNKNOWN;
	lowest = ins_core_lowest_used(&d->core, row->stack_low, top);
	return lowest == UINT64_MAX ? FIB_ROW_UNKNOWN : top - lowest;
}

/* How many bytes of the stack are above the stack pointer. */
static uint64_t used(const struct ins_fiber *fiber)
{
	if (fiber->flags & INS_FIBER_PAUSED)
		return fiber->row.stack_low + fiber->row.stack_size - fiber->row.sp;
	return fiber->row.stack_used;
}

/*
 * Find the thread that ran a fiber: the thread whose stack pointer is in the fiber's stack; or
 * NULL.
 */
static const struct ins_core_status *find_registers(const struct dead *d, const void *record,
						    struct ins_fiber *fiber)
{
	struct fib_row *row = &fiber->row;
	const struct ins_core_status *t;
	uint64_t guard;

	if (row->state != FIBER_RUNNING || row->stack_low + row->stack_size < row->stack_low)
		return NULL;
	/*
	 * The stack pointer of an overflowed fiber is in the guard below its stack. With another
	 * library that range may be a neighbour's stack.
	 */
	guard = ins_guard_bytes(&d->source.layout, record, row->stack_low);
	t = ins_core_status_on(&d->core, row->stack_low, row->stack_size);
	if (!t)
		t = ins_core_status_on(&d->core, row->stack_low - guard, guard);
	if (!t)
		return NULL;
	fiber->flags |= INS_FIBER_PAUSED;
	ins_registers_give(&t->registers, fiber);
	return t;
}

/*
 * Make room for so many bytes of a stack. False: the limit is reached or there is no memory, and
 * the fiber is marked GONE.
 */
static bool make_room(struct dead *d, struct ins_fiber *fiber, uint64_t want)
{
	/*
	 * Stacks do not overlap, so records that claim more than the file holds are wrong. Copying
	 * them all would take days.
	 */
	if (!ins_reading_spend(&d->reading.stacks_left, want)) {
		d->reading.lacks.overlapping++;
		fiber->flags |= INS_FIBER_GONE;
		return false;
	}
	if (want > d->stack_room) {
		unsigned char *more = realloc(d->stack, want);

		if (!more) {
			fiber->flags |= INS_FIBER_GONE;
			return false;
		}
		d->stack = more;
		d->stack_room = want;
	}
	return true;
}

/*
 * The fiber is in a signal handler that has a stack of its own. Copy that stack, and beside it the
 * fiber's stack from the interrupted stack pointer up.
 */
static void copy_both(struct dead *d, struct ins_fiber *fiber, const struct ins_core_status *t)
{
	const struct fib_row *row = &fiber->row;
	const uint64_t low = t->home > row->stack_low ? t->home : row->stack_low;
	const uint64_t all = row->stack_low + row->stack_size - low, handler = t->own_end - row->sp;
	uint64_t most = all < INS_READING_STACK_MAX ? all : INS_READING_STACK_MAX;

	if (handler > INS_READING_STACK_MAX || !make_room(d, fiber, most + handler))
		return;
	fiber->stack = d->stack;
	fiber->stack_size = ins_core_read_some(&d->core, row->sp, d->stack, handler);
	fiber->aside = low;
	fiber->aside_bytes = d->stack + handler;
	fiber->aside_size = ins_core_read_some(&d->core, low, d->stack + handler, most);
	if (fiber->aside_size < all || fiber->stack_size < handler)
		fiber->flags |= INS_FIBER_CUT;
}

static void copy_stack(struct dead *d, struct ins_fiber *fiber)
{
	const uint64_t all = used(fiber);
	uint64_t below = 0; /* bytes in the guard: these have no contents */
	uint64_t want = all < INS_READING_STACK_MAX ? all : INS_READING_STACK_MAX;
	size_t got;

	if (!make_room(d, fiber, want))
		return;
	if ((fiber->flags & INS_FIBER_PAUSED) && fiber->row.sp < fiber->row.stack_low)
		below = fiber->row.stack_low - fiber->row.sp;
	below = below < want ? below : want;
	memset(d->stack, 0, below);
	got = ins_core_read_some(&d->core, fiber->row.sp + below, d->stack + below, want - below);
	if (!got) {
		fiber->flags |= INS_FIBER_GONE;
		return;
	}
	fiber->stack = d->stack;
	fiber->stack_size = below + got;
	if (fiber->stack_size < all)
		fiber->flags |= INS_FIBER_CUT;
}

/* A leaf function of a running fiber may have its frame below sp. */
static void copy_below(struct dead *d, struct ins_fiber *fiber)
{
	const uint64_t at = fiber->row.sp - sizeof d->below;

	if (ins_core_read(&d->core, at, d->below, sizeof d->below) < 0)
		return;
	fiber->aside = at;
	fiber->aside_bytes = d->below;
	fiber->aside_size = sizeof d->below;
}

static int each_record(void *context, uint64_t address, const void *bytes)
{
	struct dead *d = context;
	const struct fib_layout *layout = &d->source.layout;
	struct ins_fiber fiber = {.now = d->clock, .registers.machine = layout->machine};
	const struct ins_core_status *thread = NULL;
	const bool stacks = d->reading.request->stacks;

	if (!fib_row_decode(layout, bytes, address, d->clock, &fiber.row) ||
	    !ins_reading_wants(&d->reading, &fiber.row))
		return 0;
	if (ins_byte_order_resolve(&d->source, &fiber.row) < 0)
		d->reading.lacks.unresolved++;
	if (stacks)
		thread = find_registers(d, bytes, &fiber);
	if (thread && thread->own_end)
		copy_both(d, &fiber, thread);
	else if (stacks && ((fiber.flags & INS_FIBER_PAUSED) || fib_row_walkable(&fiber.row)))
		copy_stack(d, &fiber);
	if (thread && !thread->own_end)
		copy_below(d, &fiber);
	ins_resume(&d->source, bytes, &fiber);
	ins_reading_complete(&d->reading, &d->source, depth, &fiber);
	return ins_reading_emit(&d->reading, &fiber);
}

static int dead_read(struct ins_source *source, const struct ins_request *request, ins_fiber_fn *fn,
		     void *context, struct ins_summary *ret, struct ins_error *error)
{
	struct dead *d = (struct dead *)source;
	struct ins_error why = {""};
	int rc;

	ins_reading_begin(&d->reading, request, fn, context, ret);
	d->reading.stacks_left = d->core.file_size + INS_READING_STACK_MAX;
	d->reading.depth_left = d->reading.stacks_left;
	rc = ins_records_asked(source, request, each_record, d, &why);
	if (rc == -EFAULT)
		return ins_error_set(error, rc, "%s%s", why.text,
				     d->core.missing ? ": the core is truncated" : "");
	if (rc < 0)
		return ins_error_set(error, rc, "%s", why.text);
	return ins_reading_end(&d->reading, source, true, rc, error);
}

static void dead_close(struct ins_source *source)
{
	struct dead *d = (struct dead *)source;

	ins_modules_free(source->modules);
	ins_problems_free(&source->problems);
	ins_core_close(&d->core);
	free(d->stack);
	free(d);
}

static int dead_thread(struct ins_source *source, uint64_t tid, struct ins_thread_stack *ret)
{
	const struct ins_core_status *t =
		ins_core_thread(&((const struct dead *)source)->core, tid);
	int rc = ins_thread_stack_registers(source, tid, t ? &t->registers : NULL, ret);

	if (rc == 0 && t)
		ret->call = t->call;
	return rc;
}

static int dead_threads(struct ins_source *source, struct ins_thread_ids *ret)
{
	return ins_core_thread_ids(&((struct dead *)source)->core, ret);
}

static int dead_thread_at(struct ins_source *source, uint64_t tid, enum ins_thread_ask ask,
			  struct ins_thread_at *ret)
{
	(void)ask; /* all of it is at hand */
	return ins_core_thread_at(&((struct dead *)source)->core, tid, ret);
}

static int dead_regions(struct ins_source *source, struct ins_regions *ret)
{
	return ins_core_regions(&((struct dead *)source)->core, source->modules, ret);
}

static int dead_running(struct ins_source *source, struct ins_running *ret)
{
	return ins_core_running(source, &((struct dead *)source)->core, ret);
}

static const struct ins_source_ops dead_ops = {
	.read = dead_read,
	.close = dead_close,
	.thread = dead_thread,
	.threads = dead_threads,
	.thread_at = dead_thread_at,
	.regions = dead_regions,
	.running = dead_running,
};

/* The module of the program itself, or NULL. */
static struct ins_module *program(struct dead *d)
{
	struct ins_modules *modules = d->source.modules;
	struct ins_module *m = NULL;

	if (d->core.phdr)
		m = ins_modules_find(modules, d->core.phdr);
	if (!m && d->core.entry)
		m = ins_modules_find(modules, d->core.entry);
	return m;
}

static int open_modules(struct dead *d, const char *core, const char *exe, struct ins_error *error)
{
	struct ins_module *m;
	int rc = ins_modules_new(0, dead_memory, d, &d->source.problems, &d->source.modules);

	if (rc == 0)
		d->source.modules->machine = d->core.machine;
	if (rc == 0)
		rc = ins_core_modules(&d->core, d->source.modules);
	if (rc < 0)
		return ins_error_set(error, rc, "out of memory");
	if (!exe)
		return 0;
	m = program(d);
	if (!m && d->core.phdr) {
		/* The core has neither a list of files nor the program's headers. */
		if (ins_modules_place(d->source.modules, d->core.phdr, exe) < 0)
			return ins_error_set(error, -ENOMEM, "out of memory");
		m = program(d);
	}
	if (!m)
		return ins_error_set(error, -EINVAL,
				     "%s: does not say where its program was: %s cannot be used",
				     core, exe);
	return ins_modules_give(d->source.modules, m, exe, error);
}

static int open_registry(struct dead *d, const char *core, const char *exe, struct ins_error *error)
{
	struct ins_error why;
	uint64_t clock;
	int rc = ins_registry_find(d->source.modules, &d->source.layout, &why);

	if (rc < 0) {
		struct ins_module *m = program(d);
		bool hint = rc == -ENOENT && !exe && m && !m->bytes && !m->image.loaded;

		/* It may have a registry that is missing here. */
		if (rc == -ENOENT && (hint || d->core.missing))
			rc = -ENODATA;
		return ins_error_set(error, rc, "%s: has no fibers to show: %s%s%s", core, why.text,
				     d->core.missing ? " (the core is truncated)" : "",
				     hint ? "; give the executable after the core" : "");
	}
	if (ins_byte_order_word(&d->source, d->source.layout.clock, &clock) == 0) {
		d->clock = (int64_t)clock;
	} else {
		ins_problems_add(&d->source.problems,
				 "the clock is not in the core: how long fibers have waited is not "
				 "known and shown as 0");
	}
	snprintf(d->source.name, sizeof d->source.name, "%s", d->source.layout.program);
	return 0;
}

/* Whether this fiber ran on the thread that received the signal. */
static int is_crashed(void *context, uint64_t address, const void *bytes)
{
	struct dead *d = context;
	struct ins_crash *crash = &d->core.crash;
	struct fib_row row;

	if (!fib_row_decode(&d->source.layout, bytes, address, d->clock, &row) ||
	    row.state != FIBER_RUNNING ||
	    !ins_guard_reaches(&d->source.layout, bytes, &row, crash->sp))
		return 0;
	crash->fiber = row.id;
	memcpy(crash->name, row.name, sizeof crash->name);
	crash->name[sizeof crash->name - 1] = 0;
	return 1;
}

/* Find the fiber that ran when the signal came. */
static void find_crashed(struct dead *d)
{
	struct ins_problems kept = d->source.problems;

	if (!d->core.crash.signal)
		return;
	/* Missing data is reported later, when the fibers are read. */
	memset(&d->source.problems, 0, sizeof d->source.problems);
	ins_records_each(&d->source, is_crashed, d, NULL);
	ins_problems_free(&d->source.problems);
	d->source.problems = kept;
	d->source.crash = &d->core.crash;
}

/* fibers: it must be a core of a program with fibers. */
static int open_core(const char *core, const char *exe, bool fibers, struct ins_error *error,
		     struct ins_source **ret)
{
	struct dead *d = calloc(1, sizeof *d);
	int rc;

	if (!d)
		return ins_error_set(error, -ENOMEM, "out of memory");
	d->source.kind = "core";
	d->source.memory = dead_memory;
	d->source.run = dead_run;
	d->source.held = dead_held;
	d->source.no_code = dead_no_code;
	d->source.ops = &dead_ops;
	d->core.fd = -1;
	rc = ins_core_open(core, error, &d->core);
	if (rc == 0)
		rc = open_modules(d, core, exe, error);
	if (rc == 0 && fibers)
		rc = open_registry(d, core, exe, error);
	if (rc < 0) {
		dead_close(&d->source);
		return rc;
	}
	d->source.pid = d->core.pid;
	d->source.threads = (uint32_t)d->core.threads;
	if (fibers)
		find_crashed(d);
	else if (d->core.crash.signal)
		d->source.crash = &d->core.crash;
	if (d->core.missing)
		ins_problems_add(&d->source.problems,
				 "%s is truncated: %llu bytes of the process' memory are missing",
				 core, (unsigned long long)d->core.missing);
	if (d->core.cut[0])
		ins_problems_add(&d->source.problems, "%s could not be unpacked to its end: %s",
				 core, d->core.cut);
	*ret = &d->source;
	return 0;
}

int ins_source_open_core(const char *core, const char *exe, struct ins_error *error,
			 struct ins_source **ret)
{
	return open_core(core, exe, true, error, ret);
}

int ins_source_open_core_process(const char *core, const char *exe, struct ins_error *error,
				 struct ins_source **ret)
{
	int rc = open_core(core, exe, false, error, ret);

	if (rc == 0)
		snprintf((*ret)->name, sizeof(*ret)->name, "%s",
			 ((struct dead *)*ret)->core.program);
	return rc;
}
