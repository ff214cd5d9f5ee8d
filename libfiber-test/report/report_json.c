/* SPDX-License-Identifier: MIT */
/* report_json.c - the fibers, the deadlocks and the trace of a schedule as JSON */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <fiber/time.h>

#include "explore/endless.h"
#include "explore/explorer.h"
#include "explore/waits.h"
#include "os/virtual.h"
#include "report/objects.h"
#include "report/place.h"
#include "report/report.h"
#include "report/trace.h"
#include "text/escape.h"

/* 0 stays 0: none, a thread. */
static uint64_t number_of(uint64_t id)
{
	return id >= fib_explorer_first_id() ? id - fib_explorer_first_id() + 1 : 0;
}

static void put_address(FILE *out, const char *key, const void *at)
{
	if (at)
		fprintf(out, "\"%s\":\"0x%" PRIxPTR "\",", key, (uintptr_t)at);
	else
		fprintf(out, "\"%s\":null,", key);
}

/* "function", "file", "line" and no comma behind. */
static void put_place(FILE *out, const void *at)
{
	struct fib_place place = {NULL, NULL, NULL, 0};

	if (at)
		fib_place_of(at, &place);
	fib_put_text_member(out, "function", place.function);
	fib_put_text_member(out, "file", place.path);
	if (place.path)
		fprintf(out, "\"line\":%d", place.line);
	else
		fputs("\"line\":null", out);
}

static const char *events_of(short events)
{
	const bool reads = events & 1, writes = events & 4;

	return reads && writes ? "read|write" : reads ? "read" : writes ? "write" : NULL;
}

static void put_wait(FILE *out, const struct fib_waits *w, size_t i)
{
	const struct fiber_info *info = &w->all[i];
	const struct fib_object *object = fib_objects_at(info->wait_object);
	char label[FIB_OBJECT_LABEL], why[FIB_ENDLESS_ROOM];
	const bool timed = info->deadline != FIBER_FOREVER;
	const int64_t left = info->deadline - fib_virtual_now();

	if (info->state != FIBER_SUSPENDED) {
		fputs("\"wait\":null,", out);
		return;
	}
	fprintf(out, "\"wait\":{\"kind\":\"%s\",", info->wait_kind);
	put_address(out, "object", info->wait_object);
	fib_put_text_member(out, "objectName", info->wait_object_name);
	fib_put_text_member(out, "objectLabel", object ? fib_object_label(object, label) : NULL);
	fib_put_text_member(out, "endless", fib_endless_why(w, i, why));
	fib_put_number_member(out, "holderId", number_of(info->holder_id), info->holder_id != 0);
	fib_put_number_member(out, "holderThread", info->holder_thread, info->holder_thread != 0);
	fib_put_number_member(out, "fd", info->fd, info->fd >= 0);
	fib_put_text_member(out, "events", info->fd >= 0 ? events_of(info->events) : NULL);
	fib_put_number_member(out, "deadlineNs", info->deadline, timed);
	fib_put_number_member(out, "leftNs", left > 0 ? left : 0, timed);
	if (info->target_id)
		fprintf(out, "\"targetId\":%" PRIu64 "},", number_of(info->target_id));
	else
		fputs("\"targetId\":null},", out);
}

static void put_labels(FILE *out, const struct fiber_info *info)
{
	const char *key, *value, *comma = "";
	size_t at = 0;

	fputs("\"labels\":{", out);
	while (fiber_info_label(info, &at, &key, &value)) {
		fputs(comma, out);
		fib_put_json(out, key);
		fputc(':', out);
		fib_put_json(out, value);
		comma = ",";
	}
	fputs("},", out);
}

