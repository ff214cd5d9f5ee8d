/* SPDX-License-Identifier: MIT */
/* render_account.c - where time went, in tables. */
#include "inspect/render_account.h"

#include <inttypes.h>
#include <string.h>

#include "inspect/plain.h"
#include "inspect/render.h"

#define TEXT 512

static const char *time_of(int64_t ns, char buf[32])
{
	return ins_words_duration(ns, buf, 32);
}

static double percent(int64_t part, int64_t all)
{
	return all > 0 ? 100.0 * (double)part / (double)all : 0;
}

/* -- text -- */

static void put_head(FILE *out, const struct ins_recording *r, const struct ins_account *a)
{
	const struct ins_counts *n = &a->counts;
	char name[320], t[5][32];

	fprintf(out, "%s (process %d): %s, %zu fibers, %zu events, %" PRIu64 " lost\n\n",
		ins_words_clean(r->head.name, name, sizeof name), (int)r->head.pid,
		time_of(a->length, t[0]), a->fibers, r->events, r->lost);
	fprintf(out,
		"all fibers together: running %s, runnable %s (longest %s), waiting %s, "
		"pinned waits %s\n",
		time_of(a->all.running, t[0]), time_of(a->all.runnable, t[1]),
		time_of(a->all.runnable_most, t[2]), time_of(a->all.waiting, t[3]),
		time_of(a->all.pinned, t[4]));
	fprintf(out,
		"%" PRIu64 " spawned, %" PRIu64 " ended, %" PRIu64 " turns, %" PRIu64
		" waits, %" PRIu64 " wake-ups, %" PRIu64 " steals, %" PRIu64 " migrations, %" PRIu64
		" pinned waits, %" PRIu64 " long runs\n",
		n->spawns, n->exits, a->all.turns, a->all.waits, n->wakes, n->steals, n->migrations,
		n->pinned, n->slow);
}

static void put_carriers(FILE *out, const struct ins_recording *r, const struct ins_account *a)
{
	char t[32];
	size_t i;

	fprintf(out, "\n%-8s %8s %7s %10s %10s\n", "RUNTIME", "CARRIER", "BUSY", "RUNNING",
		"TURNS");
	for (i = 0; i < a->carrieds; i++) {
		const struct ins_carried *c = &a->carried[i];

		fprintf(out, "%-8" PRIu64 " %8u %6.1f%% %10s %10" PRIu64 "\n",
			r->ring[c->ring].runtime, r->ring[c->ring].carrier,
			percent(c->running, a->length), time_of(c->running, t), c->turns);
	}
}

static const char *function(const struct ins_recording *r, uint64_t entry, char *buf, size_t size)
{
	const char *name = entry ? ins_recording_place(r, entry) : NULL;

	if (name)
		return ins_plain(name, buf, size);
	if (entry)
		snprintf(buf, size, "0x%" PRIx64, entry);
	else
		snprintf(buf, size, "(not known)");
	return buf;
}

static void more(FILE *out, size_t n, size_t rows)
{
	if (n > rows)
		fprintf(out, "... and %zu more\n", n - rows);
}

static void put_functions(FILE *out, const struct ins_recording *r, const struct ins_account *a,
			  size_t rows)
{
	char t[4][32], text[TEXT];
	size_t i;

	fprintf(out, "\n%8s %10s %10s %10s %10s  %s\n", "FIBERS", "RUNNING", "RUNNABLE", "WAITING",
		"TURNS", "FUNCTION");
	for (i = 0; i < a->rans && i < rows; i++) {
		const struct ins_ran *f = &a->ran[i];

		fprintf(out, "%8" PRIu64 " %10s %10s %10s %10" PRIu64 "  %s\n", f->fibers,
			time_of(f->spent.running, t[0]), time_of(f->spent.runnable, t[1]),
			time_of(f->spent.waiting, t[2]), f->spent.turns,
			function(r, f->entry, text, sizeof text));
	}
	more(out, a->rans, rows);
}

