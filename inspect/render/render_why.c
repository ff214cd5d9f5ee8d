/* SPDX-License-Identifier: MIT */
/*
 * render_why.c - what is wrong with a program, on one screen
 *
 * The first line names the program and the worst finding. The last line says what all fibers wait for,
 * so that "nothing" can be believed.
 */
#include "inspect/render/render_why.h"

#include <inttypes.h>

#include <fiber/fiber.h>

#include "inspect/render/render.h"
#include "inspect/text/escape.h"
#include "inspect/why/rules.h"

/* Why fibers do not run, for the last line. */
enum rest { REST_INPUT, REST_TIME, REST_LOCK, REST_FIBERS, REST_SIGNAL, REST_THREADS, REST_COUNT };

static const char *const one[REST_COUNT] = {
	"waits for input",    "sleeps", "waits for a lock", "waits for others", "waits to be woken",
	"waits for a thread",
};
static const char *const more[REST_COUNT] = {
	"wait for input",   "sleep", "wait for locks", "wait for others", "wait to be woken",
	"wait for threads",
};

static enum rest rest_of(const struct fib_row *row)
{
	if (fib_row_polled(row))
		return REST_INPUT;
	switch (row->wait_kind) {
	case FIB_WAIT_FD:
	case FIB_WAIT_OP:
		return REST_INPUT;
	case FIB_WAIT_SLEEP:
	case FIB_WAIT_TIMER:
	case FIB_WAIT_PREDICATE:
		return REST_TIME;
	case FIB_WAIT_MUTEX:
	case FIB_WAIT_RWLOCK_READ:
	case FIB_WAIT_RWLOCK_WRITE:
	case FIB_WAIT_ONCE:
	case FIB_WAIT_PTHREAD_MUTEX:
	case FIB_WAIT_PTHREAD_RWLOCK:
	case FIB_WAIT_PTHREAD_ONCE:
		return REST_LOCK;
	case FIB_WAIT_JOIN:
	case FIB_WAIT_GROUP:
	case FIB_WAIT_WAITGROUP:
	case FIB_WAIT_BARRIER:
	case FIB_WAIT_PTHREAD_BARRIER:
		return REST_FIBERS;
	case FIB_WAIT_OFFLOAD:
		return REST_THREADS;
	default:
		return REST_SIGNAL;
	}
}

/* How much of the carriers' time the fibers used between the readings, in percent; -1: unknown. */
static int busy_percent(const struct ins_look *look)
{
	const int64_t time = look->last.at - look->earlier.at;
	const uint64_t carriers = look->source->layout.carriers;
	size_t i, n = ins_look_count(look);
	struct ins_fiber now, before;
	uint64_t used = 0;

	if (look->single || time <= 0 || !carriers)
		return -1;
	for (i = 0; i < n; i++) {
		ssize_t at;

		ins_look_get(look, i, &now);
		at = ins_table_find(look->earlier.table, now.row.id);
		before.row.cpu = 0;
		if (at >= 0)
			ins_table_get(look->earlier.table, (size_t)at, &before);
		used += now.row.cpu - before.row.cpu;
		/* What it has run since its last switch is not in cpu yet. */
		if (now.row.state == FIBER_RUNNING && !ins_look_waits(&now))
			used += (uint64_t)(now.row.age < time ? now.row.age : time);
	}
	used = used * 100 / carriers / (uint64_t)time;
	return used > 100 ? 100 : (int)used;
}

static void put_rest(FILE *out, const struct ins_look *look, bool else_)
{
	uint64_t counts[REST_COUNT] = {0}, runnable = 0, running = 0;
	size_t i, n = ins_look_count(look);
	const int busy = busy_percent(look);
	struct ins_fiber fiber;

	for (i = 0; i < n; i++) {
		ins_look_get(look, i, &fiber);
		if (ins_look_waits(&fiber))
			counts[rest_of(&fiber.row)]++;
		else if (fiber.row.state == FIBER_RUNNABLE)
			runnable++;
		else if (fiber.row.state == FIBER_RUNNING)
			running++;
	}
	fputs(else_ ? "nothing else: " : "nothing found: ", out);
	for (i = 0; i < REST_COUNT; i++)
		if (counts[i])
			fprintf(out, "%" PRIu64 " %s, ", counts[i],
				counts[i] == 1 ? one[i] : more[i]);
	fprintf(out, "%" PRIu64 " running, %" PRIu64 " runnable", running, runnable);
	if (busy >= 0)
		fprintf(out, ", carriers %d %% busy", busy);
	fputc('\n', out);
}

static void put_more(FILE *out, const struct ins_finding *f, const char *tool, const char *who)
{
	char text[1024];
	size_t i;

	for (i = 0; i < 2 && f->more[i]; i++) {
		fprintf(out, "%s%s %s %s", i ? "; " : "  more: ", tool, f->more[i],
			ins_escape(who, text, sizeof text));
		if (f->more_id[i])
			fprintf(out, " %" PRIu64, f->more_id[i]);
	}
	if (i)
		fputc('\n', out);
}

void ins_text_why(FILE *out, const struct ins_look *look, const struct ins_findings *findings,
		  const char *tool, const char *who)
{
	const size_t shown = findings->count < INS_WHY_SCREEN ? findings->count : INS_WHY_SCREEN;
	char name[256];
	size_t i, k;

	ins_escape(look->source->name, name, sizeof name);
	for (i = 0; i < shown; i++) {
		const struct ins_finding *f = &findings->all[i];

		if (look->source->pid)
			fprintf(out, "%s (pid %d): %s\n", name, (int)look->source->pid,
				f->headline);
		else
			fprintf(out, "%s: %s\n", name, f->headline);
		for (k = 0; k < INS_FINDING_LINES && f->evidence[k][0]; k++)
			fprintf(out, "  %s\n", f->evidence[k]);
		put_more(out, f, tool, who);
	}
	if (shown < findings->count)
		fprintf(out, "... and %zu more findings; see --json\n",
			findings->count - shown + findings->more);
	put_rest(out, look, findings->count);
	if (findings->count && strcmp(look->source->kind, "core") == 0)
		fputs("a core has no clock: each time above is the shortest that it can have "
		      "been\n",
		      out);
}

static json_t *evidence_of(const struct ins_finding *f)
{
	json_t *lines = json_array();
	size_t i;

	for (i = 0; i < INS_FINDING_LINES && f->evidence[i][0]; i++)
		if (json_array_append_new(lines, ins_json_text(f->evidence[i])) < 0) {
			json_decref(lines);
			return NULL;
		}
	return lines;
}

json_t *ins_json_finding(const struct ins_finding *f)
{
	return json_pack("{s:o, s:s, s:I, s:o, s:o, s:o, s:o}", "rule",
			 ins_json_text(f->rule->name), "severity",
			 f->severity == INS_LASTS ? "lasting" : "slow", "fibers",
			 (json_int_t)f->fibers, "fiberIds", ins_json_sample(&f->ids), "place",
			 ins_json_text(f->place[0] ? f->place : NULL), "text",
			 ins_json_text(f->headline), "evidence", evidence_of(f));
}
