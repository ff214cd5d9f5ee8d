/* SPDX-License-Identifier: MIT */
/* top_cells.c - the columns and cells of the tables of `fiberctl top` */
#include "fiberctl/top_tables.h"

#include <string.h>

#include "inspect/text/escape.h"
#include "inspect/render/render.h"
#include "inspect/text/duration.h"

/* -- cells -- */

static void say_known(struct ins_strbuf *line, bool known, uint64_t n)
{
	if (known)
		ins_strbuf_number(line, n);
	else
		ins_strbuf_text(line, "-");
}

static void say_rate(struct ins_strbuf *line, uint64_t n, int64_t ns)
{
	say_known(line, ns > 0, ins_watch_rate(n, ns));
}

static void say_time(struct ins_strbuf *line, int64_t ns)
{
	ins_duration_say_seconds(line, ns);
}

/* A rate as a number; a program may report any value. Unknown (-1) becomes 0. */
static uint64_t whole(double rate)
{
	return rate < 0 ? 0 : rate < 1e18 ? (uint64_t)(rate + 0.5) : (uint64_t)1e18;
}

static struct ctl_stats_rates rates(const struct ctl_top *top, const struct ctl_top_carrier *c)
{
	return ctl_stats_rates(&top->before, c->runtime, c->is);
}

#define CELL_OF(name) static void name(const struct ctl_top *top, size_t i, struct ins_strbuf *line)

CELL_OF(carrier_runtime)
{
	ins_strbuf_number(line, ctl_top_carrier(top, i).runtime->serial);
}

CELL_OF(carrier_index)
{
	ins_strbuf_number(line, ctl_top_carrier(top, i).is->index);
}

CELL_OF(carrier_state)
{
	ins_strbuf_text(line, ctl_stats_state(ctl_top_carrier(top, i).is->state));
}

CELL_OF(carrier_fiber)
{
	const uint64_t fiber = ctl_top_carrier(top, i).is->fiber;

	say_known(line, fiber != 0, fiber);
}

CELL_OF(carrier_queued)
{
	ins_strbuf_number(line, ctl_top_carrier(top, i).is->queued);
}

CELL_OF(carrier_cpu)
{
	const struct ctl_top_carrier c = ctl_top_carrier(top, i);
	const double cpu = rates(top, &c).cpu;

	ctl_top_percent(line, cpu >= 0, whole(cpu * 1000));
}

CELL_OF(carrier_switches)
{
	const struct ctl_top_carrier c = ctl_top_carrier(top, i);
	const double switches = rates(top, &c).switches;

	say_known(line, switches >= 0, whole(switches));
}

CELL_OF(carrier_steals)
{
	ins_strbuf_number(line, ctl_top_carrier(top, i).is->steals);
}

static const struct ins_group_total *group_total(const struct ctl_top *top, size_t i)
{
	return ins_group_totals_at(ins_watch_groups(top->watch), i);
}

static int64_t interval(const struct ctl_top *top)
{
	return ins_watch_totals(top->watch)->ns;
}

CELL_OF(group_count)
{
	ins_strbuf_number(line, group_total(top, i)->count);
}

CELL_OF(group_cpu)
{
	ctl_top_percent(line, interval(top) > 0,
			ins_watch_permille(group_total(top, i)->cpu, interval(top)));
}

CELL_OF(group_switches)
{
	say_rate(line, group_total(top, i)->switches, interval(top));
}

CELL_OF(group_oldest)
{
	say_time(line, group_total(top, i)->age_max);
}

CELL_OF(group_value)
{
	ins_group_totals_say(ins_watch_groups(top->watch), i, line);
}

static const struct ins_top_n_row *top_n_row(const struct ctl_top *top, size_t i)
{
	return ins_watch_top_n_row(top->watch, i);
}

static void say_field(const struct ctl_top *top, size_t i, const struct ins_field *field,
		      struct ins_strbuf *line)
{
	struct ins_sight sight;

	sight.layout = &top->source->layout;
	sight.symbols = top->symbols;
	sight.fiber = &top_n_row(top, i)->fiber;
	ins_field_say(line, field, ins_field_get(&sight, field));
}

CELL_OF(fiber_id)
{
	ins_strbuf_number(line, top_n_row(top, i)->fiber.row.id);
}

CELL_OF(fiber_state)
{
	const char *state =
		ins_words_state(&top->source->layout, top_n_row(top, i)->fiber.row.state);

	ins_strbuf_text(line, ins_escape(state, (char[128]){0}, 128));
}

