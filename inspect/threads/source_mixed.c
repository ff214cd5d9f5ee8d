/* SPDX-License-Identifier: MIT */
/*
 * source_mixed.c - make a source emit, beside its fibers, the threads of the graph of waits
 *
 * A fiber may wait for a lock that a plain thread holds, and a thread for what a fiber holds. Only
 * threads that matter for that are emitted: those that wait for a lock whose holder is known, and
 * those that hold what is waited for. A program without such waits has the same rows as before.
 *
 * A thread that runs a call of fiber_block() ends the wait of the fiber that made the call. It is emitted
 * if it waits itself for a lock or a thread: the path of the fiber goes on there.
 *
 * A carrier is a thread too. If it sleeps inside a fiber, one of the two rows waits for the other:
 * - A pinned fiber that waits keeps its carrier. The carrier's row waits for that fiber.
 * - A fiber that sleeps in the C library has no wait in its record. It waits for its carrier, whose
 *   row has the wait.
 * Both waits are of the kind "pinned". The stack pointer of a sleeping carrier is in the stack of the
 * fiber that it runs: so the two are found.
 *
 * A mutex of the C library records its owner thread, not a fiber. If that is a carrier, one of the
 * fibers that ran there took the mutex. It may run on another carrier now, and release the mutex
 * there, although POSIX forbids that. So such a holder is not sure (INS_FIBER_UNSURE), unless the
 * mutex itself checks who releases it, or there is no other carrier.
 *
 * Fibers record threads with their numbers in the pid namespace of the process. The rows of threads
 * have those numbers too, so they can be translated. A number without a row is unknown if the
 * namespace is not that of this tool.
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
	enum pair_kind {
		FIBER_WAITS,  /* the fiber is pinned and waits */
		THREAD_WAITS, /* the thread has the wait */
		WOKEN, /* the fiber is pinned and its wait is over, but its thread has not run */
		MOVES, /* the fiber is pinned and said that it waited, but its thread runs */
	} kind;
	bool slept; /* the thread, during the whole reading */
};

/* For a search: what the threads are sorted by, and the index of one. */
struct place {
	uint64_t key;
	size_t at;
};

/* The first member is what the source uses, so the rest is found by it. */
struct mixed {
	struct ins_source_ops ops;
	const struct ins_source_ops *base; /* of the source itself */
	struct ins_thread_rows *rows;
	struct ins_fiber *threads; /* of the last reading, by number, without stacks */
	bool *wanted;		   /* for each of them */
	size_t *queue; /* those that are wanted, in the order in which they were found */
	size_t queued;
	struct place *by_sp, *by_inner;
	bool foreign; /* the process is in another pid namespace */
	bool all;     /* all threads are wanted */
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
	free(m->queue);
	free(m->by_sp);
	free(m->by_inner);
	free(m->pairs);
	m->threads = NULL;
	m->wanted = NULL;
	m->queue = NULL;
	m->by_sp = m->by_inner = NULL;
	m->pairs = NULL;
	m->count = m->pair_count = m->queued = 0;
	m->foreign = m->all = false;
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

static int by_id(const void *a, const void *b)
{
	const uint64_t x = ((const struct ins_fiber *)a)->row.id;
	const uint64_t y = ((const struct ins_fiber *)b)->row.id;

	return x < y ? -1 : x > y;
}

static int by_key(const void *a, const void *b)
{
	const uint64_t x = ((const struct place *)a)->key, y = ((const struct place *)b)->key;

	return x < y ? -1 : x > y;
}

/* Prepare the searches. The rows of a snapshot may be in any order. */
static void sort_threads(struct mixed *m)
{
	size_t i;

	if (!m->count)
		return;
	qsort(m->threads, m->count, sizeof *m->threads, by_id);
	for (i = 0; i < m->count; i++) {
		const struct fib_row *row = &m->threads[i].row;
		const uint64_t tid = row->id & ~FIB_HOLDER_THREAD;

		m->by_sp[i] = (struct place){row->sp, i};
		m->by_inner[i] = (struct place){row->record ? row->record : tid, i};
		m->foreign |= m->by_inner[i].key != tid;
	}
	qsort(m->by_sp, m->count, sizeof *m->by_sp, by_key);
	qsort(m->by_inner, m->count, sizeof *m->by_inner, by_key);
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
	m->queue = calloc(n + 1, sizeof *m->queue);
	m->by_sp = calloc(n + 1, sizeof *m->by_sp);
	m->by_inner = calloc(n + 1, sizeof *m->by_inner);
	m->pairs = calloc(n + 1, sizeof *m->pairs);
	if (!m->threads || !m->wanted || !m->queue || !m->by_sp || !m->by_inner || !m->pairs)
		rc = ins_error_set(error, -ENOMEM, "out of memory");
	for (i = 0; rc == 0 && i < n; i++)
		rc = ins_thread_rows_look(m->rows, ins_thread_rows_tid(m->rows, i), keep, m,
					  &there);
	ins_thread_rows_end(m->rows);
	sort_threads(m);
	return rc;
}

static struct ins_fiber *thread_of(const struct mixed *m, uint64_t id)
{
	const struct ins_fiber key = {.row.id = id};

