/* SPDX-License-Identifier: MIT */
/*
 * lines.c - a directory of cache lines
 *
 * A line is in one cache, written, or in several caches, clean. A read of a line that another CPU
 * has written moves it, and a write of a line that others have takes it from them. Half of
 * fib_model_line_cost is the way of the request, half that of the line. Its owner uses it until it
 * leaves, and it leaves once in fib_model_line_cost at most. So CPUs queue for a hot line, in the
 * order of their requests. Reads that wait together are served together. A copy of a clean line
 * takes the same time, and copies do not queue.
 *
 * A plain store does not make the CPU wait: it goes into the store buffer, and the line has gone
 * from its owner at once. A locked instruction waits until the buffer is empty, as on x86.
 *
 * Caches are unlimited and lines nobody has used are free.
 */
#include "bench/model/lines.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/model/costs.h"
#include "bench/model/engine.h"

#define LINE   64
#define WORDS  ((FIB_MODEL_CPUS + 63) / 64)
#define ROOM   (UINT32_C(1) << 23) /* lines; memory that is not used is not provided */
#define PLACES (UINT32_C(1) << 14)
#define NONE   (-1)

struct line {
	uintptr_t number; /* 0: empty */
	int64_t free_at;  /* ps: when it may leave again */
	int64_t read_at;  /* ps: when it leaves for readers; 0: for a writer next */
	int owner;	  /* the CPU that has written it, or NONE */
	uint64_t has[WORDS];
};

struct place {
	const void *pc;
	int64_t stalled; /* ps */
	uint64_t count;
};

static struct {
	struct line *all;
	uint32_t used;
	uint64_t moved;
	struct place places[PLACES];
} lines;

int64_t fib_model_line_cost = 100 * NS;