CELL_OF(fiber_cpu)
{
	const struct ins_fiber_delta *did = &top_n_row(top, i)->did;
	const int64_t ns = did->known ? interval(top) : 0;

	ctl_top_percent(line, ns > 0, ins_watch_permille(did->cpu, ns));
}

CELL_OF(fiber_switches)
{
	const struct ins_fiber_delta *did = &top_n_row(top, i)->did;

	say_rate(line, did->switches, did->known ? interval(top) : 0);
}

CELL_OF(fiber_age)
{
	say_time(line, top_n_row(top, i)->fiber.row.age);
}

CELL_OF(fiber_sort)
{
	say_field(top, i, &top->query.sort, line);
}

CELL_OF(fiber_name)
{
	ins_strbuf_quoted(line, top_n_row(top, i)->fiber.row.name);
}

CELL_OF(fiber_wait)
{
	struct ins_field waiting;

	ins_field_find("waiting", strlen("waiting"), &waiting);
	say_field(top, i, &waiting, line);
}

static const struct ins_field *group_of(const struct ctl_top *top)
{
	return &top->query.group;
}

static const struct ins_field *sort_of(const struct ctl_top *top)
{
	return &top->query.sort;
}

/* -- tables -- */

static const struct ctl_top_column carriers[] = {
	{"RUNTIME", 10, 7, 0, 7, .say = carrier_runtime},
	{"CARRIER", 10, 7, 1, 0, .say = carrier_index},
	{"STATE", 10, 9, 1, 1, .left = true, .say = carrier_state},
	{"FIBER", 10, 7, 1, 3, .say = carrier_fiber},
	{"QUEUED", 10, 6, 1, 4, .say = carrier_queued},
	{"CPU%", 6, 5, 1, 2, .say = carrier_cpu},
	{"SWITCH/S", 10, 8, 1, 5, .say = carrier_switches},
	{"STEALS", 10, 6, 1, 6, .say = carrier_steals},
};

static const struct ctl_top_column groups[] = {
	{"COUNT", 10, 7, 0, 1, .say = group_count},
	{"CPU%", 6, 5, 1, 2, .say = group_cpu},
	{"SWITCH/S", 10, 8, 1, 4, .say = group_switches},
	{"OLDEST", 8, 6, 1, 3, .say = group_oldest},
	{NULL, 0, 0, 2, 0, .left = true, .least = 16, .say = group_value, .title_of = group_of},
};

static const struct ctl_top_column fibers[] = {
	{"ID", 10, 6, 0, 0, .say = fiber_id},
	{"STATE", 9, 9, 1, 6, .left = true, .say = fiber_state},
	{"CPU%", 6, 5, 1, 3, .say = fiber_cpu},
	{"SWITCH/S", 10, 8, 1, 7, .say = fiber_switches},
	{"AGE", 8, 6, 1, 5, .say = fiber_age},
	{NULL, 0, 0, 2, 2, .say = fiber_sort, .title_of = sort_of},
	{"NAME", 20, 12, 2, 1, .left = true, .say = fiber_name},
	{"WAIT", 0, 0, 1, 4, .left = true, .least = 10, .say = fiber_wait},
};
enum { SORT = 5 };

static struct ctl_top_table table(const struct ctl_top *top, const struct ctl_top_column *columns,
				  size_t count)
{
	struct ctl_top_table t = {.top = top, .count = count};

	memcpy(t.column, columns, count * sizeof *columns);
	return t;
}

struct ctl_top_table ctl_top_carrier_table(const struct ctl_top *top)
{
	return table(top, carriers, sizeof carriers / sizeof carriers[0]);
}

struct ctl_top_table ctl_top_group_table(const struct ctl_top *top)
{
	return table(top, groups, sizeof groups / sizeof groups[0]);
}

/* The sort field is always shown: it gets a column if it has none. */
struct ctl_top_table ctl_top_fiber_table(const struct ctl_top *top)
{
	enum { LEFT = 16 };
	static const char *const shown[] = {"id",  "state", "cpu",     "switches",
					    "age", "name",  "waiting", "wait"};
	const struct ins_field *sort = &top->query.sort;
	struct ctl_top_table t = table(top, fibers, sizeof fibers / sizeof fibers[0]);
	size_t i;

	t.column[SORT].wide = sort->info->width ? sort->info->width : LEFT;
	t.column[SORT].left = ins_field_is_text(sort);
	t.column[SORT].least = t.column[SORT].left ? LEFT : 0;
	for (i = 0; i < sizeof shown / sizeof shown[0]; i++) {
		if (strcmp(sort->info->name, shown[i]) != 0)
			continue;
		ctl_top_table_drop(&t, SORT);
		break;
	}
	return t;
}
