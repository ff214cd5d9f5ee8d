/* SPDX-License-Identifier: MIT */
/*
 * source_mixed.c - make a source emit, beside its fibers, the threads of the graph of waits
 *
 * A fiber may wait for a lock that a plain thread holds, and a thread for what a fiber holds. Only
 * threads that matter for that are emitted: those that wait for a lock whose holder is known, and
 * those that hold what is waited for. A program without such waits has the same rows as before.
 *
 * A carrier is a thread too. If it sleeps inside a fiber, one of the two rows waits for the other:
 * - A pinned fiber that waits keeps its carrier. The carrier's row waits for that fiber.
 * - A fiber that sleeps in the C library has no wait in its record. It waits for its carrier, whose
 *   row has the wait.
 * Both waits are of the kind "pinned". The stack pointer of a sleeping carrier is in the stack of the
 * fiber that it runs: so the two are found.
 *
 * A mutex of the C library records its owner thread, not a fiber. POSIX lets only that thread
 * release it. So its holder is the carrier, whichever of the fibers that ran there took it.
 */
#include "inspect/threads/threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/fiber.h>

#include "inspect/threads/thread_rows.h"

/* A thread and the fiber that it runs. */
struct pair {
	uint64_t thread, fiber;
	bool fiber_waits; /* the fiber is pinned and waits; else the thread has the wait */
	bool slept;	  /* the thread, during the whole reading */
};

/* The first member is what the source uses, so the rest is found by it. */
struct mixed {
	struct ins_source_ops ops;
	const struct ins_source_ops *base; /* of the source itself */
	struct ins_thread_rows *rows;
	struct ins_fiber *threads; /* of the last reading, by number, without stacks */
	bool *wanted;		   /* for each of them */
	size_t count;
	struct pair *pairs; /* as many as threads */
	size_t pair_count;
	/* of the read in progress */
	ins_fiber_fn *fn;
	void *context;
};

static struct mixed *mixed_of(const struct ins_source *source)
{
	return (struct mixed *)source->ops;
}

static void forget(struct mixed *m)
{
	free(m->threads);
	free(m->wanted);
	free(m->pairs);
	m->threads = NULL;
	m->wanted = NULL;
	m->pairs = NULL;
	m->count = m->pair_count = 0;
}

static int keep(void *context, const struct ins_fiber *thread)
{
	struct mixed *m = context;

	m->threads[m->count] = *thread;
	/* Only a snapshot knows an age. */
	if (thread->row.age)
		m->threads[m->count].flags |= INS_FIBER_SLEPT;
	m->count++;
	return 0;
}

/* Read all threads. 0, or a negative errno with error set. */
static int read_threads(struct mixed *m, struct ins_error *error)
{
	static const struct ins_request request;
	int rc = ins_thread_rows_begin(m->rows, &request, error);
	const size_t n = ins_thread_rows_count(m->rows);
	size_t i;
	bool there;

	forget(m);
	m->threads = calloc(n + 1, sizeof *m->threads);
	m->wanted = calloc(n + 1, sizeof *m->wanted);
	m->pairs = calloc(n + 1, sizeof *m->pairs);
	if (!m->threads || !m->wanted || !m->pairs)
		rc = ins_error_set(error, -ENOMEM, "out of memory");
	for (i = 0; rc == 0 && i < n; i++)
		rc = ins_thread_rows_look(m->rows, ins_thread_rows_tid(m->rows, i), keep, m,
					  &there);
	ins_thread_rows_end(m->rows);
	return rc;
}

static int by_id(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = ((const struct ins_fiber *)b)->row.id;

	return x < y ? -1 : x > y;
}

static struct ins_fiber *thread_of(const struct mixed *m, uint64_t id)
{
	if (!m->count || !(id & FIB_HOLDER_THREAD))
		return NULL;
	return bsearch(&id, m->threads, m->count, sizeof *m->threads, by_id);
}

static void want(struct mixed *m, uint64_t id)
{
	const struct ins_fiber *thread = thread_of(m, id);

	if (thread)
		m->wanted[thread - m->threads] = true;
}

/* The thread that sleeps on the fiber's stack. */
static struct ins_fiber *sleeper_on(const struct mixed *m, const struct fib_row *row)
{
	size_t i;

	for (i = 0; i < m->count; i++)
		if (m->threads[i].row.sp - row->stack_low < row->stack_size)
			return &m->threads[i];
	return NULL;
}

/* Whether it is known which fiber or thread ends the wait. A fiber on it can then be in a cycle. */
static bool waits_for_one(const struct fib_row *row)
{
	return row->wait_kind != FIB_WAIT_NONE &&
	       (row->holder ||
		(row->wait_kind == FIB_WAIT_JOIN && row->wait_arg != FIB_ROW_UNKNOWN));
}

static void hold_up(struct fib_row *row, uint64_t by)
{
	row->wait_kind = FIB_WAIT_PINNED;
	row->wait_object = 0;
	row->object_name[0] = 0;
	row->wait_arg = 0;
	row->holder = by;
	row->deadline = INT64_MAX;
}

/* Find the pair of a fiber that is on a carrier. */
static void find_pair(struct mixed *m, const struct fib_row *row)
{
	struct ins_fiber *thread = sleeper_on(m, row);
	const bool waits = row->wait_kind != FIB_WAIT_NONE;

	if (!thread || (!waits && !waits_for_one(&thread->row)))
		return;
	if (waits)
		hold_up(&thread->row, row->id);
	m->pairs[m->pair_count++] =
		(struct pair){thread->row.id, row->id, waits, thread->flags & INS_FIBER_SLEPT};
}

