/* SPDX-License-Identifier: MIT */
/*
 * top_json.c - print one look as JSON
 *
 * It has plain differences and their time; readers compute the rates. Carriers have the format of
 * `fiberctl carriers`; their counts are of another moment.
 */
#include <string.h>

#include <fiber/fiber.h>

#include "fiberctl/top.h"
#include "inspect/render/render.h"
#include "tool/report.h"

static json_t *number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static json_t *did_object(const struct ins_fiber_delta *did)
{
	if (!did->known)
		return json_null();
	return json_pack("{s:o, s:o, s:b}", "cpuNs", number(did->cpu), "switches",
			 number(did->switches), "new", did->fresh);
}

static json_t *fiber_object(const struct ctl_top *top, const struct ins_top_n_row *top_n_row)
{
	json_t *fiber = ins_json_fiber(&top->source->layout, &top_n_row->fiber, top->symbols, NULL);

	if (fiber && json_object_set_new(fiber, "change", did_object(&top_n_row->did)) < 0) {
		json_decref(fiber);
		return NULL;
	}
	return fiber;
}

static json_t *carriers_array(const struct ctl_top *top)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < ctl_top_carriers(top); i++) {
		const struct ctl_top_carrier c = ctl_top_carrier(top, i);

		json_array_append_new(array, ctl_stats_json(&top->before, c.runtime, c.is));
	}
	return array;
}

/* The keys of ins_json_count() that are known here. */
static json_t *group_object(const struct ctl_top *top, size_t i)
{
	const struct ins_group_totals *group_totals = ins_watch_groups(top->watch);
	const struct ins_group_total *s = ins_group_totals_at(group_totals, i);
	const struct ins_value is = ins_group_totals_value(group_totals, i);
	char value[512];
	struct ins_strbuf line = ins_strbuf(value, sizeof value);

	ins_group_totals_say(group_totals, i, &line);
	return json_pack("{s:o, s:o, s:o, s:[o], s:{s:o}, s:{s:o, s:o}}", "field",
			 ins_json_text(ctl_top_field(&top->query.group)), "value",
			 ins_json_text(!is.known ? NULL
				       : is.text ? is.text
						 : value),
			 "count", number(s->count), "fiberIds", number(s->sample), "ageNs", "max",
			 number((uint64_t)s->age_max), "change", "cpuNs", number(s->cpu),
			 "switches", number(s->switches));
}

static json_t *groups_array(const struct ctl_top *top, size_t limit)
{
	size_t i, count = ins_watch_group_totals(top->watch);
	json_t *array = json_array();

	for (i = 0; i < count && i < limit; i++)
		json_array_append_new(array, group_object(top, i));
	return array;
}

json_t *ctl_top_states(const struct ctl_top *top)
{
	const struct ins_watch_totals *t = ins_watch_totals(top->watch);
	json_t *states = json_object();
	unsigned i;

	for (i = FIBER_CREATED; i <= FIBER_DEAD; i++)
		json_object_set_new(states, ins_words_state(NULL, i), number(t->state[i]));
	return states;
}

json_t *ctl_top_waits(const struct ctl_top *top)
{
	const struct ins_watch_totals *t = ins_watch_totals(top->watch);
	json_t *waits = json_object();
	unsigned i;

	for (i = 0; i < INS_WATCH_WAITS; i++)
		if (t->wait[i])
			json_object_set_new(waits, ins_words_wait_kind(NULL, i),
					    number(t->wait[i]));
	return waits;
}

int ctl_top_json(const struct ctl_top *top, size_t limit)
{
	const struct ins_watch_totals *t = ins_watch_totals(top->watch);
	const size_t groups = ins_watch_group_totals(top->watch);
	const struct ins_source *s = top->source;
	struct ins_summary summary = top->summary;
	struct ins_json json;
	bool failed;
	size_t i;

	summary.shown = ins_watch_top_n(top->watch);
	ins_json_begin(&json, stdout, s->pid, s->name, s->kind, "fibers");
	for (i = 0; i < summary.shown; i++)
		ins_json_row(&json, fiber_object(top, ins_watch_top_n_row(top->watch, i)));
	ins_json_key(&json, "groups", groups_array(top, limit));
	ins_json_key(&json, "carriers", carriers_array(top));
	ins_json_key(&json, "states", ctl_top_states(top));
	ins_json_key(&json, "waits", ctl_top_waits(top));
	ins_json_key(&json, "verdict", ins_json_text(top->verdict[0] ? top->verdict : NULL));
	ins_json_key(&json, "intervalNs", number((uint64_t)t->ns));
	ins_json_key(&json, "change",
		     json_pack("{s:o, s:o, s:o, s:o}", "cpuNs", number(t->cpu), "switches",
			       number(t->switches), "new", number(t->fresh), "gone",
			       number(t->gone)));
	ins_json_key(&json, "matched", number(t->matched));
	ins_json_key(
		&json, "leftOut",
		json_pack("{s:o, s:o}", "groups", number(groups > limit ? groups - limit : 0),
			  "fibers",
			  number(t->matched > summary.shown ? t->matched - summary.shown : 0)));
	failed = ins_json_end(&json, &summary, &s->problems) < 0;
	return tool_written(ins_problems_lines(&s->problems) || failed ? TOOL_PARTIAL : TOOL_WELL);
}
