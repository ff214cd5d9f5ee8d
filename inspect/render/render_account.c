/* SPDX-License-Identifier: MIT */
/* render_account.c - print where time went, in tables */
#include "inspect/render/render_account.h"

#include <inttypes.h>
#include <string.h>

#include "inspect/text/escape.h"
#include "inspect/render/render.h"
#include "inspect/text/duration.h"

#define TEXT  512
#define PLACE 3 /* calls that say where */

static const char *time_of(int64_t ns, char buf[32])
{
	return ins_duration_text(ns, buf, 32);
}

/*
 * The largest of `count` times: the member at `first`, and the same member of the structs after that
 * one, `size` bytes apart.
 */
static int64_t largest_of(const int64_t *first, size_t count, size_t size)
{
	int64_t largest = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		const int64_t ns = *(const int64_t *)((const char *)first + i * size);

		largest = ns > largest ? ns : largest;
	}
	return largest;
}

#define LARGEST(rows, count, member) \
	((count) ? largest_of(&(rows)->member, (count), sizeof *(rows)) : 0)

/* A time of a column: each column has one unit. */
static const char *in_column(int64_t ns, int64_t largest, char buf[32])
{
	return ins_duration_column(ns, largest, buf, 32);
}

static double percent(int64_t part, int64_t all)
{
	return all > 0 ? 100.0 * (double)part / (double)all : 0;
}

/* -- text -- */

/* Printed first, because lost events make the rest uncertain. */
static void put_lost(FILE *out, const struct ins_recording *r, const struct ins_account *a)
{
	char t[32];

	if (r->lost)
		fprintf(out,
			"%" PRIu64
			" event%s lost: what happened meanwhile is not known, for %s of all "
			"fibers' time together;\n%" PRIu64
			" %s lasted at least as long as is said here: how %s ended was lost.\n\n",
			r->lost, r->lost == 1 ? " was" : "s were", time_of(a->all.unknown, t),
			a->all.cut,
			a->all.cut == 1 ? "wait, turn or the like" : "waits, turns and the like",
			a->all.cut == 1 ? "it" : "they");
	else if (a->all.unknown)
		fprintf(out,
			"what fibers did is not known for %s of all their time together: it began "
			"before a carrier had heard of the recording.\n\n",
			time_of(a->all.unknown, t));
}

static void put_head(FILE *out, const struct ins_recording *r, const struct ins_account *a)
{
	const struct ins_counts *n = &a->counts;
	char name[320], t[5][32];

	fprintf(out, "%s (process %d): %s, %zu fiber%s, %zu event%s, %" PRIu64 " lost\n\n",
		ins_escape_quoted(r->head.name, name, sizeof name), (int)r->head.pid,
		time_of(a->length, t[0]), a->fibers, a->fibers == 1 ? "" : "s", r->events,
		r->events == 1 ? "" : "s", r->lost);
	put_lost(out, r, a);
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
	const int64_t most = LARGEST(a->carried, a->carrieds, running);
	char t[32];
	size_t i;

	fprintf(out, "\n%-8s %8s %7s %10s %10s\n", "RUNTIME", "CARRIER", "BUSY", "RUNNING",
		"TURNS");
	for (i = 0; i < a->carrieds; i++) {
		const struct ins_carried *c = &a->carried[i];

		fprintf(out, "%-8" PRIu64 " %8u %6.1f%% %10s %10" PRIu64 "\n",
			r->ring[c->ring].runtime, r->ring[c->ring].carrier,
			percent(c->running, a->length), in_column(c->running, most, t), c->turns);
	}
}

static const char *function(const struct ins_recording *r, uint64_t entry, char *buf, size_t size)
{
	const char *name = entry ? ins_recording_place(r, entry) : NULL;

	if (name)
		return ins_escape(name, buf, size);
	if (entry)
		snprintf(buf, size, "0x%" PRIx64, entry);
	else
		snprintf(buf, size, "(not known)");
	return buf;
}

static void put_shown(FILE *out, size_t n, size_t rows)
{
	if (n > rows)
		fprintf(out, "shown %zu of %zu; --all shows them all\n", rows, n);
}

static void put_functions(FILE *out, const struct ins_recording *r, const struct ins_account *a,
			  size_t rows)
{
	const size_t n = a->rans < rows ? a->rans : rows;
	const int64_t running = LARGEST(a->ran, n, spent.running);
	const int64_t runnable = LARGEST(a->ran, n, spent.runnable);
	const int64_t waiting = LARGEST(a->ran, n, spent.waiting);
	char t[3][32], text[TEXT];
	size_t i;

	fprintf(out, "\n%8s %10s %10s %10s %10s  %s\n", "FIBERS", "RUNNING", "RUNNABLE", "WAITING",
		"TURNS", "FUNCTION");
	for (i = 0; i < n; i++) {
		const struct ins_ran *f = &a->ran[i];

		fprintf(out, "%8" PRIu64 " %10s %10s %10s %10" PRIu64 "  %s\n", f->fibers,
			in_column(f->spent.running, running, t[0]),
			in_column(f->spent.runnable, runnable, t[1]),
			in_column(f->spent.waiting, waiting, t[2]), f->spent.turns,
			function(r, f->entry, text, sizeof text));
	}
	put_shown(out, a->rans, rows);
}