	if (!m->count || !(id & FIB_HOLDER_THREAD))
		return NULL;
	return bsearch(&key, m->threads, m->count, sizeof *m->threads, by_id);
}

static void want_at(struct mixed *m, size_t i)
{
	if (m->wanted[i])
		return;
	m->wanted[i] = true;
	m->queue[m->queued++] = i;
}

static void want(struct mixed *m, uint64_t id)
{
	const struct ins_fiber *thread = thread_of(m, id);

	if (thread)
		want_at(m, (size_t)(thread - m->threads));
}

/* A holder as the rows of threads have it; who: as the process records it. 0: unknown. */
static uint64_t translated(const struct mixed *m, uint64_t who)
{
	const struct place key = {.key = who & ~FIB_HOLDER_THREAD}, *place;

	if (!m->foreign || !(who & FIB_HOLDER_THREAD))
		return who;
	place = bsearch(&key, m->by_inner, m->count, sizeof key, by_key);
	return place ? m->threads[place->at].row.id : 0;
}

/* The thread that sleeps on the fiber's stack. */
static struct ins_fiber *sleeper_on(const struct mixed *m, const struct fib_row *row)
{
	size_t low = 0, high = m->count;

	/* The first one whose stack pointer is not below the stack. */
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (m->by_sp[middle].key < row->stack_low)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == m->count || m->by_sp[low].key - row->stack_low >= row->stack_size)
		return NULL;
	return &m->threads[m->by_sp[low].at];
}

/* Whether it is known which fiber or thread ends the wait. A fiber on it can then be in a cycle. */
static bool waits_for_one(const struct fib_row *row)
{
	return row->wait_kind != FIB_WAIT_NONE &&
	       (row->holder ||
		(row->wait_kind == FIB_WAIT_JOIN && row->wait_arg != FIB_ROW_UNKNOWN));
}

/*
 * Whether the thread that a fiber waits for matters. One that only runs a call for the fiber does not,
 * unless it waits for another one itself.
 */
