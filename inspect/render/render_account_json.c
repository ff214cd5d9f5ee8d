/* SPDX-License-Identifier: MIT */
/* render_account_json.c - print where time went, as JSON */
#include "inspect/render/render.h"
#include "inspect/render/render_account.h"

#define TEXT 512

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
	json_object_set_new(to, "unknownNs", number((uint64_t)s->unknown));
	json_object_set_new(to, "cut", number(s->cut));
	json_object_set_new(to, "turns", number(s->turns));
	json_object_set_new(to, "waits", number(s->waits));
}

json_t *ins_account_totals(const struct ins_account *a)
{
	const struct ins_counts *n = &a->counts;
	json_t *o = json_object();

	put_spent(o, &a->all);
	json_object_set_new(o, "sampledNs", number((uint64_t)a->sampled));
	json_object_set_new(o, "sampledWaits", number(a->sampled_waits));
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

		json_array_append_new(rows, json_pack("{s:o, s:o, s:o, s:o, s:o}", "runtime",
						      number(r->ring[c->ring].runtime), "carrier",
						      number(r->ring[c->ring].carrier), "runningNs",
						      number((uint64_t)c->running), "turns",
						      number(c->turns), "lostEvents",
						      number(r->ring[c->ring].lost)));
	}
	return rows;
}

json_t *ins_account_functions(const struct ins_recording *r, const struct ins_account *a,
			      size_t most)
{
	json_t *rows = json_array();
	size_t i;

	for (i = 0; i < a->rans && i < most; i++) {
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

/* "read", "write", "read|write". */
static json_t *ways(const struct ins_waited *w)
{
	char text[32];

	return w->ways ? ins_json_text(ins_account_ways(w->ways, text, sizeof text)) : json_null();
}

static json_t *wait_row(const struct ins_recording *r, const struct ins_waited *w)
{
	const bool fd = w->kind == FIB_WAIT_FD, join = w->kind == FIB_WAIT_JOIN,
		   one = w->objects == 1;
	char text[TEXT];
	json_t *o = json_object();

	json_object_set_new(o, "kind", ins_json_text(ins_recording_kind(r, w->kind)));
	json_object_set_new(o, "for", ins_json_text(ins_account_for(r, w, text, sizeof text)));
	json_object_set_new(o, "object",
			    one && w->object && !join ? ins_json_address(w->object) : json_null());
	json_object_set_new(o, "objectName",
			    ins_json_text(w->named ? ins_recording_object(r, w->object) : NULL));
	json_object_set_new(o, "fd", fd && one ? number(w->arg) : json_null());
	json_object_set_new(o, "events", ways(w));
	json_object_set_new(o, "targetId", join && one ? number(w->object) : json_null());
	json_object_set_new(o, "objects", number(w->objects));
	json_object_set_new(o, "stack", ins_json_text(w->stack));
	json_object_set_new(o, "pinned", json_boolean(w->pinned));
	json_object_set_new(o, "waitingNs", number((uint64_t)w->ns));
	json_object_set_new(o, "sampledNs", number((uint64_t)w->sampled));
	json_object_set_new(o, "medianNs", number((uint64_t)w->median));
	json_object_set_new(o, "mostNs", number((uint64_t)w->most));
	json_object_set_new(o, "waits", number(w->waits));
	json_object_set_new(o, "cut", number(w->cut));
	json_object_set_new(o, "fibersAtEnd", number(w->fibers));
	return o;
}

json_t *ins_account_waits(const struct ins_recording *r, const struct ins_account *a, size_t most)
{
	json_t *rows = json_array();
	size_t i;

	for (i = 0; i < a->waiteds && i < most; i++)
		json_array_append_new(rows, wait_row(r, &a->waited[i]));
	return rows;
}

json_t *ins_account_stacks(const struct ins_account *a, size_t most)
{
	json_t *rows = json_array();
	size_t i;

	for (i = 0; i < a->stack_waits_count && i < most; i++) {
		const struct ins_stack_waits *s = &a->stack_waits[i];

		json_array_append_new(
			rows, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "stack",
					ins_json_text(s->stack), "fibers", number(s->fibers),
					"waitingNs", number((uint64_t)s->ns), "mostNs",
					number((uint64_t)s->most), "waits", number(s->waits), "cut",
					number(s->cut), "fibersAtEnd", number(s->at_end)));
	}
	return rows;
}

/* The times are unchecked: the difference may overflow. */
static json_t *between(int64_t from, int64_t to)
{
	int64_t ns;

	if (__builtin_sub_overflow(to, from, &ns))
		ns = to < from ? INT64_MIN : INT64_MAX;
	return json_integer((json_int_t)ns);
}

json_t *ins_account_looks(const struct ins_recording *r)
{
	json_t *rows = json_array();
	size_t i;

	for (i = 0; i < r->looks; i++) {
		const struct fib_recording_look *l = &r->look[i];

		json_array_append_new(rows, json_pack("{s:o, s:o, s:o, s:o, s:o}", "atNs",
						      between(r->head.began, l->from), "tookNs",
						      between(l->from, l->to), "fibers",
						      number(l->fibers), "stacks",
						      number(l->stacks), "left", number(l->left)));
	}
	return rows;
}

json_t *ins_account_counts(const struct ins_account *a)
{
	return json_pack("{s:o, s:o, s:o}", "functions", number(a->rans), "waits",
			 number(a->waiteds), "stacks", number(a->stack_waits_count));
}

int ins_account_json(FILE *out, const struct ins_recording *r, const struct ins_account *a,
		     size_t rows)
{
	const struct ins_summary summary = {.total = a->fibers,
					    .shown = a->fibers,
					    .taken = r->head.wall,
					    .host = r->head.host};
	struct ins_problems problems = {0};
	struct ins_json json;
	int rc;

	if (r->lost)
		ins_problems_add(&problems, "%llu event%s lost", (unsigned long long)r->lost,
				 r->lost == 1 ? " was" : "s were");
	ins_json_begin(&json, out, r->head.pid, r->head.name, "recording", NULL);
	ins_json_key(&json, "lost", json_integer((json_int_t)r->lost));
	ins_json_key(&json, "totals", ins_account_totals(a));
	ins_json_key(&json, "carriers", ins_account_carriers(r, a));
	ins_json_key(&json, "functions", ins_account_functions(r, a, rows));
	ins_json_key(&json, "waits", ins_account_waits(r, a, rows));
	ins_json_key(&json, "stacks", ins_account_stacks(a, rows));
	ins_json_key(&json, "counts", ins_account_counts(a));
	ins_json_key(&json, "looks", ins_account_looks(r));
	rc = ins_json_end(&json, &summary, &problems);
	ins_problems_free(&problems);
	return rc;
}