/* The innermost calls of the program, and the library calls that they made. */
static const char *place_of(const char *stack, char *buf, size_t size)
{
	const char *end = strstr(stack, ";fiber_"), *from;
	char part[TEXT];
	int calls = PLACE;

	end = end ? end + 1 + strcspn(end + 1, ";") : stack + strlen(stack);
	for (from = end; from > stack && !(from[-1] == ';' && --calls == 0); from--)
		;
	snprintf(part, sizeof part, "%.*s", (int)(end - from), from);
	return ins_escape(part, buf, size);
}

static void put_place(FILE *out, const struct ins_waited *w)
{
	char text[TEXT];

	if (w->stack)
		fprintf(out, ", in %s", place_of(w->stack, text, sizeof text));
	else if (!w->named && !w->pinned)
		fputs(", not sampled", out);
	if (w->cut)
		fprintf(out, ", %" PRIu64 " cut short", w->cut);
	putc('\n', out);
}

static void put_waits(FILE *out, const struct ins_recording *r, const struct ins_account *a,
		      size_t rows)
{
	const size_t n = a->waiteds < rows ? a->waiteds : rows;
	const int64_t all = LARGEST(a->waited, n, ns), median = LARGEST(a->waited, n, median);
	const int64_t most = LARGEST(a->waited, n, most);
	char t[3][32], text[TEXT];
	size_t i;

	fprintf(out, "\n%10s %10s %10s %10s %8s  %s\n", "WAITING", "MEDIAN", "LONGEST", "WAITS",
		"AT END", "FOR");
	for (i = 0; i < n; i++) {
		const struct ins_waited *w = &a->waited[i];

		fprintf(out, "%10s %10s %10s %10" PRIu64 " %8" PRIu64 "  %s%s",
			in_column(w->ns, all, t[0]), in_column(w->median, median, t[1]),
			in_column(w->most, most, t[2]), w->waits, w->fibers,
			ins_account_for(r, w, text, sizeof text), w->pinned ? ", pinned" : "");
		put_place(out, w);
	}
	put_shown(out, a->waiteds, rows);
}

/* The same with all objects of one kind of wait merged. */
static void put_kinds(FILE *out, const struct ins_recording *r, const struct ins_account *a)
{
	struct ins_waited kind[512] = {0}; /* the second half: pinned */
	char t[2][32], text[TEXT];
	int64_t all, most;
	size_t i;

	for (i = 0; i < a->waiteds; i++) {
		const struct ins_waited *w = &a->waited[i];
		struct ins_waited *k = &kind[256 * w->pinned + w->kind];

		ins_add_ns(&k->ns, w->ns);
		k->waits += w->waits;
		k->fibers += w->fibers;
		if (w->most > k->most)
			k->most = w->most;
	}
	all = LARGEST(kind, 512, ns);
	most = LARGEST(kind, 512, most);
	fprintf(out, "\n%10s %10s %10s %8s  %s\n", "WAITING", "LONGEST", "WAITS", "AT END", "IN");
	for (i = 0; i < 512; i++) {
		const struct ins_waited *k = &kind[i];

		if (k->waits)
			fprintf(out, "%10s %10s %10" PRIu64 " %8" PRIu64 "  %s%s\n",
				in_column(k->ns, all, t[0]), in_column(k->most, most, t[1]),
				k->waits, k->fibers,
				ins_escape(ins_recording_kind(r, (unsigned)i % 256), text,
					   sizeof text),
				i / 256 ? ", pinned" : "");
	}
}

/* Round down to a tenth, so that less than 100 % is never printed as 100. */
static double floor_of(double percent)
{
	return (double)(int64_t)(percent * 10) / 10;
}

static void put_stacks(FILE *out, const struct ins_recording *r, const struct ins_account *a,
		       size_t rows)
{
	const int64_t rest = a->all.waiting - a->sampled;
	const size_t n = a->stack_waits_count < rows ? a->stack_waits_count : rows;
	const int64_t most = LARGEST(a->stack_waits, n, most);
	int64_t all = LARGEST(a->stack_waits, n, ns);
	char t[2][32], times[32] = "once", text[4096];
	size_t i;

	if (r->looks > 1)
		snprintf(times, sizeof times, "%zu times", r->looks);
	if (!r->looks) {
		fputs("\nstacks: none were sampled\n", out);
		return;
	}
	fprintf(out,
		"\nstacks, sampled %s: %s of %s waiting, %.1f%%, in waits that were sampled "
		"while they lasted\n",
		times, time_of(a->sampled, t[0]), time_of(a->all.waiting, t[1]),
		floor_of(percent(a->sampled, a->all.waiting)));
	fprintf(out, "%10s %10s %10s %8s  %s\n", "WAITING", "LONGEST", "WAITS", "FIBERS", "STACK");
	if (a->all.waits > a->sampled_waits && rest > all)
		all = rest;
	for (i = 0; i < n; i++)
		fprintf(out, "%10s %10s %10" PRIu64 " %8" PRIu64 "  %s\n",
			in_column(a->stack_waits[i].ns, all, t[0]),
			in_column(a->stack_waits[i].most, most, t[1]), a->stack_waits[i].waits,
			a->stack_waits[i].fibers,
			ins_escape(a->stack_waits[i].stack, text, sizeof text));
	if (a->all.waits > a->sampled_waits)
		fprintf(out, "%10s %10s %10" PRIu64 " %8s  (not sampled)\n",
			in_column(rest, all, t[0]), "", a->all.waits - a->sampled_waits, "");
	put_shown(out, a->stack_waits_count, rows);
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
	put_stacks(out, r, a, rows);
}
