/* SPDX-License-Identifier: MIT */
/* source_threads.c - make a source emit the threads of its program in place of its fibers */
#include "inspect/threads/threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/text/duration.h"
#include "inspect/threads/thread_rows.h"

/* The first member is what the source uses, so the rest is found by it. */
struct shown {
	struct ins_source_ops ops;
	const struct ins_source_ops *base; /* of the source itself */
	bool fiberless;			   /* the program has no fibers */
	struct ins_thread_rows *rows;
};

static struct shown *shown_of(const struct ins_source *source)
{
	return (struct shown *)source->ops;
}

static int read_rows(struct shown *shown, const struct ins_request *request, ins_fiber_fn *fn,
		     void *context, struct ins_summary *ret, struct ins_error *error)
{
	int rc = ins_thread_rows_begin(shown->rows, request, error);
	size_t i;
	bool there;

	ins_thread_rows_taken(shown->rows, ret);
	ret->total = ins_thread_rows_count(shown->rows);
	for (i = 0; rc == 0 && i < ret->total; i++) {
		const uint64_t tid = ins_thread_rows_tid(shown->rows, i);

		if (request->id && (request->id & ~FIB_HOLDER_THREAD) != tid)
			continue;
		rc = ins_thread_rows_look(shown->rows, tid, fn, context, &there);
		ret->shown += there;
	}
	ins_thread_rows_end(shown->rows);
	return rc;
}

static int read_all(struct ins_source *source, const struct ins_request *request, ins_fiber_fn *fn,
		    void *context, struct ins_summary *ret, struct ins_error *error)
{
	struct shown *shown = shown_of(source);
	const int64_t start = ins_duration_now();
	int rc;

	ret->threads = true;
	ret->fiberless = shown->fiberless;
	rc = read_rows(shown, request, fn, context, ret, error);
	if (!ins_source_still(source))
		ret->sampled_ns = ins_duration_now() - start;
	if (rc == -ENOMEM)
		return ins_error_set(error, rc, "out of memory");
	if (rc == 0 && request->id && !ret->shown)
		return ins_error_set(error, -ESRCH, "thread %llu: no such thread in process %d",
				     (unsigned long long)request->id, (int)source->pid);
	return rc;
}

static void close_shown(struct ins_source *source)
{
	struct shown *shown = shown_of(source);

	ins_thread_rows_free(shown->rows);
	source->ops = shown->base;
	free(shown);
	source->ops->close(source);
}

static int show(struct ins_source *source, bool fiberless, bool marked)
{
	struct shown *shown;

	if (!ins_thread_rows_possible(source))
		return -EOPNOTSUPP;
	shown = calloc(1, sizeof *shown);
	if (!shown)
		return -ENOMEM;
	if (ins_thread_rows_new(source, source->ops, marked, &shown->rows) < 0) {
		free(shown);
		return -ENOMEM;
	}
	shown->fiberless = fiberless;
	shown->base = source->ops;
	shown->ops = *source->ops;
	shown->ops.read = read_all;
	shown->ops.close = close_shown;
	source->ops = &shown->ops;
	return 0;
}

int ins_threads_show(struct ins_source *source, bool fiberless)
{
	return show(source, fiberless, false);
}

int ins_threads_show_marked(struct ins_source *source)
{
	return show(source, false, true);
}

bool ins_threads_shown(const struct ins_source *source)
{
	return source->ops->read == read_all;
}
