/* SPDX-License-Identifier: MIT */
/*
 * source_snapshot.c - the fibers of a process, read from a snapshot file
 *
 * The file has one answer about fibers: to the request for all of them with their stacks. All other
 * requests are served from it. Events have one answer for each ring. Files of an older fiberctl may
 * lack events or threads.
 *
 * The process may have ended, its pid may be reused, and this may be another machine. So nothing is
 * looked up in the running system. A module's file is used only if it is the one that the snapshot
 * describes.
 */
#include "inspect/source/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/source/frames.h"
#include "inspect/source/snapshot.h"
#include "inspect/source/snapshot_running.h"
#include "inspect/model/thread_stack.h"

struct kept {
	struct ins_source source;
	struct ins_snapshot *snapshot;
	struct ins_frames frames;
	char *path;
};

static void say_taken(const struct kept *k, struct ins_summary *ret)
{
	const struct ins_snapshot_head *head = ins_snapshot_head(k->snapshot);

	ret->taken = head->taken;
	ret->host = head->host;
}

static int incomplete(const struct kept *k, struct ins_error *error)
{
	return ins_error_set(error, -EINVAL, "%s: is damaged: it has no answer about fibers",
			     k->path);
}

/* Take frames up to the end of an answer. */
static int take_all(struct kept *k, struct ins_snapshot_frames *frames, struct ins_error *error)
{
	struct fib_wire_header header;
	const void *payload;
	int rc = 0;

	while (rc == 0 && !k->frames.done && ins_snapshot_next(frames, &header, &payload))
		rc = ins_frames_take(&k->frames, &header, payload, error);
	if (rc == 0 && !k->frames.done)
		return incomplete(k, error);
	return rc;
}

static int kept_read(struct ins_source *source, const struct ins_request *request, ins_fiber_fn *fn,
		     void *context, struct ins_summary *ret, struct ins_error *error)
{
	struct kept *k = (struct kept *)source;
	struct ins_snapshot_frames frames;

	say_taken(k, ret);
	if (!ins_snapshot_answer(k->snapshot, FIB_WIRE_STACK, &frames))
		return incomplete(k, error);
	ins_frames_begin(&k->frames, request, fn, context, ret);
	return take_all(k, &frames, error);
}

static int kept_events(struct ins_source *source, const struct fib_wire_events *request,
		       ins_event_fn *fn, void *context, struct ins_summary *ret,
		       struct ins_error *error)
{
	struct kept *k = (struct kept *)source;
	const struct ins_snapshot_head *head = ins_snapshot_head(k->snapshot);
	struct ins_snapshot_frames frames;

	say_taken(k, ret);
	if (!ins_snapshot_answer(k->snapshot, INS_SNAPSHOT_EVENTS(request->ring), &frames))
		return ins_error_set(error, -EOPNOTSUPP, "%s: " INS_SNAPSHOT_LACKS, k->path);
	ins_frames_begin_events(&k->frames, fn, context, ret);
	ins_timestamp_set_fixed(&k->frames.timestamp, head->now, head->taken);
	return take_all(k, &frames, error);
}

/* Take what comes before the first fiber: the process, the layout, the modules. */
static int take_preface(struct kept *k, struct ins_error *error)
{
	const struct ins_request all = {0};
	struct ins_snapshot_frames frames;
	struct fib_wire_header header;
	struct ins_summary summary;
	const void *payload;
	int rc = 0;

	if (!ins_snapshot_answer(k->snapshot, FIB_WIRE_STACK, &frames))
		return incomplete(k, error);
	ins_frames_begin(&k->frames, &all, NULL, NULL, &summary);
	while (rc == 0 && ins_snapshot_next(&frames, &header, &payload)) {
		if (header.type == FIB_WIRE_STACKS || header.type == FIB_WIRE_ROWS ||
		    header.type == FIB_WIRE_END)
			break;
		rc = ins_frames_take(&k->frames, &header, payload, error);
	}
	if (rc == 0)
		rc = ins_frames_map(&k->frames, error);
	if (rc == 0)
		ins_snapshot_files(k->snapshot, k->source.modules);
	return rc;
}

static void kept_close(struct ins_source *source)
{
	struct kept *k = (struct kept *)source;

	ins_frames_free(&k->frames);
	if (k->source.modules)
		ins_modules_free(k->source.modules);
	ins_problems_free(&k->source.problems);
	ins_snapshot_close(k->snapshot);
	free(k->path);
	free(k);
}

static int kept_thread(struct ins_source *source, uint64_t tid, struct ins_thread_stack *ret)
{
	const struct kept *k = (const struct kept *)source;
	struct ins_snapshot_frames frames;
	struct fib_wire_header header;
	const void *payload;
	int rc;

	if (!ins_snapshot_threads(k->snapshot, &frames))
		return -EOPNOTSUPP;
	while (ins_snapshot_next(&frames, &header, &payload)) {
		/* -EPROTO: the frame is about another thread. */
		rc = header.type == FIB_WIRE_THREAD_IS
			     ? ins_thread_stack_take(payload, header.length, tid, ret)
			     : -EPROTO;
		if (rc != -EPROTO)
			return rc;
	}
	return -EOPNOTSUPP;
}

static int kept_thread_rows(struct ins_source *source, const struct ins_request *request,
			    ins_fiber_fn *fn, void *context, struct ins_summary *ret,
			    struct ins_error *error)
{
	const struct ins_request all = {.stacks = request->stacks};
	struct kept *k = (struct kept *)source;
	struct ins_snapshot_frames frames;
	int rc;

	if (!ins_snapshot_answer(k->snapshot, INS_SNAPSHOT_THREAD_ROWS, &frames))
		return ins_error_set(
			error, -EOPNOTSUPP,
			"%s: the snapshot has no threads: the fiberctl that wrote it is older, "
			"or was not allowed to read the process' memory",
			k->path);
	say_taken(k, ret);
	ins_frames_begin(&k->frames, &all, fn, context, ret);
	k->frames.threads = true;
	rc = take_all(k, &frames, error);
	k->frames.threads = false;
	return rc;
}

static int kept_running(struct ins_source *source, struct ins_running *ret)
{
	return ins_snapshot_running(((const struct kept *)source)->snapshot, ret);
}

static const struct ins_source_ops kept_ops = {
	.read = kept_read,
	.close = kept_close,
	.events = kept_events,
	.thread = kept_thread,
	.thread_rows = kept_thread_rows,
	.running = kept_running,
};

int ins_source_open_snapshot(const char *path, struct ins_error *error, struct ins_source **ret)
{
	struct kept *k = calloc(1, sizeof *k);
	int rc;

	if (!k)
		return ins_error_set(error, -ENOMEM, "out of memory");
	k->path = strdup(path);
	if (!k->path || ins_modules_new(0, NULL, NULL, &k->source.problems, &k->source.modules) < 0)
		rc = ins_error_set(error, -ENOMEM, "out of memory");
	else
		rc = ins_snapshot_open(path, error, &k->snapshot);
	k->source.kind = "snapshot";
	k->source.ops = &kept_ops;
	ins_frames_init(&k->frames, &k->source, k->path);
	k->frames.file = true;
	if (rc == 0) {
		k->source.threads = ins_snapshot_head(k->snapshot)->threads;
		k->frames.swapped = ins_snapshot_swapped(k->snapshot);
		rc = take_preface(k, error);
	}
	if (rc < 0) {
		kept_close(&k->source);
		return rc;
	}
	*ret = &k->source;
	return 0;
}
