/* SPDX-License-Identifier: MIT */
/*
 * render_page.c - write the data of the page
 *
 * The page is a text of this project with one place for JSON. Names in the JSON come from a program
 * that may be hostile. So the JSON is ASCII, and "<" is written as \u003c, which is the same text
 * and cannot end a script. People read the page, so each text is escaped (escape.h): no text
 * changes the direction of a line or has invisible characters.
 *
 * A browser draws a few hundred thousand slices. If there are more, slices are left out from the
 * end, and the page says from which time on.
 */
#include "inspect/render/render_page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/render/render.h"
#include "inspect/render/render_account.h"
#include "inspect/text/escape.h"

static const char mark[] = "@DATA@";

struct paging {
	const struct ins_recording *recording;
	const struct ins_replay *replay;
	json_t *slices, *wakeups;
	size_t count, left_out;
	size_t rows;	    /* rows of a table, at most */
	int64_t full_until; /* ns; 0: all slices are there */
};

static json_t *number(int64_t n)
{
	return json_integer((json_int_t)n);
}

static int64_t index_of(const struct paging *p, uint64_t fiber)
{
	const struct ins_fiber_table *fiber_table = ins_replay_fibers(p->replay);
	const struct ins_fiber_table_entry *life = ins_fiber_table_find(fiber_table, fiber);

	return life ? life - fiber_table->at : -1;
}

/* One slice: [fiber, doing, from, to, ring or what it waits for, flags] */
static void take_slice(void *context, const struct ins_slice *s)
{
	struct paging *p = context;
	const int64_t began = p->recording->head.began;
	char text[512];
	json_t *row;

	if (p->count >= INS_PAGE_SLICES && !(s->flags & INS_SLICE_GOES_ON)) {
		if (!p->full_until)
			p->full_until = s->from - began;
		p->left_out++;
		return;
	}
	p->count++;
	row = json_array();
	json_array_append_new(row, number((int64_t)s->index));
	json_array_append_new(row, number(s->doing));
	json_array_append_new(row, number(s->from - began));
	json_array_append_new(row, number(s->to - began));
	if (s->doing == INS_DOING_WAITING || s->doing == INS_DOING_PINNED)
		json_array_append_new(
			row, ins_json_text(ins_recording_wait(p->recording, s->kind, s->object,
							      s->arg, text, sizeof text)));
	else
		json_array_append_new(row,
				      number(s->doing != INS_DOING_RUNNING || s->ring == INS_NO_RING
						     ? -1
						     : (int64_t)s->ring));
	json_array_append_new(row, number(s->flags));
	json_array_append_new(p->slices, row);
}

/* One wakeup: [when, waker or -1, woken, spawn] */
static void take_wakeup(void *context, const struct ins_wakeup *u)
{
	struct paging *p = context;
	json_t *row;

	if (p->count >= INS_PAGE_SLICES)
		return;
	row = json_array();
	json_array_append_new(row, number(u->ns - p->recording->head.began));
	json_array_append_new(row, number(u->waker ? index_of(p, u->waker) : -1));
	json_array_append_new(row, number(index_of(p, u->fiber)));
	json_array_append_new(row, number(u->spawn));
	json_array_append_new(p->wakeups, row);
}

static json_t *fibers(const struct paging *p, const struct ins_account *a)
{
	json_t *rows = json_array();
	size_t i;

	for (i = 0; i < a->fibers; i++) {
		const uint64_t id = ins_replay_fibers(p->replay)->at[i].id;
		const uint64_t entry = ins_replay_fibers(p->replay)->at[i].entry;

		json_array_append_new(
			rows,
			json_pack("{s:o, s:o, s:o, s:o}", "id", number((int64_t)id), "name",
				  ins_json_text(ins_recording_name(p->recording, id)), "function",
				  ins_json_text(entry ? ins_recording_place(p->recording, entry)
						      : NULL),
				  "runningNs", number(a->fiber[i].running)));
	}
	return rows;
}