static const char *waited(const struct ins_recording *r, const struct ins_waited *w, char *buf,
			  size_t size)
{
	return ins_recording_wait(r, w->kind, w->object, w->arg, buf, size);
}

static void put_waits(FILE *out, const struct ins_recording *r, const struct ins_account *a,
		      size_t rows)
{
	char t[2][32], text[TEXT];
	size_t i;

	fprintf(out, "\n%10s %10s %10s %8s  %s\n", "WAITING", "LONGEST", "WAITS", "AT END", "FOR");
	for (i = 0; i < a->waiteds && i < rows; i++) {
		const struct ins_waited *w = &a->waited[i];

		fprintf(out, "%10s %10s %10" PRIu64 " %8" PRIu64 "  %s%s\n", time_of(w->ns, t[0]),
			time_of(w->most, t[1]), w->waits, w->fibers,
			waited(r, w, text, sizeof text), w->pinned ? ", pinned" : "");
	}
	more(out, a->waiteds, rows);
}

/* The same, all that are waited for in the same way together. */
static void put_kinds(FILE *out, const struct ins_recording *r, const struct ins_account *a)
{
	struct ins_waited kind[2][256] = {0};
	char t[2][32], text[TEXT];
	size_t i;

	for (i = 0; i < a->waiteds; i++) {
		const struct ins_waited *w = &a->waited[i];
		struct ins_waited *k = &kind[w->pinned][w->kind];

		k->ns += w->ns;
		k->waits += w->waits;
		k->fibers += w->fibers;
		if (w->most > k->most)
			k->most = w->most;
	}
	fprintf(out, "\n%10s %10s %10s %8s  %s\n", "WAITING", "LONGEST", "WAITS", "AT END", "IN");
	for (i = 0; i < 512; i++) {
		const struct ins_waited *k = &kind[i / 256][i % 256];

		if (k->waits)
			fprintf(out, "%10s %10s %10" PRIu64 " %8" PRIu64 "  %s%s\n",
				time_of(k->ns, t[0]), time_of(k->most, t[1]), k->waits, k->fibers,
				ins_plain(ins_recording_kind(r, (unsigned)i % 256), text,
					  sizeof text),
				i / 256 ? ", pinned" : "");
	}
}

static void put_stacks(FILE *out, const struct ins_account *a, size_t rows)
{
	char t[32], text[4096];
	size_t i;

	if (!a->stoods)
		return;
	fputs("\nstacks, sampled once, when the recording ended: the waits that fibers were in "
	      "then\n",
	      out);
	fprintf(out, "%10s %8s  %s\n", "WAITING", "FIBERS", "STACK");
	for (i = 0; i < a->stoods && i < rows; i++)
		fprintf(out, "%10s %8" PRIu64 "  %s\n", time_of(a->stood[i].ns, t),
			a->stood[i].fibers, ins_plain(a->stood[i].stack, text, sizeof text));
	more(out, a->stoods, rows);
}

void ins_account_text(FILE *out, const struct ins_recording *r, const struct ins_replay *replay,
		      const struct ins_account *a, size_t rows)
{
	(void)replay;
	put_head(out, r, a);
	put_carriers(out, r, a);
	put_functions(out, r, a, rows);
	put_kinds(out, r, a);
	put_waits(out, r, a, rows);
	put_stacks(out, a, rows);
	if (r->lost)
		fprintf(out,
			"\n%" PRIu64 " events were lost: what happened meanwhile on their carriers "
			"is in no row\n",
			r->lost);
}

/* -- JSON -- */

static json_t *number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static void put_spent(json_t *to, const struct ins_spent *s)
{
	json_object_set_new(to, "runningNs", number((uint64_t)s->running));
	json_object_set_new(to, "runnableNs", number((uint64_t)s->runnable));
	json_object_set_new(to, "runnableMostNs", number((uint64_t)s->runnable_most));
	json_object_set_new(to, "waitingNs", number((uint64_t)s->waiting));
	json_object_set_new(to, "waitingMostNs", number((uint64_t)s->waiting_most));
	json_object_set_new(to, "pinnedNs", number((uint64_t)s->pinned));
	json_object_set_new(to, "turns", number(s->turns));
	json_object_set_new(to, "waits", number(s->waits));
}

