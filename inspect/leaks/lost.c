/* SPDX-License-Identifier: MIT */
/*
 * lost.c - find the lost fibers of a source
 *
 * While a process runs, a pointer may move from a place that was not read yet to one that was. So
 * one look is no proof. A fiber is lost if it did not run during all looks, and each look has found
 * it lost. Each look reads the fibers anew. At its end it reads the records again, and marks what the fibers
 * have that are new or have moved, without any copy of before. If fibers do move, there are more looks.
 *
 * A core has no data of epoll, which may be the only pointer to an object: what is found in a core is
 * not certain. Neither is anything if memory could not be read. An earlier reading of the same process is a
 * second look at a core: what was not in the same wait then is left out (lost_before.h), with all that it
 * reaches.
 *
 * A process that is stopped, or a core, is looked at once. A healthy program costs one look.
 */
#include "inspect/leaks/lost.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "inspect/leaks/lost_before.h"
#include "inspect/leaks/lost_look.h"
#include "inspect/process/stop_all.h"
#include "inspect/text/duration.h"
#include "inspect/waits/stillness.h"

#define LOOKS  3
#define MOVING 6		   /* looks at a process whose fibers run */
#define ENOUGH INT64_C(2000000000) /* ns: no third look if two took longer */

struct finding {
	struct ins_source *source;
	struct ins_lost *ret;
	struct ins_error *error;
	struct ins_table *before; /* of a core: an earlier reading; NULL: none */
	int64_t began;
	/* By index of the table: lost in all looks so far; something alive has its handle. */
	bool *lost, *held, *moved;
	size_t count, unknown, unread, missing;
	bool dead;  /* it is a core */
	bool moves; /* fibers have run during a look */
};

int ins_lost_possible(const struct ins_source *source, struct ins_error *error)
{
	char theirs[32];

	if (!ins_machine_is_self(source->modules->machine))
		return ins_error_set(
			error, -EOPNOTSUPP,
			"the memory of a program for another machine (%s) is not "
			"searched",
			ins_machine_name(source->modules->machine.number, theirs, sizeof theirs));
	if (source->memory && source->ops->regions && source->ops->threads &&
	    source->ops->thread_at)
		return 0;
	return ins_error_set(error, -EOPNOTSUPP,
			     "%s has no memory of the program: give the process or its core to "
			     "fibertrace",
			     strcmp(source->kind, "snapshot") == 0 ? "a snapshot" : "this source");
}

static int failed(struct finding *f, int rc)
{
	if (rc == -ESRCH || rc == -ENOENT)
		return ins_error_set(f->error, rc, "process %d has ended during the search",
				     (int)f->source->pid);
	return rc == -ENOMEM ? ins_error_set(f->error, rc, "out of memory")
			     : ins_error_set(f->error, rc, "the memory cannot be read: %s",
					     strerror(-rc));
}

static int read_table(struct finding *f)
{
	const struct ins_request request = {.modules = true, .bare = true};
	struct ins_lost *lost = f->ret;
	const int rc = ins_table_read(f->source, &request, f->error, &lost->table);
	size_t n;

	if (rc < 0)
		return rc;
	n = ins_table_count(lost->table) + 1;
	f->lost = calloc(n, sizeof *f->lost);
	f->held = calloc(n, sizeof *f->held);
	f->moved = calloc(n, sizeof *f->moved);
	if (!f->lost || !f->held || !f->moved)
		return failed(f, -ENOMEM);
	memset(f->lost, true, n);
	return 0;
}

/* Whether fiber i of the table was lost in the look before, and has not run since. */
static bool was_lost(const struct finding *f, size_t i, struct ins_table *before, const bool *lost)
{
	struct ins_fiber now, then;
	ssize_t at;

	ins_table_get(f->ret->table, i, &now);
	at = ins_table_find(before, now.row.id);
	if (at < 0 || !lost[at])
		return false;
	ins_table_get(before, (size_t)at, &then);
	return then.row.seq == now.row.seq;
}

