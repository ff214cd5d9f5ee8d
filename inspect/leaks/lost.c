/* SPDX-License-Identifier: MIT */
/*
 * lost.c - find the lost fibers of a source
 *
 * While a process runs, a pointer may move from a place that was not read yet to one that was. So
 * one look is no proof. A fiber is lost if it did not run during all looks, and each look has found
 * it lost. After each look the fibers are read again, and the stacks of those that have moved are
 * marked too.
 *
 * A process that is stopped, or a core, is looked at once. A healthy program costs one look.
 */
#include "inspect/leaks/lost.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "inspect/leaks/lost_look.h"
#include "inspect/process/stop_all.h"
#include "inspect/text/duration.h"

#define LOOKS 3

struct finding {
	struct ins_source *source;
	struct ins_lost *ret;
	struct ins_error *error;
	/* The lost fibers of the looks so far, by id. */
	struct candidate {
		uint64_t id, seq;
		bool held;
	} * at;
	size_t count, unknown;
};

int ins_lost_possible(const struct ins_source *source, struct ins_error *error)
{
	if (source->memory && source->ops->regions && source->ops->threads &&
	    source->ops->thread_at)
		return 0;
	return ins_error_set(error, -EOPNOTSUPP,
			     "%s has no memory of the program: give the process or its core to "
			     "fibertrace",
			     strcmp(source->kind, "snapshot") == 0 ? "a snapshot" : "this source");
}

static int out_of_memory(struct finding *f, int rc)
{
	return rc == -ENOMEM ? ins_error_set(f->error, rc, "out of memory")
			     : ins_error_set(f->error, rc, "the memory cannot be read: %s",
					     strerror(-rc));
}

static int read_table(struct finding *f, struct ins_table **ret)
{
	const struct ins_request request = {.modules = true};

	return ins_table_read(f->source, &request, f->error, ret);
}

/* The candidate with this id, or NULL. */
static struct candidate *find_candidate(const struct finding *f, uint64_t id)
{
	size_t low = 0, high = f->count;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (f->at[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low < f->count && f->at[low].id == id ? &f->at[low] : NULL;
}

/* Keep the fibers that this look has found lost and that the looks before it found too. */
static int keep_lost(struct finding *f, const struct ins_lost_look *look, bool first)
{
	const size_t n = ins_table_count(look->table);
	struct candidate *now = calloc(n + 1, sizeof *now);
	struct ins_fiber fiber;
	size_t i, count = 0;

	if (!now)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		const struct candidate *before;

		if (ins_mark_alive(look->mark, i))
			continue;
		ins_table_get(look->table, i, &fiber);
		before = find_candidate(f, fiber.row.id);
		if (first || (before && before->seq == fiber.row.seq))
			now[count++] = (struct candidate){fiber.row.id, fiber.row.seq,
							  ins_mark_held(look->mark, i)};
	}
	free(f->at);
	f->at = now;
	f->count = count;
	return 0;
}

/* Look once. The fibers in f->ret->table are those before the look, and afterwards those after it. */
static int look_once(struct finding *f, struct ins_lost_look *look, bool moves)
{
	struct ins_lost *lost = f->ret;
	struct ins_table *after = NULL;
	int rc;

	look->table = lost->table;
	rc = ins_lost_look(look);
	if (rc == 0 && moves) {
		if (read_table(f, &after) < 0) {
			ins_lost_look_drop(look);
			return -EIO;
		}
		rc = ins_lost_look_again(look, after);
	}
	if (rc == 0)
		rc = keep_lost(f, look, !lost->looks);
	f->unknown = look->unknown;
	lost->looks++;
	lost->bytes = look->windows ? ins_windows_bytes(look->windows) : 0;
	ins_lost_look_drop(look);
	if (after) {
		ins_table_free(lost->table);
		lost->table = after;
	}
	return rc < 0 ? out_of_memory(f, rc) : 0;
}

/* A process that runs on. */
static int look_live(struct finding *f)
{
	struct ins_lost_look look = {.source = f->source, .live = true};
	int rc = 0;

	do {
		rc = look_once(f, &look, true);
		look.registers = true;
	} while (rc == 0 && f->count && f->ret->looks < LOOKS);
	return rc;
}

static int look_stopped(void *context, const struct ins_thread_state *threads, size_t n)
{
	struct finding *f = context;
	struct ins_lost_look look = {
		.source = f->source, .live = true, .stopped = threads, .stopped_count = n};
	int rc;

	ins_table_free(f->ret->table);
	f->ret->table = NULL;
	rc = read_table(f, &f->ret->table);
	return rc < 0 ? rc : look_once(f, &look, false);
}

static int stop_and_look(struct finding *f)
{
	int rc = ins_stop_all(f->source->pid, look_stopped, f, f->source->pauses);

	if (rc < 0 && !f->error->text[0])
		ins_error_set(f->error, rc, "process %d: cannot be stopped: %s",
			      (int)f->source->pid, strerror(-rc));
	return rc;
}

/* The lost ones, as indices of the last table; those that moved after the last look are not. */
static int finish(struct finding *f)
{
	struct ins_lost *lost = f->ret;
	struct ins_fiber fiber;
	size_t i;

	lost->at = calloc(f->count + 1, sizeof *lost->at);
	lost->held = calloc(f->count + 1, sizeof *lost->held);
	if (!lost->at || !lost->held)
		return out_of_memory(f, -ENOMEM);
	for (i = 0; i < f->count; i++) {
		const ssize_t at = ins_table_find(lost->table, f->at[i].id);

		if (at < 0)
			continue;
		ins_table_get(lost->table, (size_t)at, &fiber);
		if (fiber.row.seq != f->at[i].seq)
			continue;
		lost->held[lost->count] = f->at[i].held;
		lost->at[lost->count++] = (size_t)at;
	}
	if (!f->unknown || !lost->count)
		return 0;
	ins_problems_add(&f->source->problems,
			 "%zu fibers seem lost, but the registers of %zu threads are not known: a "
			 "stop would end their system call, or is not allowed; --stop reads them",
			 lost->count, f->unknown);
	lost->unsure = lost->count;
	lost->count = 0;
	return 0;
}

int ins_lost_find(struct ins_source *source, bool stop, struct ins_lost *ret,
		  struct ins_error *error)
{
	struct finding f = {.source = source, .ret = ret, .error = error};
	struct ins_lost_look look = {.source = source};
	const int64_t began = ins_duration_now();
	int rc;

	*ret = (struct ins_lost){0};
	rc = ins_lost_possible(source, error);
	if (rc == 0)
		rc = read_table(&f, &ret->table);
	if (rc == 0 && ins_source_still(source))
		rc = look_once(&f, &look, false);
	else if (rc == 0)
		rc = stop ? stop_and_look(&f) : look_live(&f);
	if (rc == 0)
		rc = finish(&f);
	free(f.at);
	ret->took_ns = ins_duration_now() - began;
	return rc;
}

void ins_lost_drop(struct ins_lost *lost)
{
	ins_table_free(lost->table);
	free(lost->at);
	free(lost->held);
	*lost = (struct ins_lost){0};
}
