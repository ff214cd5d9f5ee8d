/* SPDX-License-Identifier: MIT */
/*
 * render_json.c - print fibers and groups as JSON
 *
 * Every key is always present; unknown or inapplicable values are null. So a script can tell a
 * misspelt key from a missing value. The answer is written row by row; totals follow the rows, when
 * they are known.
 */
#include "inspect/render/render.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fiber/fiber.h>

#include "inspect/symbols/shown.h"
#include "inspect/text/timestamp.h"
#include "inspect/text/escape.h"
#include "inspect/text/json_put.h"

json_t *ins_json_text(const char *text)
{
	char small[512], *clean = small;
	size_t used = 0, room;
	json_t *ret;

	if (!text)
		return json_null();
	room = strlen(text) * 3 + 1; /* each bad byte becomes the three bytes of U+FFFD */
	if (room > sizeof small)
		clean = malloc(room);
	if (!clean)
		return NULL;
	clean[0] = 0;
	while (*text) {
		size_t n = ins_utf8_length(text);

		memcpy(clean + used, n ? text : "\xef\xbf\xbd", n ? n : 3);
		used += n ? n : 3;
		text += n ? n : 1;
	}
	ret = json_stringn(clean, used);
	if (clean != small)
		free(clean);
	return ret;
}

json_t *ins_json_address(uint64_t address)
{
	char text[32];

	snprintf(text, sizeof text, "0x%" PRIx64, address);
	return json_string(text);
}

static json_t *number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static json_t *number_if(bool known, uint64_t n)
{
	return known ? number(n) : json_null();
}

static json_t *text_if(const char *text)
{
	return text && text[0] ? ins_json_text(text) : json_null();
}

static json_t *address_if(uint64_t address)
{
	return address ? ins_json_address(address) : json_null();
}

static json_t *wait_object(const struct fib_layout *layout, const struct ins_fiber *fiber)
{
	const struct fib_row *row = &fiber->row;
	const int64_t left = ins_fiber_left(fiber);
	bool thread = (row->holder & FIB_HOLDER_THREAD) != 0;
	bool arg = row->wait_arg != FIB_ROW_UNKNOWN;
	bool fd = arg && row->wait_kind == FIB_WAIT_FD;
	char events[64];

	if (row->wait_kind == FIB_WAIT_NONE)
		return json_null();
	if (fd)
		ins_words_events((unsigned)(row->wait_arg >> 32), events, sizeof events);
	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
		/* in the documented order */
		"kind", ins_json_text(ins_words_wait_kind(layout, row->wait_kind)), "object",
		address_if(row->wait_object), "objectName", text_if(row->object_name), "holderId",
		number_if(row->holder && !thread, row->holder), "holderThread",
		number_if(thread, row->holder & ~FIB_HOLDER_THREAD), "fd",
		number_if(fd && (uint32_t)row->wait_arg != UINT32_MAX, (uint32_t)row->wait_arg),
		"events", fd ? ins_json_text(events) : json_null(), "deadlineNs",
		number_if(row->deadline != INT64_MAX, (uint64_t)row->deadline), "leftNs",
		number_if(left >= 0, (uint64_t)left), "targetId",
		number_if(arg && row->wait_kind == FIB_WAIT_JOIN, ins_words_id(row->wait_arg)));
}

static json_t *spawn_object(const struct fib_row *row, struct ins_symbols *symbols)
{
	const struct ins_frame *f = NULL;
	size_t count;

	if (symbols && row->spawn_pc)
		f = ins_symbols_at(symbols, row->spawn_pc, true, &count);
	return json_pack("{s:o, s:o, s:o, s:o}", "pc", address_if(row->spawn_pc), "function",
			 ins_json_text(f ? f->function : NULL), "file",
			 ins_json_text(f ? f->file : NULL), "line",
			 number_if(f && f->file, f ? (uint64_t)f->line : 0));
}

/* The name of the fiber's function. */
static json_t *entry_text(const struct fib_row *row, struct ins_symbols *symbols)
{
	const struct ins_frame *f;
	size_t count;

	if (!symbols || !row->entry)
		return json_null();
	f = ins_symbols_at(symbols, row->entry, false, &count);
	return ins_json_text(f[count - 1].function);
}

static json_t *frame_object(const struct ins_frame *f, bool internal)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b}", "pc", ins_json_address(f->pc),
			 "function", ins_json_text(f->function), "offset",
			 number_if(f->has_offset, f->offset), "module", text_if(f->module), "file",
			 ins_json_text(f->file), "line", number_if(f->file, (uint64_t)f->line),
			 "inlined", f->inlined, "internal", internal);
}