/* Read the fibers for the next look, or the first. */
static int read_again(struct finding *f)
{
	struct ins_table *before = f->ret->table;
	bool *lost = f->lost;
	size_t i;
	int rc;

	f->ret->table = NULL;
	f->lost = NULL;
	free(f->held);
	free(f->moved);
	f->held = f->moved = NULL;
	rc = read_table(f);
	for (i = 0; rc == 0 && before && lost && i < ins_table_count(f->ret->table); i++)
		f->lost[i] = was_lost(f, i, before, lost);
	ins_table_free(before);
	free(lost);
	return rc;
}

static bool parks(struct ins_table *table, size_t i)
{
	struct ins_fiber fiber;

	ins_table_get(table, i, &fiber);
	return fiber.row.wait_kind == FIB_WAIT_PARK && ins_stillness_needs_waker(&fiber.row);
}

/* Keep the fibers that this look has found lost, as all looks before. */
static void keep_lost(struct finding *f, const struct ins_lost_look *look)
{
	size_t i;

	f->count = f->ret->parked = 0;
	for (i = 0; i < ins_table_count(look->table); i++) {
		f->held[i] = ins_mark_held(look->mark, i);
		f->lost[i] = f->lost[i] && !f->moved[i] && !ins_mark_alive(look->mark, i);
		f->moves |= f->moved[i];
		f->count += f->lost[i];
		f->ret->parked += !f->moved[i] && !f->held[i] && parks(look->table, i);
	}
}

/*
 * Something that is not in the core has woken a fiber that moved since the earlier reading. So all that
 * it reaches is alive. Count first those that would have been lost.
 */
static int mark_moved(struct finding *f, const struct ins_lost_look *look)
{
	const size_t n = ins_table_count(look->table);
	size_t i;
	int rc = 0;

	for (i = 0; i < n; i++)
		f->ret->moved += f->moved[i] && !ins_mark_held(look->mark, i) &&
				 !ins_mark_alive(look->mark, i);
	for (i = 0; rc == 0 && i < n; i++)
		if (f->moved[i])
			rc = ins_mark_more_fiber(look->mark, i);
	return rc;
}

/* Look once. runs: the process runs meanwhile. */
static int look_once(struct finding *f, struct ins_lost_look *look, bool runs)
{
	struct ins_lost *lost = f->ret;
	int rc;

	look->table = lost->table;
	look->moved = f->moved;
	rc = ins_lost_look(look);
	if (rc == 0 && runs)
		rc = ins_lost_look_again(look);
	if (rc == 0 && f->before)
		rc = mark_moved(f, look);
	if (rc == 0)
		keep_lost(f, look);
	if (rc == 0)
		rc = ins_lost_look_check(look);
	f->unknown = look->unknown;
	f->unread += look->unread;
	f->missing += look->missing;
	lost->looks++;
	lost->bytes = look->windows ? ins_windows_bytes(look->windows) : 0;
	ins_lost_look_end(look);
	return rc < 0 ? failed(f, rc) : 0;
}

/* A process that runs on. */
static int look_live(struct finding *f)
{
	struct ins_lost_look look = {.source = f->source, .live = true};
	int rc = 0;

	while (rc == 0 && f->ret->looks < (f->moves ? MOVING : LOOKS)) {
		rc = read_again(f);
		if (rc == 0)
			rc = look_once(f, &look, true);
		look.registers = true;
		if (!f->count ||
		    (f->ret->looks > (f->moves ? 3 : 1) && ins_duration_now() - f->began > ENOUGH))
			break;
	}
	ins_lost_look_drop(&look);
	return rc;
}

static int look_stopped(void *context, const struct ins_thread_state *threads, size_t n)
{
	struct finding *f = context;
	struct ins_lost_look look = {
		.source = f->source, .live = true, .stopped = threads, .stopped_count = n};
	int rc = read_table(f);

	if (rc == 0)
		rc = look_once(f, &look, false);
	ins_lost_look_drop(&look);
	return rc;
}

/* Note which fibers were not in their wait in the earlier reading. */
static void compare(struct finding *f)
{
	struct ins_fiber fiber;
	size_t i;

	for (i = 0; i < ins_table_count(f->ret->table); i++) {
		ins_table_get(f->ret->table, i, &fiber);
		f->moved[i] = !ins_lost_before_waited(f->before, &fiber);
	}
}