static const struct pair *pair_of_fiber(const struct mixed *m, uint64_t id)
{
	size_t i;

	for (i = 0; i < m->pair_count; i++)
		if (m->pairs[i].fiber == id)
			return &m->pairs[i];
	return NULL;
}

/* Complete the row of a fiber by what is known of its carrier. */
static int pass_fiber(void *context, const struct ins_fiber *fiber)
{
	struct mixed *m = context;
	struct ins_fiber changed = *fiber;
	const struct pair *pair;

	if (fiber->row.carrier == FIB_ROW_CARRIER_NONE)
		return m->fn(m->context, fiber);
	pair = pair_of_fiber(m, fiber->row.id);
	if (pair && !pair->fiber_waits && fiber->row.wait_kind == FIB_WAIT_NONE)
		hold_up(&changed.row, pair->thread);
	if (pair && pair->slept)
		changed.flags |= INS_FIBER_SLEPT;
	return m->fn(m->context, &changed);
}

static int take_fiber(void *context, const struct ins_fiber *fiber)
{
	struct mixed *m = context;

	if (fiber->row.carrier != FIB_ROW_CARRIER_NONE && m->pair_count < m->count)
		find_pair(m, &fiber->row);
	if (fiber->row.wait_kind != FIB_WAIT_NONE)
		want(m, fiber->row.holder);
	return pass_fiber(m, fiber);
}

static bool for_a_lock(const struct fib_row *row)
{
	switch (row->wait_kind) {
	case FIB_WAIT_MUTEX:
	case FIB_WAIT_RWLOCK_READ:
	case FIB_WAIT_RWLOCK_WRITE:
	case FIB_WAIT_ONCE:
		/* The holders of a rwlock that is read are known to the graph. */
		return row->holder || row->readers;
	default:
		return false;
	}
}

/* Emit the threads that matter. A holder may be found only after the one that waits for it. */
static int emit_threads(struct mixed *m)
{
	bool more = true;
	size_t i;
	int rc = 0;

	for (i = 0; i < m->pair_count; i++)
		if (!m->pairs[i].fiber_waits)
			want(m, m->pairs[i].thread);
	for (i = 0; i < m->count; i++)
		m->wanted[i] = m->wanted[i] || for_a_lock(&m->threads[i].row);
	while (more) {
		more = false;
		for (i = 0; i < m->count; i++) {
			const struct fib_row *row = &m->threads[i].row;
			const uint64_t next =
				row->wait_kind == FIB_WAIT_JOIN ? row->wait_arg : row->holder;
			const struct ins_fiber *holder = thread_of(m, next);

			if (!m->wanted[i] || !holder || m->wanted[holder - m->threads])
				continue;
			want(m, next);
			more = true;
		}
	}
	for (i = 0; rc == 0 && i < m->count; i++)
		if (m->wanted[i])
			rc = m->fn(m->context, &m->threads[i]);
	return rc;
}

static int pass_thread(void *context, const struct ins_fiber *thread)
{
	struct mixed *m = context;
	struct ins_fiber changed = *thread;
	size_t i;

	for (i = 0; i < m->pair_count; i++)
		if (m->pairs[i].thread == thread->row.id && m->pairs[i].fiber_waits)
			hold_up(&changed.row, m->pairs[i].fiber);
	return m->fn(m->context, &changed);
}

/* Read one thread. */
static int read_thread(struct mixed *m, struct ins_source *source,
		       const struct ins_request *request, struct ins_summary *ret,
		       struct ins_error *error)
{
	const uint64_t tid = request->id & ~FIB_HOLDER_THREAD;
	bool there = false;
	int rc = ins_thread_rows_begin(m->rows, request, error);

	if (rc == 0)
		rc = ins_thread_rows_look(m->rows, tid, pass_thread, m, &there);
	ins_thread_rows_end(m->rows);
	ret->total = ret->shown = there;
	if (rc == 0 && !there)
		return ins_error_set(error, -ESRCH, "thread %llu: no such thread in process %d",
				     (unsigned long long)tid, (int)source->pid);
	return rc;
}

static int read_mixed(struct ins_source *source, const struct ins_request *request,
		      ins_fiber_fn *fn, void *context, struct ins_summary *ret,
		      struct ins_error *error)
{
	struct mixed *m = mixed_of(source);
	int rc = 0;

	m->fn = fn;
	m->context = context;
	if (request->id & FIB_HOLDER_THREAD)
		return read_thread(m, source, request, ret, error);
	if (!request->threads)
		return m->base->read(source, request, pass_fiber, m, ret, error);
	rc = read_threads(m, error);
	/* A snapshot may have none. */
	if (rc < 0 && rc != -EOPNOTSUPP)
		return rc;
	rc = m->base->read(source, request, take_fiber, m, ret, error);
	return rc == 0 ? emit_threads(m) : rc;
}

static void close_mixed(struct ins_source *source)
{
	struct mixed *m = mixed_of(source);

	forget(m);
	ins_thread_rows_free(m->rows);
	source->ops = m->base;
	free(m);
	source->ops->close(source);
}

int ins_threads_mix(struct ins_source *source)
{
	struct mixed *m;

	if (!ins_thread_rows_possible(source))
		return -EOPNOTSUPP;
	m = calloc(1, sizeof *m);
	if (!m)
		return -ENOMEM;
	if (ins_thread_rows_new(source, source->ops, true, &m->rows) < 0) {
		free(m);
		return -ENOMEM;
	}
	m->base = source->ops;
	m->ops = *source->ops;
	m->ops.read = read_mixed;
	m->ops.close = close_mixed;
	source->ops = &m->ops;
	return 0;
}