static bool may_lead_on(const struct mixed *m, const struct fib_row *row)
{
	const struct ins_fiber *thread = thread_of(m, row->holder);

	return row->wait_kind != FIB_WAIT_OFFLOAD || !thread || waits_for_one(&thread->row);
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

static enum pair_kind kind_of(const struct fib_row *fiber, const struct fib_row *thread)
{
	if (fiber->wait_kind == FIB_WAIT_NONE)
		return THREAD_WAITS;
	if (thread->wait_kind != FIB_WAIT_NONE)
		return FIBER_WAITS;
	return thread->state == FIBER_RUNNABLE ? WOKEN : MOVES;
}

/* Find the pair of a fiber that is on a carrier. NULL: it has none. */
static const struct pair *find_pair(struct mixed *m, const struct fib_row *row)
{
	struct ins_fiber *thread = sleeper_on(m, row);
	struct pair *pair = &m->pairs[m->pair_count];

	if (!thread || (row->wait_kind == FIB_WAIT_NONE && !waits_for_one(&thread->row)))
		return NULL;
	*pair = (struct pair){thread->row.id, row->id, kind_of(row, &thread->row),
			      thread->flags & INS_FIBER_SLEPT};
	if (pair->kind == FIBER_WAITS)
		hold_up(&thread->row, row->id);
	m->pair_count++;
	return pair;
}

static const struct pair *pair_of_fiber(const struct mixed *m, uint64_t id)
{
	size_t i;

	for (i = 0; i < m->pair_count; i++)
		if (m->pairs[i].fiber == id)
			return &m->pairs[i];
	return NULL;
}

/* It is not known what ends the wait. */
static void cut_loose(struct fib_row *row)
{
	row->holder = row->readers = 0;
	if (row->wait_kind == FIB_WAIT_JOIN)
		row->wait_arg = FIB_ROW_UNKNOWN;
}

static void forget_wait(struct fib_row *row)
{
	row->wait_kind = FIB_WAIT_NONE;
	row->wait_object = row->holder = row->readers = 0;
	row->object_name[0] = 0;
	row->deadline = INT64_MAX;
}

/* Complete the row of a fiber by its pair. */
static void complete(struct ins_fiber *fiber, const struct pair *pair)
{
	struct fib_row *row = &fiber->row;
	const bool waits = row->wait_kind != FIB_WAIT_NONE;

	if (pair->kind == THREAD_WAITS && !waits)
		hold_up(row, pair->thread);
	if (pair->kind == WOKEN && waits)
		forget_wait(row);
	if (pair->kind == MOVES && waits)
		cut_loose(row);
	if (pair->slept)
		fiber->flags |= INS_FIBER_SLEPT;
}

/* Pass a fiber by what the last reading of threads has found. */
static int pass_fiber(void *context, const struct ins_fiber *fiber)
{
	struct mixed *m = context;
	struct ins_fiber changed = *fiber;
	const struct pair *pair = NULL;

	changed.row.holder = translated(m, fiber->row.holder);
	if (fiber->row.carrier != FIB_ROW_CARRIER_NONE)
		pair = pair_of_fiber(m, fiber->row.id);
	if (pair)
		complete(&changed, pair);
	return m->fn(m->context, &changed);
}

static int take_fiber(void *context, const struct ins_fiber *fiber)
{
	struct mixed *m = context;
	struct ins_fiber changed = *fiber;
	const struct pair *pair = NULL;

	changed.row.holder = translated(m, fiber->row.holder);
	if (fiber->row.carrier != FIB_ROW_CARRIER_NONE && m->pair_count < m->count)
		pair = find_pair(m, &fiber->row);
	if (pair)
		complete(&changed, pair);
	if (changed.row.wait_kind != FIB_WAIT_NONE && may_lead_on(m, &changed.row))
		want(m, changed.row.holder);
	/* Readers have numbers as well, which only rows can translate (waits/readers.c). */
	m->all |= m->foreign && changed.row.readers;
	return m->fn(m->context, &changed);
}

static bool for_a_lock(const struct fib_row *row)
{
	switch (row->wait_kind) {
	case FIB_WAIT_MUTEX:
	case FIB_WAIT_RWLOCK_READ:
	case FIB_WAIT_RWLOCK_WRITE:
	case FIB_WAIT_ONCE:
	case FIB_WAIT_PTHREAD_MUTEX:
		/* The holders of a rwlock that is read are known to the graph. */
		return row->holder || row->readers;
	default:
		return false;
	}
}

/* Whether another thread than the recorded holder may release what the thread waits for. */
static bool any_may_release(const struct fib_row *row)
{
	return row->wait_kind != FIB_WAIT_PINNED && row->wait_kind != FIB_WAIT_JOIN &&
	       !(row->wait_kind == FIB_WAIT_MUTEX && row->wait_arg == INS_THREAD_ONLY_HOLDER);
}

static int by_thread(const void *a, const void *b)
{
	const uint64_t x = ((const struct pair *)a)->thread, y = ((const struct pair *)b)->thread;

	return x < y ? -1 : x > y;
}

/* Mark the threads that wait for what a carrier took: a carrier that waits itself is in a pair. */
static void find_unsure(struct mixed *m)
{
	size_t i;

	if (!m->pair_count)
		return;
	qsort(m->pairs, m->pair_count, sizeof *m->pairs, by_thread);
	for (i = 0; i < m->count; i++) {
		const struct fib_row *row = &m->threads[i].row;
		const struct pair key = {.thread = row->holder};

		if (row->holder && any_may_release(row) &&
		    bsearch(&key, m->pairs, m->pair_count, sizeof key, by_thread))
			m->threads[i].flags |= INS_FIBER_UNSURE;
	}
}

/* Emit the threads that matter, and those that they wait for. */
static int emit_threads(struct mixed *m)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < m->pair_count; i++)
		if (m->pairs[i].kind == THREAD_WAITS)
			want(m, m->pairs[i].thread);
	for (i = 0; i < m->count; i++)
		if (m->all || for_a_lock(&m->threads[i].row))
			want_at(m, i);
	for (i = 0; i < m->queued; i++) {
		const struct fib_row *row = &m->threads[m->queue[i]].row;

		want(m, row->wait_kind == FIB_WAIT_JOIN ? row->wait_arg : row->holder);
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
		if (m->pairs[i].thread == thread->row.id && m->pairs[i].kind == FIBER_WAITS)
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
	ins_thread_rows_taken(m->rows, ret);
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
	if (!request->threads) {
		/* One fiber is shown as the last reading had it. */
		m->pair_count = request->id ? m->pair_count : 0;
		return m->base->read(source, request, pass_fiber, m, ret, error);
	}
	rc = read_threads(m, error);
	/* A snapshot may have none. */
	if (rc < 0 && rc != -EOPNOTSUPP)
		return rc;
	rc = m->base->read(source, request, take_fiber, m, ret, error);
	if (rc == 0 && source->layout.carriers != 1)
		find_unsure(m);
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