static void put_fiber(FILE *out, const struct fib_waits *w, size_t i)
{
	const struct fiber_info *info = &w->all[i];
	static const char *const states[] = {"created", "runnable", "running", "suspended", "dead"};
	const uint64_t number = number_of(info->id);
	const struct fib_intent none = {.call = NULL};
	const struct fib_intent *intent =
		number <= fib_explorer_fibers() ? fib_explorer_intent((uint32_t)number) : &none;
	const int64_t age = fib_virtual_now() - info->since;

	fprintf(out, "{\"id\":%" PRIu64 ",\"parentId\":%" PRIu64 ",\"name\":", number,
		number_of(info->parent_id));
	fib_put_json(out, info->name);
	fprintf(out,
		",\"state\":\"%s\",\"ageNs\":%" PRId64 ",\"switches\":%" PRIu64
		",\"cpuNs\":%" PRIu64 ",\"pins\":%u,",
		states[info->state], age > 0 ? age : 0, info->switches, info->cpu_ns, info->pins);
	fib_put_number_member(out, "carrier", info->carrier, info->carrier >= 0);
	put_wait(out, w, i);
	fprintf(out, "\"stack\":{\"address\":null,\"size\":%zu,", info->stack_size);
	fib_put_number_member(out, "used", info->stack_used, info->stack_used != 0);
	if (info->stack_high_water)
		fprintf(out, "\"highWater\":%zu},", info->stack_high_water);
	else
		fputs("\"highWater\":null},", out);
	fputs("\"spawn\":{", out);
	put_address(out, "pc", info->spawn_pc);
	put_place(out, info->spawn_pc);
	fputs("},", out);
	put_labels(out, info);
	fputs("\"call\":{", out);
	fib_put_text_member(out, "op", intent->call);
	put_place(out, intent->call ? intent->at : NULL);
	fputs("}}", out);
}

static void put_deadlock(FILE *out, const struct fib_waits *w, int number)
{
	const struct fib_deadlock *d = &w->deadlocks[number];
	const char *comma = "";
	size_t i = d->first;
	unsigned k;

	fputc('[', out);
	for (k = 0; k < d->count; k++) {
		fprintf(out, "%s%" PRIu64, comma, number_of(w->all[i].id));
		comma = ",";
		if (d->kind != FIB_DEADLOCK_ENDED)
			i = fib_waits_next(w, i);
		else
			while (++i < w->n && w->in[i] != number)
				;
	}
	fputc(']', out);
}

static void put_entry(FILE *out, size_t i)
{
	static const char *const kinds[] = {"run", "choose", "fault", "run", "time"};
	const struct fib_entry *e = fib_trace_at(i);
	const struct fib_object *object = fib_objects_get(e->object);
	const bool noted = e->kind == FIB_ENTRY_NOTE;
	char label[FIB_OBJECT_LABEL];

	fprintf(out, "{\"step\":%zu,\"kind\":\"%s\",", i + 1, kinds[e->kind]);
	fib_put_number_member(out, "fiber", e->number, e->number != 0);
	fib_put_text_member(out, "op", noted ? "fiber_test_note" : e->text);
	put_address(out, "object", object ? object->at : NULL);
	fib_put_text_member(out, "objectName", object ? object->name : NULL);
	fib_put_text_member(out, "objectLabel", object ? fib_object_label(object, label) : NULL);
	fib_put_number_member(out, "targetId", e->target, e->target != 0);
	fib_put_number_member(out, "result", e->chosen, e->kind == FIB_ENTRY_CHOOSE);
	fib_put_text_member(out, "note", noted ? e->text : e->way);
	put_place(out, e->at);
	fprintf(out, ",\"atNs\":%" PRId64 "}", e->now);
}

void fib_report_json(int fd)
{
	FILE *out = fdopen(dup(fd), "w");
	struct fib_waits w;
	size_t i;

	if (!out)
		return;
	fib_waits_read(NULL, fib_explorer_first_id(), &w);
	fputs("\"fibers\":[", out);
	for (i = 0; i < w.n; i++) {
		fputs(i ? ",\n" : "\n", out);
		put_fiber(out, &w, i);
	}
	fputs("],\n\"deadlocks\":[", out);
	for (i = 0; i < w.count; i++) {
		fputs(i ? "," : "", out);
		put_deadlock(out, &w, (int)i);
	}
	fputs("],\n\"trace\":[", out);
	for (i = 0; i < fib_trace_count(); i++) {
		fputs(i ? ",\n" : "\n", out);
		put_entry(out, i);
	}
	fputs("]", out);
	fclose(out);
	fib_waits_free(&w);
}