static void begin(void)
{
	lines.all = mmap(NULL, ROOM * sizeof *lines.all, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (lines.all == MAP_FAILED) {
		fprintf(stderr, "model: no memory for cache lines\n");
		exit(2);
	}
}

static uint32_t hash(uintptr_t number)
{
	return (uint32_t)((number * UINT64_C(0x9e3779b97f4a7c15)) >> 41);
}

static struct line *find(uintptr_t number)
{
	uint32_t i = hash(number) & (ROOM - 1);

	while (lines.all[i].number && lines.all[i].number != number)
		i = (i + 1) & (ROOM - 1);
	if (!lines.all[i].number) {
		if (++lines.used > ROOM / 2) {
			fprintf(stderr, "model: more than %u cache lines\n", ROOM / 2);
			exit(2);
		}
		lines.all[i].number = number;
		lines.all[i].owner = NONE;
	}
	return &lines.all[i];
}

static bool has(const struct line *line, unsigned cpu)
{
	return line->has[cpu / 64] >> cpu % 64 & 1;
}

static bool has_none(const struct line *line)
{
	unsigned i;

	for (i = 0; i < WORDS; i++)
		if (line->has[i])
			return false;
	return true;
}

static void give(struct line *line, unsigned cpu)
{
	line->has[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

static void give_alone(struct line *line, unsigned cpu)
{
	unsigned i;

	for (i = 0; i < WORDS; i++)
		line->has[i] = 0;
	give(line, cpu);
	line->owner = (int)cpu;
}

static bool has_alone(const struct line *line, unsigned cpu)
{
	unsigned i;

	for (i = 0; i < WORDS; i++)
		if (line->has[i] != (i == cpu / 64 ? UINT64_C(1) << cpu % 64 : 0))
			return false;
	return true;
}

static void note_stall(const void *pc, int64_t ps)
{
	uint32_t i = hash((uintptr_t)pc) & (PLACES - 1);

	fib_cpu->stalled += ps;
	while (lines.places[i].pc && lines.places[i].pc != pc)
		i = (i + 1) & (PLACES - 1);
	lines.places[i].pc = pc;
	lines.places[i].stalled += ps;
	lines.places[i].count++;
}

/* The running CPU has the line from now on. */
static void take(struct line *line, bool writes)
{
	lines.moved++;
	if (writes) {
		give_alone(line, fib_cpu->index);
	} else {
		line->owner = NONE;
		give(line, fib_cpu->index);
	}
}

/*
 * A request has arrived at `at` (ps). Returns when the line leaves for the one who asked. Reads between
 * two writes are served together.
 */
static int64_t reserve(struct line *line, int64_t at, bool writes)
{
	int64_t begin;

	if (!writes && (line->read_at || line->owner == NONE))
		return at < line->read_at ? line->read_at : at;
	begin = at < line->free_at ? line->free_at : at;
	line->free_at = begin + fib_model_line_cost;
	line->read_at = writes ? 0 : begin;
	return begin;
}

static bool hits(struct line *line, bool writes)
{
	const unsigned me = fib_cpu->index;

	if (line->owner == (int)me || (!writes && has(line, me)))
		return true;
	if (!has_none(line) && !(writes && has_alone(line, me)))
		return false;
	if (writes)
		give_alone(line, me);
	else
		give(line, me);
	return true;
}

static void wait_until(int64_t at, const void *pc)
{
	if (at <= fib_cpu->now)
		return;
	note_stall(pc, at - fib_cpu->now);
	fib_cpu->now = at;
	fib_engine_sync();
}

/* Ask for the line and wait for it. Until it leaves, its present owner uses it. */
static void fetch(struct line *line, bool writes, const void *pc)
{
	const int64_t way = fib_model_line_cost / 2;

	wait_until(fib_cpu->now + way, pc);
	wait_until(reserve(line, fib_cpu->now, writes), pc);
	take(line, writes);
	wait_until(fib_cpu->now + way, pc);
}

/* The store buffer asks for the line. */
static void fetch_later(struct line *line)
{
	const int64_t way = fib_model_line_cost / 2,
		      end = reserve(line, fib_cpu->now + way, true) + way;

	take(line, true);
	if (fib_cpu->stored < end)
		fib_cpu->stored = end;
}

static void touch(uintptr_t number, enum fib_line_use use, const void *pc)
{
	const bool writes = use != FIB_LINE_READ;
	struct line *line = find(number);

	if (!hits(line, writes)) {
		/* CPUs that are behind ask for the line first. They may take it. */
		fib_engine_sync();
		if (!hits(line, writes)) {
			if (use == FIB_LINE_WRITE)
				fetch_later(line);
			else
				fetch(line, writes, pc);
		}
	}
	if (use == FIB_LINE_LOCKED)
		wait_until(fib_cpu->stored, pc);
	else if (use == FIB_LINE_WRITE)
		wait_until(fib_cpu->stored - COST_STORES, pc);
}

void fib_lines_touch(const void *at, size_t size, enum fib_line_use use, const void *pc)
{
	const uintptr_t first = (uintptr_t)at / LINE, last = ((uintptr_t)at + size - 1) / LINE;
	uintptr_t number;

	if (!fib_cpu || !size)
		return;
	if (!lines.all)
		begin();
	for (number = first; number <= last; number++)
		touch(number, use, pc);
	fib_engine_pass(COST_ACCESS * (int64_t)(last - first + 1) +
			(use == FIB_LINE_LOCKED ? COST_LOCKED : 0));
}

void fib_lines_fence(void)
{
	if (!fib_cpu)
		return;
	wait_until(fib_cpu->stored, __builtin_return_address(0));
	fib_engine_pass(COST_LOCKED);
}

uint64_t fib_lines_moved(void)
{
	return lines.moved;
}

void fib_lines_forget(void)
{
	memset(lines.places, 0, sizeof lines.places);
}

void fib_lines_report(unsigned n)
{
	struct place *worst;
	uint32_t i;

	for (; n; n--) {
		worst = &lines.places[0];
		for (i = 1; i < PLACES; i++)
			if (lines.places[i].stalled > worst->stalled)
				worst = &lines.places[i];
		if (!worst->stalled)
			return;
		printf("at %p %.0f %llu\n", worst->pc, (double)worst->stalled / NS,
		       (unsigned long long)worst->count);
		worst->stalled = 0;
	}
}
