/* SPDX-License-Identifier: MIT */
/*
 * shown.c - the registry of this library, read by fibertrace and debuggers
 *
 * Each stack has a record as fiber_layout.h describes it: what it runs, since when, and where it is
 * suspended. A switch writes a few fields of two records, and reads the coarse clock of the system,
 * which costs a few nanoseconds and no system call. So the records are always there, as those of
 * libfiber's own fibers.
 *
 * fiber_layout_enter() and fiber_layout_leave() are for one thread. Here any number of threads switch
 * at the same time, so the clock of the registry, which all write, is written atomically, and a lock
 * protects the free records. A record itself has one writer: the thread that runs its stack.
 *
 * `committed` grows with the records in use, so that a reader does not read 65,536 of them for three
 * fibers.
 */
#include "shown.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#define GROWTH 64u /* records that become readable at a time */

FIBER_LAYOUT_DEFINE(fib_win32_layout);

static struct fiber_layout_record records[FIB_WIN32_SHOWN_MOST];

static struct {
	pthread_mutex_t lock;
	bool started;			  /* L */
	uint32_t used;			  /* L: records that were ever taken */
	struct fiber_layout_record *free; /* L: linked through `context` */
} shown = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The clock of the registry is written by every thread. Readers use it for ages in a core, so a value
 * that is a tick too old does no harm. */
int64_t fib_win32_shown_now(void)
{
	struct timespec t;
	int64_t now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	now = t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
	__atomic_store_n(&fib_win32_layout.clock, now, __ATOMIC_RELAXED);
	return now;
}

/* Called with the lock, once. Where libfiber's code is becomes known with the first saved frame. */
static void start(void)
{
	fiber_layout_describe(&fib_win32_layout, records, FIB_WIN32_SHOWN_MOST,
			      program_invocation_short_name, "win32");
	fib_win32_layout.layout.recipe = FIB_RECIPE_CFI;
	fib_win32_layout.layout.committed = 0;
	fiber_layout_publish(&fib_win32_layout);
	shown.started = true;
}

/* Called with the lock. */
static struct fiber_layout_record *take(void)
{
	struct fiber_layout_record *record = shown.free;

	if (record) {
		shown.free = (struct fiber_layout_record *)(uintptr_t)record->context;
		return record;
	}
	if (shown.used == FIB_WIN32_SHOWN_MOST)
		return NULL;
	if (shown.used == fib_win32_layout.layout.committed)
		__atomic_store_n(&fib_win32_layout.layout.committed, shown.used + GROWTH,
				 __ATOMIC_RELEASE);
	return &records[shown.used++];
}

struct fiber_layout_record *fib_win32_show(const char *name, uint64_t parent, uint64_t entry)
{
	struct fiber_layout_record *record;
	uint64_t id = 0;

	pthread_mutex_lock(&shown.lock);
	if (!shown.started)
		start();
	record = take();
	if (record)
		id = ++fib_win32_layout.ids;
	pthread_mutex_unlock(&shown.lock);
	if (!record)
		return NULL;
	*record = (struct fiber_layout_record){.seq = record->seq,
					       .since = fib_win32_shown_now(),
					       .deadline = INT64_MAX,
					       .parent = parent,
					       .entry = entry};
	strncpy(record->name, name, sizeof record->name - 1);
	/* A reader that sees the id sees the other fields. */
	__atomic_store_n(&record->id, id, __ATOMIC_RELEASE);
	return record;
}

void fib_win32_show_running(struct fiber_layout_record *record, const void *low, size_t size,
			    int64_t time)
{
	if (!record)
		return;
	__atomic_store_n(&record->seq, record->seq + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE); /* seq is odd before any other field changes */
	record->since = time;
	record->state = 2;
	record->wait_kind = FIB_WAIT_NONE;
	record->stack_low = (uint64_t)(uintptr_t)low;
	record->stack_size = size;
}

/* With a port whose stacks cannot be walked the registry says so. */
static void describe_code(const struct fiber_saved_frame *frame, bool walkable)
{
	const uint32_t recipe = walkable ? FIB_RECIPE_CFI : FIB_RECIPE_NONE;
	struct fib_layout *l = &fib_win32_layout.layout;

	if (__atomic_load_n(&l->code[1].low, __ATOMIC_RELAXED) == frame->code_low &&
	    __atomic_load_n(&l->recipe, __ATOMIC_RELAXED) == recipe)
		return;
	pthread_mutex_lock(&shown.lock);
	__atomic_store_n(&l->recipe, recipe, __ATOMIC_RELAXED);
	__atomic_store_n(&l->code[1].high, frame->code_high, __ATOMIC_RELAXED);
	__atomic_store_n(&l->code[1].low, frame->code_low, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&shown.lock);
}

void fib_win32_show_left(struct fiber_layout_record *record, const struct fiber_context *context,
			 int64_t time)
{
	struct fiber_saved_frame frame = {0};
	bool walkable;

	if (!record)
		return;
	walkable = fiber_context_frame(context, &frame) == 0;
	describe_code(&frame, walkable);
	record->cpu += (uint64_t)(time - record->since);
	record->since = time;
	record->sp = frame.sp;
	record->pc = frame.pc;
	/* Only a fiber of the program can continue it: nothing that the tools know wakes it. */
	record->wait_kind = FIB_WAIT_PARK;
	record->state = 3;
	/* Even: record and stack do not change. */
	__atomic_store_n(&record->seq, record->seq + 1, __ATOMIC_RELEASE);
}

void fib_win32_hide(struct fiber_layout_record *record)
{
	if (!record)
		return;
	fiber_layout_give(record);
	pthread_mutex_lock(&shown.lock);
	record->context = (uint64_t)(uintptr_t)shown.free;
	shown.free = record;
	pthread_mutex_unlock(&shown.lock);
}

const struct fib_layout *fib_win32_registry(void)
{
	return &fib_win32_layout.layout;
}