static int look_dead(struct finding *f)
{
	struct ins_lost_look look = {.source = f->source};
	int rc = read_table(f);

	f->dead = true;
	if (rc == 0 && f->before)
		compare(f);
	if (rc == 0)
		rc = look_once(f, &look, false);
	ins_lost_look_drop(&look);
	return rc;
}

static int stop_and_look(struct finding *f)
{
	int rc = ins_stop_all(f->source->pid, look_stopped, f, f->source->pauses);

	if (rc < 0 && !f->error->text[0])
		ins_error_set(f->error, rc, "process %d: cannot be stopped: %s",
			      (int)f->source->pid, strerror(-rc));
	return rc;
}

/* Say why the result is not certain. False: it is. */
static bool say_unsure(struct finding *f, size_t n)
{
	struct ins_problems *problems = &f->source->problems;
	const char *fibers = n == 1 ? "fiber seems" : "fibers seem";

	if (f->unknown)
		ins_problems_add(problems,
				 "%zu %s lost, but the registers of %zu %s are not known: a stop "
				 "could end a system call, or is not allowed; --stop reads them",
				 n, fibers, f->unknown, f->unknown == 1 ? "thread" : "threads");
	else if (f->unread && f->missing)
		ins_problems_add(problems,
				 "%zu %s lost, but %zu %s missing in the core, where a pointer may "
				 "be",
				 n, fibers, f->missing,
				 f->missing == 1 ? "stack is" : "stacks are");
	else if (f->unread)
		ins_problems_add(problems,
				 "%zu %s lost, but %zu %s of memory could not be read, where a "
				 "pointer may be",
				 n, fibers, f->unread, f->unread == 1 ? "page" : "pages");
	else if (f->dead)
		ins_problems_add(problems,
				 "%zu %s lost, but the epoll data of the kernel is not in a core: "
				 "a pointer may be there",
				 n, fibers);
	return f->unknown || f->unread || f->dead;
}

/* List the lost ones; not if a pointer to their object could be where it was not read. */
static int finish(struct finding *f)
{
	struct ins_lost *lost = f->ret;
	size_t i;

	lost->at = calloc(f->count + 1, sizeof *lost->at);
	if (!lost->at)
		return failed(f, -ENOMEM);
	for (i = 0; f->count && i < ins_table_count(lost->table); i++) {
		if (f->lost[i] && f->held[i])
			lost->cancellable++;
		else if (f->lost[i])
			lost->at[lost->count++] = i;
	}
	lost->certain = !lost->count || !say_unsure(f, lost->count);
	lost->unsure = lost->certain ? 0 : lost->count;
	if (f->unknown || f->unread)
		lost->count = 0;
	return 0;
}

static int find(struct finding *f, bool stop)
{
	int rc;

	f->began = ins_duration_now();
	*f->ret = (struct ins_lost){0};
	rc = ins_lost_possible(f->source, f->error);
	if (rc == 0 && ins_source_still(f->source))
		rc = look_dead(f);
	else if (rc == 0)
		rc = stop ? stop_and_look(f) : look_live(f);
	if (rc == 0)
		rc = finish(f);
	free(f->lost);
	free(f->held);
	free(f->moved);
	f->ret->took_ns = ins_duration_now() - f->began;
	return rc;
}

int ins_lost_find(struct ins_source *source, bool stop, struct ins_lost *ret,
		  struct ins_error *error)
{
	struct finding f = {.source = source, .ret = ret, .error = error};

	return find(&f, stop);
}

int ins_lost_find_since(struct ins_source *core, struct ins_table *before, struct ins_lost *ret,
			struct ins_error *error)
{
	struct finding f = {.source = core, .ret = ret, .error = error, .before = before};

	return find(&f, false);
}

void ins_lost_drop(struct ins_lost *lost)
{
	ins_table_free(lost->table);
	free(lost->at);
	*lost = (struct ins_lost){0};
}