json_t *ins_json_frames(struct ins_symbols *symbols, const struct ins_walk *walk)
{
	json_t *frames = json_array();
	unsigned i, shown = 0;
	size_t k;

	for (i = 0; symbols && frames && i < walk->count; i++) {
		const struct ins_shown at = ins_shown_at(symbols, walk, i);

		for (k = 0; k < at.count && !(walk->limit && shown == walk->limit); k++) {
			if (json_array_append_new(
				    frames,
				    frame_object(&at.frames[k], ins_shown_internal(&at, k))) < 0) {
				json_decref(frames);
				return NULL;
			}
			shown += k >= at.first && k < at.end;
		}
	}
	return frames;
}

static json_t *labels_object(const struct fib_row *row)
{
	json_t *labels = json_object();
	const char *key, *value;
	size_t at = 0;

	while (labels && fib_row_label(row, &at, &key, &value)) {
		json_t *name = ins_json_text(key);

		/* Keys with invalid UTF-8 are cleaned like values. */
		if (!name || json_object_set_new(labels, json_string_value(name),
						 ins_json_text(value)) < 0) {
			json_decref(labels);
			labels = NULL;
		}
		json_decref(name);
	}
	return labels;
}

static json_t *counted(uint64_t ns)
{
	return number_if(ns != FIB_ROW_UNKNOWN, ns);
}

json_t *ins_json_name(const struct ins_fiber *fiber)
{
	return ins_json_text(fiber->flags & INS_FIBER_NAMED ? "" : fiber->row.name);
}

json_t *ins_json_fiber(const struct fib_layout *layout, const struct ins_fiber *fiber,
		       struct ins_symbols *symbols, const struct ins_walk *walk)
{
	const bool thread = fiber->flags & INS_FIBER_THREAD;
	const struct fib_row *row = &fiber->row;
	json_t *stack, *ret;

	/* Where the stack of a thread begins and ends was not looked up. */
	stack = json_pack("{s:o, s:o, s:o, s:o}", "address",
			  address_if(thread ? 0 : row->stack_low), "size",
			  number(thread ? 0 : row->stack_size), "used",
			  number_if(!thread && (row->state != FIBER_RUNNING || row->stack_used),
				    row->stack_used),
			  "highWater", counted(row->stack_high_water));
	if (stack && fib_row_astray(row))
		json_object_set_new(stack, "pointerOutside", json_true());
	ret = json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:o, "
		"s:o, s:o, s:o, s:o, s:o}",
		"id", number(ins_words_id(row->id)), "parentId", number(row->parent), "name",
		ins_json_name(fiber), "state", ins_json_text(ins_words_state(layout, row->state)),
		"ageNs", number_if(!thread, (uint64_t)row->age), "switches", number(row->switches),
		"cpuNs", counted(row->cpu), "runnableNs", counted(row->runnable), "waitedNs",
		counted(row->waited), "livedNs", counted(row->lived), "pins", number(row->pins),
		"cancelled", row->cancelled, "masked", (row->flags & FIB_ROW_MASKED) != 0,
		"carrier", number_if(row->carrier != FIB_ROW_CARRIER_NONE, row->carrier), "wait",
		wait_object(layout, fiber), "stack", stack, "entry", entry_text(row, symbols),
		"spawn", spawn_object(row, symbols), "labels", labels_object(row));
	if (ret && row->id & FIB_HOLDER_THREAD)
		json_object_set_new(ret, "thread", json_true());
	if (ret && walk &&
	    (json_object_set_new(ret, "frames", ins_json_frames(symbols, walk)) < 0 ||
	     json_object_set_new(ret, "framesLeftOut", number(walk->left)) < 0 ||
	     json_object_set_new(ret, "paused", json_boolean(fiber->flags & INS_FIBER_PAUSED)) <
		     0 ||
	     json_object_set_new(ret, "switching",
				 json_boolean(fiber->flags & INS_FIBER_SWITCHING)) < 0 ||
	     json_object_set_new(ret, "truncated", json_boolean(walk->truncated)) < 0)) {
		json_decref(ret);
		return NULL;
	}
	return ret;
}

json_t *ins_json_distribution(json_t *to, const struct ins_distribution *distribution)
{
	if (json_object_set_new(to, "min", number((uint64_t)distribution->min)) == 0 &&
	    json_object_set_new(to, "median", number((uint64_t)distribution->median)) == 0 &&
	    json_object_set_new(to, "max", number((uint64_t)distribution->max)) == 0)
		return to;
	json_decref(to);
	return NULL;
}

json_t *ins_json_sample(const struct ins_sample *ids)
{
	json_t *ret = json_array();
	unsigned i;

	/* Threads beside fibers are left out. */
	for (i = 0; ret && i < ids->count; i++)
		if (!(ids->id[i] & FIB_HOLDER_THREAD))
			json_array_append_new(ret, number(ids->id[i]));
	return ret;
}