json_t *ins_account_totals(const struct ins_account *a)
{
	const struct ins_counts *n = &a->counts;
	json_t *o = json_object();

	put_spent(o, &a->all);
	json_object_set_new(o, "lengthNs", number((uint64_t)a->length));
	json_object_set_new(o, "fibers", number(a->fibers));
	json_object_set_new(o, "spawned", number(n->spawns));
	json_object_set_new(o, "ended", number(n->exits));
	json_object_set_new(o, "wakeups", number(n->wakes));
	json_object_set_new(o, "steals", number(n->steals));
	json_object_set_new(o, "migrations", number(n->migrations));
	json_object_set_new(o, "pinnedWaits", number(n->pinned));
	json_object_set_new(o, "longRuns", number(n->slow));
	return o;
}

json_t *ins_account_carriers(const struct ins_recording *r, const struct ins_account *a)
{
	json_t *rows = json_array();
	size_t i;

	for (i = 0; i < a->carrieds; i++) {
		const struct ins_carried *c = &a->carried[i];

		json_array_append_new(rows, json_pack("{s:o, s:i, s:o, s:o, s:o}", "runtime",
						      number(r->ring[c->ring].runtime), "carrier",
						      (int)r->ring[c->ring].carrier, "runningNs",
						      number((uint64_t)c->running), "turns",
						      number(c->turns), "lostEvents",
						      number(r->ring[c->ring].lost)));
	}
	return rows;
}

json_t *ins_account_functions(const struct ins_recording *r, const struct ins_account *a)
{
	json_t *rows = json_array();
	size_t i;

	for (i = 0; i < a->rans; i++) {
		const struct ins_ran *f = &a->ran[i];
		json_t *row =
			json_pack("{s:o, s:o, s:o}", "function",
				  ins_json_text(f->entry ? ins_recording_place(r, f->entry) : NULL),
				  "pc", f->entry ? ins_json_address(f->entry) : json_null(),
				  "fibers", number(f->fibers));

		put_spent(row, &f->spent);
		json_array_append_new(rows, row);
	}
	return rows;
}

json_t *ins_account_waits(const struct ins_recording *r, const struct ins_account *a)
{
	json_t *rows = json_array();
	char text[TEXT];
	size_t i;

	for (i = 0; i < a->waiteds; i++) {
		const struct ins_waited *w = &a->waited[i];
		const bool fd = w->kind == FIB_WAIT_FD, join = w->kind == FIB_WAIT_JOIN;

		json_array_append_new(
			rows,
			json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "kind",
				  ins_json_text(ins_recording_kind(r, w->kind)), "for",
				  ins_json_text(waited(r, w, text, sizeof text)), "object",
				  w->object && !join ? ins_json_address(w->object) : json_null(),
				  "objectName", ins_json_text(ins_recording_object(r, w->object)),
				  "fd", fd ? number(w->arg) : json_null(), "targetId",
				  join ? number(w->object) : json_null(), "pinned", w->pinned,
				  "waitingNs", number((uint64_t)w->ns), "mostNs",
				  number((uint64_t)w->most), "waits", number(w->waits),
				  "fibersAtEnd", number(w->fibers)));
	}
	return rows;
}

json_t *ins_account_stacks(const struct ins_account *a)
{
	json_t *rows = json_array();
	size_t i;

	for (i = 0; i < a->stoods; i++)
		json_array_append_new(rows, json_pack("{s:o, s:o, s:o}", "stack",
						      ins_json_text(a->stood[i].stack), "fibers",
						      number(a->stood[i].fibers), "waitingNs",
						      number((uint64_t)a->stood[i].ns)));
	return rows;
}
