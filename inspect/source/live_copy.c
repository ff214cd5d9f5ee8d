/* SPDX-License-Identifier: MIT */
/*
 * live_copy.c - copy one fiber of a live process
 *
 * Fibers run while they are read. A record's seq is odd while its fiber runs, and it changes at
 * every switch. One call copies, in this order: seq, the record, the stack, then seq, id and the
 * start of the wait again. The copy is consistent when all three seqs, both ids and both starts are
 * equal. The id is needed because a reused record counts its seq from 0 again and may reach the
 * same value.
 *
 * A fiber that moved or that runs is copied again a few times: most soon hold still. A fiber that
 * never holds still is reported as running and never guessed.
 *
 * The stack bounds in a record may be wrong. Stacks of valid fibers do not overlap, so all long
 * stacks together have no more pages than the process. Stacks that claim more are not copied. Of a
 * long stack only the pages that exist are copied; the rest is zeros.
 */
#include "inspect/source/live.h"

#include <string.h>
#include <sys/mman.h>

#include <fiber/fiber.h>

#include "inspect/text/duration.h"
#include "inspect/unwind/resume.h"

#define PAGE	     4096u
#define LOOKS_MAX    8
#define STOPS_MAX    4			  /* attempts to stop the thread that runs a fiber */
#define STACK_SMALL  (64u << 10)	  /* copied without checking which pages exist */
#define STACKS_MORE  (UINT64_C(64) << 20) /* margin: the process' memory is not counted exactly */
#define STACK_PIECES (INS_MEMORY_PIECES - 5)

int ins_live_memory(void *source, uint64_t address, void *buf, size_t size)
{
	struct ins_live *l = source;
	struct ins_memory_piece piece = {address, buf, size};

	return ins_memory_read(&l->memory, &piece, 1);
}

/* Drop the stack and everything else that was copied. */
static void forget(struct ins_fiber *fiber, unsigned flags)
{
	fiber->flags = flags;
	fiber->registers.known = 0;
	fiber->stack = NULL;
	fiber->stack_size = fiber->aside_size = 0;
}

/* The buffer is mapped, not from the heap, so that long runs of zeros in it take no memory. */
static bool make_room(struct ins_live *l, size_t size)
{
	unsigned char *more;

	if (size <= l->stack_room)
		return true;
	size = (size + PAGE - 1) & ~(size_t)(PAGE - 1);
	more = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (more == MAP_FAILED)
		return false;
	ins_live_free_stack(l);
	l->stack = more;
	l->stack_room = size;
	return true;
}

void ins_live_free_stack(struct ins_live *l)
{
	if (l->stack)
		munmap(l->stack, l->stack_room);
	l->stack = NULL;
	l->stack_room = 0;
}

/*
 * Zero a part of l->stack. Whole pages are given back to the system: they read as zeros, and the
 * cost does not depend on their number.
 */
static void put_zeros(unsigned char *at, size_t size)
{
	unsigned char *end = at + size;
	unsigned char *first = at + (-(uintptr_t)at & (PAGE - 1));
	unsigned char *last = end - ((uintptr_t)end & (PAGE - 1));

	if (last <= first || madvise(first, (size_t)(last - first), MADV_DONTNEED) < 0) {
		memset(at, 0, size);
		return;
	}
	memset(at, 0, (size_t)(first - at));
	memset(last, 0, (size_t)(end - last));
}

/*
 * Split a stack of size bytes at address into pieces to read into l->stack. Pages that never
 * existed become zeros. *ret_bytes: how many bytes the pieces read. If there are too many pieces,
 * the last one covers the rest.
 */
static unsigned stack_pieces(struct ins_live *l, uint64_t address, size_t size,
			     struct ins_memory_piece *piece, uint64_t *ret_bytes)
{
	unsigned n = 0;
	size_t done = 0;

	*ret_bytes = 0;
	while (done < size) {
		bool there = true;
		uint64_t run = size;

		if (size > STACK_SMALL)
			run = ins_present_run(l->present, address + done, size - done, &there);
		if (!run || n == STACK_PIECES - 1) {
			there = true;
			run = size - done;
		}
		if (there) {
			piece[n++] =
				(struct ins_memory_piece){address + done, l->stack + done, run};
			*ret_bytes += run;
		} else {
			put_zeros(l->stack + done, run);
		}
		done += run;
	}
	return n;
}