json_t *ins_json_group(const struct fib_layout *layout, const struct ins_group *group,
		       struct ins_symbols *symbols)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "key",
			 ins_json_text(group->key ? group->key->text : NULL), "count",
			 number(group->count), "fiberIds", ins_json_sample(&group->ids), "ageNs",
			 group->fiber.flags & INS_FIBER_THREAD
				 ? json_null()
				 : ins_json_distribution(json_object(), &group->ages),
			 "state", ins_json_text(ins_words_state(layout, group->fiber.row.state)),
			 "wait", wait_object(layout, &group->fiber), "frames",
			 ins_json_frames(symbols, group->walk), "framesLeftOut",
			 number(group->walk->left), "truncated", group->walk->truncated);
}

json_t *ins_json_count(const char *field, const struct ins_count *count)
{
	return json_pack(
		"{s:o, s:o, s:o, s:o, s:o, s:o}", "field", ins_json_text(field), "value",
		ins_json_text(!count->known ? NULL
			      : count->text ? count->text
					    : count->value),
		"count", number(count->count), "fiberIds", ins_json_sample(&count->ids), "ageNs",
		count->threads ? json_null() : ins_json_distribution(json_object(), &count->ages),
		"cpuNs", number(count->cpu));
}

static void dump(struct ins_json *json, json_t *value)
{
	if (!value || ins_json_put(json->out, value) < 0)
		json->failed = true;
	json_decref(value);
}

static bool as_lines;

void ins_json_lines(void)
{
	as_lines = true;
}

static void put_key(struct ins_json *json, const char *key, json_t *value)
{
	fprintf(json->out, "%s\"%s\":", json->first ? "" : as_lines ? "," : ",\n", key);
	json->first = false;
	dump(json, value);
}

void ins_json_begin(struct ins_json *json, FILE *out, pid_t pid, const char *name,
		    const char *source, const char *rows)
{
	*json = (struct ins_json){.out = out, .first = true};
	if (strcmp(source, "control") == 0 || strcmp(source, "live") == 0)
		json->taken = ins_timestamp_wall();
	fputc('{', out);
	put_key(json, "schemaVersion", json_integer(1));
	put_key(json, "pid", number_if(pid > 0, (uint64_t)pid));
	put_key(json, "name", ins_json_text(name));
	put_key(json, "source", ins_json_text(source));
	if (!rows)
		return;
	if (as_lines)
		put_key(json, "rows", ins_json_text(rows));
	fprintf(out, as_lines ? "}" : ",\n\"%s\":[", rows);
	json->rows = true;
	json->first = true;
}

void ins_json_row(struct ins_json *json, json_t *row)
{
	fputs(json->first || as_lines ? "\n" : ",\n", json->out);
	json->first = false;
	dump(json, row);
}

void ins_json_key(struct ins_json *json, const char *key, json_t *value)
{
	if (json->rows && as_lines) {
		fputs("\n{", json->out);
		json->first = true;
		put_key(json, "end", json_true());
	} else if (json->rows) {
		fputc(']', json->out);
	}
	json->rows = false;
	json->first = false;
	put_key(json, key, value);
}

/* Time and host; a core has neither. */
static void put_taken(struct ins_json *json, const struct ins_summary *summary)
{
	const int64_t taken = summary->taken ? summary->taken : json->taken;
	char here[256] = "";
	const char *host = summary->host;

	if (!summary->taken && json->taken && gethostname(here, sizeof here - 1) == 0)
		host = here;
	ins_json_key(json, "takenNs", number_if(taken > 0, (uint64_t)taken));
	ins_json_key(json, "host", taken ? text_if(host) : json_null());
}

int ins_json_end(struct ins_json *json, const struct ins_summary *summary,
		 const struct ins_problems *problems)
{
	size_t i, lines = ins_problems_lines(problems);
	json_t *texts = json_array();
	char text[640];

	for (i = 0; texts && i < lines; i++)
		json_array_append_new(
			texts, ins_json_text(ins_problems_text(problems, i, text, sizeof text)));
	put_taken(json, summary);
	ins_json_key(json, "sampledNs", number((uint64_t)summary->sampled_ns));
	if (summary->threads)
		ins_json_key(json, "threads", json_true());
	ins_json_key(json, "total", number(summary->total));
	ins_json_key(json, "shown", number(summary->shown));
	ins_json_key(json, "complete", json_boolean(lines == 0));
	ins_json_key(json, "problems", texts);
	fputs("}\n", json->out);
	if (fflush(json->out) != 0 || ferror(json->out))
		return -EIO;
	return json->failed ? -ENOMEM : 0;
}