static json_t *rings(const struct ins_recording *r)
{
	json_t *rows = json_array();
	size_t i;

	for (i = 0; i < r->rings; i++)
		json_array_append_new(rows,
				      json_pack("{s:o, s:o, s:o, s:o}", "runtime",
						number((int64_t)r->ring[i].runtime), "carrier",
						r->ring[i].carrier == FIB_EVENT_OUTSIDE
							? json_null()
							: number(r->ring[i].carrier),
						"events", number((int64_t)r->ring[i].events),
						"lost", number((int64_t)r->ring[i].lost)));
	return rows;
}

static json_t *data(struct paging *p, const struct ins_account *a)
{
	const struct ins_recording *r = p->recording;
	json_t *o = json_object();

	json_object_set_new(o, "program", ins_json_text(r->head.name));
	json_object_set_new(o, "host", ins_json_text(r->head.host));
	json_object_set_new(o, "pid", number(r->head.pid));
	json_object_set_new(o, "wallNs", number(r->head.wall));
	json_object_set_new(o, "lengthNs", number(a->length));
	json_object_set_new(o, "lost", number((int64_t)r->lost));
	json_object_set_new(o, "slicesLeftOut", number((int64_t)p->left_out));
	json_object_set_new(o, "fullUntilNs", number(p->full_until));
	json_object_set_new(o, "rings", rings(r));
	json_object_set_new(o, "fibers", fibers(p, a));
	json_object_set(o, "slices", p->slices);
	json_object_set(o, "wakeups", p->wakeups);
	json_object_set_new(o, "totals", ins_account_totals(a));
	json_object_set_new(o, "carriers", ins_account_carriers(r, a));
	json_object_set_new(o, "functions", ins_account_functions(r, a, p->rows));
	json_object_set_new(o, "waits", ins_account_waits(r, a, p->rows));
	json_object_set_new(o, "stacks", ins_account_stacks(a, p->rows));
	json_object_set_new(o, "counts", ins_account_counts(a));
	json_object_set_new(o, "looks", number((int64_t)r->looks));
	return o;
}

static bool is_plain(const char *text)
{
	size_t n;

	while ((n = ins_utf8_printable(text)))
		text += n;
	return !*text;
}

/* Escape all texts in value, at any depth. Returns 0 or -ENOMEM. */
static int make_plain(json_t *value)
{
	const char *key;
	size_t i, size;
	json_t *inner;
	char *text;
	int rc = 0;

	json_array_foreach (value, i, inner)
		if (make_plain(inner) < 0)
			return -ENOMEM;
	json_object_foreach (value, key, inner)
		if (make_plain(inner) < 0)
			return -ENOMEM;
	if (!json_is_string(value) || is_plain(json_string_value(value)))
		return 0;
	size = json_string_length(value) * 4 + 1;
	text = malloc(size);
	if (!text || json_string_set(value, ins_escape(json_string_value(value), text, size)) < 0)
		rc = -ENOMEM;
	free(text);
	return rc;
}

/* Write a piece of ASCII JSON with "<" escaped. */
static int put_safely(const char *buffer, size_t size, void *context)
{
	FILE *out = context;
	size_t i;

	for (i = 0; i < size; i++) {
		if (buffer[i] == '<')
			fputs("\\u003c", out);
		else
			putc(buffer[i], out);
	}
	return ferror(out) ? -1 : 0;
}

int ins_page(FILE *out, const char *page, size_t size, const struct ins_recording *recording,
	     struct ins_replay *replay, const struct ins_account *account, size_t rows)
{
	static const struct ins_replay_ops ops = {take_slice, take_wakeup, NULL};
	struct paging p = {.recording = recording, .replay = replay, .rows = rows};
	const char *at = memmem(page, size, mark, sizeof mark - 1);
	json_t *all;
	int rc = 0;

	if (!at)
		return -EINVAL;
	p.slices = json_array();
	p.wakeups = json_array();
	ins_replay_play(replay, &ops, &p);
	all = data(&p, account);
	rc = make_plain(all);
	fwrite(page, 1, (size_t)(at - page), out);
	if (rc == 0 && json_dump_callback(all, put_safely, out, JSON_COMPACT | JSON_ENSURE_ASCII))
		rc = -EIO;
	at += sizeof mark - 1;
	fwrite(at, 1, size - (size_t)(at - page), out);
	json_decref(all);
	json_decref(p.slices);
	json_decref(p.wakeups);
	return ferror(out) ? -EIO : rc;
}