enum look { LOOK_GOOD, LOOK_MOVED, LOOK_UNREADABLE };

/* Copy once what row described a moment ago; the fresh record is left in l->record. */
static enum look look_once(struct ins_live *l, const struct fib_row *row,
			   const struct ins_memory_piece *stack, unsigned pieces)
{
	const struct fib_layout *layout = &l->source.layout;
	uint64_t seq_at = row->record + layout->fields[FIB_FIELD_SEQ].offset;
	uint64_t id_at = row->record + layout->fields[FIB_FIELD_ID].offset;
	uint64_t since_at = row->record + layout->fields[FIB_FIELD_SINCE].offset;
	uint64_t before = 0, after = 0, inside, id, id_after = 0, since, since_after = 0;
	struct ins_memory_piece piece[INS_MEMORY_PIECES];
	unsigned n = 0;

	piece[n++] = (struct ins_memory_piece){seq_at, &before, sizeof before};
	piece[n++] = (struct ins_memory_piece){row->record, l->record, layout->record_size};
	if (pieces)
		memcpy(&piece[n], stack, pieces * sizeof *stack);
	n += pieces;
	piece[n++] = (struct ins_memory_piece){seq_at, &after, sizeof after};
	piece[n++] = (struct ins_memory_piece){id_at, &id_after, sizeof id_after};
	piece[n++] = (struct ins_memory_piece){since_at, &since_after, sizeof since_after};
	if (ins_memory_read(&l->memory, piece, n) < 0)
		return LOOK_UNREADABLE;
	memcpy(&inside, l->record + layout->fields[FIB_FIELD_SEQ].offset, sizeof inside);
	memcpy(&id, l->record + layout->fields[FIB_FIELD_ID].offset, sizeof id);
	memcpy(&since, l->record + layout->fields[FIB_FIELD_SINCE].offset, sizeof since);
	return before == inside && inside == after && id == id_after && since == since_after
		       ? LOOK_GOOD
		       : LOOK_MOVED;
}

/* Whether the fiber has not moved since row was read. */
static bool still(struct ins_live *l, const struct fib_row *row)
{
	const struct fib_layout_field *fields = l->source.layout.fields;
	uint64_t seq = 0, id = 0;
	const struct ins_memory_piece piece[2] = {
		{row->record + fields[FIB_FIELD_SEQ].offset, &seq, sizeof seq},
		{row->record + fields[FIB_FIELD_ID].offset, &id, sizeof id},
	};

	return ins_memory_read(&l->memory, piece, 2) == 0 && seq == row->seq && id == row->id;
}

/* How many bytes of the stack to copy, and in which pieces; 0: none. */
static size_t plan_stack(struct ins_live *l, struct ins_fiber *fiber, const struct fib_row *row,
			 struct ins_memory_piece *piece, unsigned *ret_pieces)
{
	size_t size =
		row->stack_used < INS_READING_STACK_MAX ? row->stack_used : INS_READING_STACK_MAX;
	uint64_t bytes = UINT64_MAX;

	*ret_pieces = 0;
	if (!make_room(l, size))
		return 0;
	if (size <= STACK_SMALL || l->reading.stacks_left)
		*ret_pieces = stack_pieces(l, row->sp, size, piece, &bytes);
	if (size <= STACK_SMALL)
		return size;
	/* A waiting fiber has saved its registers at its stack pointer. */
	if (*ret_pieces && bytes <= l->reading.stacks_left && piece[0].address == row->sp) {
		l->reading.stacks_left -= bytes;
		return size;
	}
	if (bytes > l->reading.stacks_left) {
		l->reading.stacks_left = 0;
		l->reading.lacks.overlapping++;
	}
	*ret_pieces = 0;
	fiber->flags = INS_FIBER_GONE;
	return 0;
}

/*
 * Copy one fiber that row described a moment ago. True: the copy is consistent, or the fiber no
 * longer exists.
 */
static bool copy_fiber(struct ins_live *l, struct ins_fiber *fiber, bool *ret_ended)
{
	const struct fib_layout *layout = &l->source.layout;
	struct fib_row *row = &fiber->row, was = *row;
	bool walkable = fib_row_walkable(&was);
	struct ins_memory_piece piece[STACK_PIECES];
	unsigned pieces = 0;
	size_t size = 0;
	enum look look;

	forget(fiber, 0);
	if (l->reading.request->stacks && walkable)
		size = plan_stack(l, fiber, &was, piece, &pieces);
	look = look_once(l, &was, piece, pieces);
	if (look == LOOK_UNREADABLE && size) {
		size = 0;
		fiber->flags = INS_FIBER_GONE;
		look = look_once(l, &was, NULL, 0);
	}
	if (look == LOOK_UNREADABLE) {
		/* Records are never unmapped, so the process has ended. */
		l->reading.lacks.vanished++;
		l->reading.summary->total++;
		*ret_ended = true;
		return true;
	}
	fiber->now = ins_duration_now();
	*ret_ended = !fib_row_decode(layout, l->record, was.record, fiber->now, row);
	if (*ret_ended)
		return true;
	if (look == LOOK_MOVED || row->id != was.id || row->sp != was.sp ||
	    row->stack_low != was.stack_low || row->stack_size != was.stack_size ||
	    fib_row_walkable(row) != walkable)
		return false;
	if (size) {
		fiber->stack = l->stack;
		fiber->stack_size = size;
		if (size < row->stack_used)
			fiber->flags |= INS_FIBER_CUT;
		ins_resume(&l->source, l->record, fiber);
	}
	if (l->reading.request->bare)
		return true;
	if (fib_row_has_object(row) && fib_row_resolve(layout, row, ins_live_memory, l) < 0)
		l->reading.lacks.unresolved++;
	/* What was read beside the copy is consistent with it too. */
	return (!fib_row_has_object(row) && layout->recipe != FIB_RECIPE_SAVED) || still(l, row);
}

/* The fiber ran at every attempt. */
static void call_moving(struct ins_fiber *fiber)
{
	forget(fiber, INS_FIBER_MOVING);
	fiber->row.state = FIBER_RUNNING;
	fiber->row.wait_kind = FIB_WAIT_NONE;
	fiber->row.wait_object = fiber->row.polled = 0;
	fiber->row.holder = fiber->row.readers = 0;
	fiber->row.toucher = 0;
	fiber->row.stack_used = 0;
}

/* Whether the fiber runs and its thread should be stopped for a copy of the stack. */
static bool to_be_stopped(const struct ins_live *l, const struct ins_fiber *fiber)
{
	return l->runners && l->reading.request->stacks && fiber->row.state == FIBER_RUNNING;
}

/*
 * Copy a running fiber: most soon hold still. True: the copy is consistent, or the fiber no longer
 * exists.
 */
static bool copy_running(struct ins_live *l, struct ins_fiber *fiber, bool *ret_ended)
{
	enum ins_runner_end end;
	bool good = true;
	unsigned stops;

	for (stops = 0; stops < STOPS_MAX && !*ret_ended; stops++) {
		if (good && !to_be_stopped(l, fiber))
			break;
		end = good ? ins_runners_take(l->runners, fiber) : INS_RUNNER_MOVED;
		if (end == INS_RUNNER_TAKEN && !l->reading.request->bare)
			fib_row_resolve(&l->source.layout, &fiber->row, ins_live_memory, l);
		if (end != INS_RUNNER_MOVED)
			return true;
		good = copy_fiber(l, fiber, ret_ended);
	}
	return good;
}

void ins_live_limit(struct ins_live *l)
{
	const uint64_t held = ins_present_held(l->source.pid);
	const uint64_t mapped = ins_present_mapped(l->source.pid);

	ins_present_renew(l->present);
	/* A fiber that moves is copied more than once, hence a multiple. */
	l->reading.stacks_left = held < UINT64_MAX / 8 ? 4 * held + STACKS_MORE : UINT64_MAX;
	l->reading.depth_left = mapped < UINT64_MAX / 2 ? 2 * mapped : mapped;
}

bool ins_live_copy(struct ins_live *l, struct ins_fiber *fiber)
{
	bool ended = false, good = false;
	unsigned looks;

	for (looks = 0; (!good || to_be_stopped(l, fiber)) && !ended && looks < LOOKS_MAX; looks++)
		good = copy_fiber(l, fiber, &ended);
	if (!ended && to_be_stopped(l, fiber))
		good = copy_running(l, fiber, &ended);
	if (!ended && !good)
		call_moving(fiber);
	return !ended;
}
