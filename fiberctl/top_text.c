/* SPDX-License-Identifier: MIT */
/* top_text.c - what a look has found, line by line: the same on the screen and for --once. */
#include <string.h>

#include <fiber/fiber.h>

#include "fiberctl/top.h"
#include "inspect/plain.h"
#include "inspect/render.h"

enum { NAME_WIDTH = 20, LEFT = 16 };

static void say_number(struct ins_line *line, uint64_t n, size_t width)
{
	char *at = line->at;

	ins_line_number(line, n);
	ins_line_right(line, at, width);
}

static void say_time(struct ins_line *line, int64_t ns, size_t width)
{
	char *at = line->at, buf[32];

	ins_line_text(line, ins_words_duration(ns, buf, sizeof buf));
	ins_line_right(line, at, width);
}

/* "12.3"; "-" without a look before. */
static void say_percent(struct ins_line *line, bool known, uint64_t permille, size_t width)
{
	char *at = line->at;

	if (known) {
		ins_line_number(line, permille / 10);
		ins_line_text(line, ".");
		ins_line_number(line, permille % 10);
	} else {
		ins_line_text(line, "-");
	}
	ins_line_right(line, at, width);
}

/* Of one CPU. */
static void say_share(struct ins_line *line, uint64_t cpu, int64_t ns, size_t width)
{
	say_percent(line, ns > 0, ins_watch_permille(cpu, ns), width);
}

static void say_known(struct ins_line *line, bool known, uint64_t n, size_t width)
{
	char *at = line->at;

	if (known)
		ins_line_number(line, n);
	else
		ins_line_text(line, "-");
	ins_line_right(line, at, width);
}

static void say_rate(struct ins_line *line, uint64_t n, int64_t ns, size_t width)
{
	say_known(line, ns > 0, ins_watch_rate(n, ns), width);
}

/* The program's name for a state or a kind of wait. */
static void say_word(struct ins_line *line, const char *word)
{
	char buf[128];

	ins_line_text(line, ins_plain(word, buf, sizeof buf));
}

static void say_head(const struct ctl_top *top, struct ins_line *line)
{
	const struct ins_watch_totals *t = ins_watch_totals(top->watch);

	ins_line_quoted(line, top->name);
	ins_line_text(line, ", process ");
	ins_line_number(line, (uint64_t)top->pid);
	ins_line_text(line, ": ");
	ins_line_number(line, t->fibers);
	ins_line_text(line, " fibers, ");
	ins_line_number(line, ctl_top_carriers(top));
	ins_line_text(line, " carriers");
	if (!t->ns)
		return;
	ins_line_text(line, "; in ");
	say_time(line, t->ns, 0);
	ins_line_text(line, ": ");
	say_share(line, t->cpu, t->ns, 0);
	ins_line_text(line, "% cpu, ");
	say_rate(line, t->switches, t->ns, 0);
	ins_line_text(line, " switches/s, ");
	ins_line_number(line, t->fresh);
	ins_line_text(line, " new, ");
	ins_line_number(line, t->gone);
	ins_line_text(line, " gone");
}

static void say_states(const struct ctl_top *top, struct ins_line *line)
{
	static const uint8_t order[] = {FIBER_RUNNING, FIBER_RUNNABLE, FIBER_SUSPENDED,
					FIBER_CREATED, FIBER_DEAD};
	const struct ins_watch_totals *t = ins_watch_totals(top->watch);
	size_t i;

	ins_line_text(line, "states:");
	for (i = 0; i < sizeof order; i++) {
		ins_line_text(line, i ? ", " : " ");
		ins_line_number(line, t->state[order[i]]);
		ins_line_text(line, " ");
		say_word(line, ins_words_state(&top->source->layout, order[i]));
	}
}

/* The kinds of wait that there are, the most frequent first. */
static void say_waits(const struct ctl_top *top, struct ins_line *line)
{
	const struct ins_watch_totals *t = ins_watch_totals(top->watch);
	uint64_t left[INS_WATCH_WAITS];
	unsigned i, k, most;

	memcpy(left, t->wait, sizeof left);
	ins_line_text(line, "waits:");
	for (i = 0;; i++) {
		for (most = k = 0; k < INS_WATCH_WAITS; k++)
			if (left[k] > left[most])
				most = k;
		if (!left[most])
			break;
		ins_line_text(line, i ? ", " : " ");
		ins_line_number(line, left[most]);
		ins_line_text(line, " ");
		say_word(line, ins_words_wait_kind(&top->source->layout, most));
		left[most] = 0;
	}
	if (!i)
		ins_line_text(line, " none");
}

void ctl_top_head(const struct ctl_top *top, unsigned i, struct ins_line *line)
{
	static void (*const say[CTL_TOP_HEAD])(const struct ctl_top *, struct ins_line *) = {
		say_head, say_states, say_waits};

	say[i](top, line);
}

void ctl_top_carrier_title(struct ins_line *line)
{
	ins_line_text(line,
		      "   RUNTIME    CARRIER STATE           FIBER     QUEUED   CPU%   SWITCH/S"
		      "     STEALS");
}

/* A rate that a program may have invented, as a number. -1 is not known. */
static uint64_t whole(double rate)
{
	return rate < 0 ? 0 : rate < 1e18 ? (uint64_t)(rate + 0.5) : (uint64_t)1e18;
}

void ctl_top_carrier_line(const struct ctl_top *top, size_t i, struct ins_line *line)
{
	const struct ctl_top_carrier c = ctl_top_carrier(top, i);
	const struct ctl_meter_rates rates = ctl_meter_rates(&top->before, c.runtime, c.is);
	char *at;

	say_number(line, c.runtime->serial, 10);
	ins_line_text(line, " ");
	say_number(line, c.is->index, 10);
	ins_line_text(line, " ");
	at = line->at;
	ins_line_text(line, ctl_meter_state(c.is->state));
	ins_line_fill(line, at, 10);
	ins_line_text(line, " ");
	say_known(line, c.is->fiber != 0, c.is->fiber, 10);
	ins_line_text(line, " ");
	say_number(line, c.is->queued, 10);
	ins_line_text(line, " ");
	say_percent(line, rates.cpu >= 0, whole(rates.cpu * 1000), 6);
	ins_line_text(line, " ");
	say_known(line, rates.switches >= 0, whole(rates.switches), 10);
	ins_line_text(line, " ");
	say_number(line, c.is->steals, 10);
}

void ctl_top_group_title(const struct ctl_top *top, struct ins_line *line)
{
	ins_line_text(line, "     COUNT   CPU%   SWITCH/S   OLDEST  ");
	ins_line_quoted(line, ins_field_title(&top->wish.group));
}

void ctl_top_group_line(const struct ctl_top *top, size_t i, struct ins_line *line)
{
	const struct ins_shares *shares = ins_watch_groups(top->watch);
	const struct ins_share *share = ins_shares_at(shares, i);
	const int64_t ns = ins_watch_totals(top->watch)->ns;

	say_number(line, share->count, 10);
	ins_line_text(line, " ");
	say_share(line, share->cpu, ns, 6);
	ins_line_text(line, " ");
	say_rate(line, share->switches, ns, 10);
	ins_line_text(line, " ");
	say_time(line, share->age_max, 8);
	ins_line_text(line, "  ");
	ins_shares_say(shares, i, line);
}

/* What the lines are ordered by is shown: the field, when it has no column anyhow. */
static bool has_column(const struct ins_field *field)
{
	static const char *const shown[] = {"id",  "state", "cpu",     "switches",
					    "age", "name",  "waiting", "wait"};
	size_t i;

	for (i = 0; i < sizeof shown / sizeof shown[0]; i++)
		if (strcmp(field->info->name, shown[i]) == 0)
			return true;
	return false;
}

/* What was put since at is the column of the field by which the lines are ordered. */
static void align(const struct ins_field *sort, struct ins_line *line, char *at)
{
	const size_t width = sort->info->width ? sort->info->width : LEFT;

	if (ins_field_is_text(sort))
		ins_line_fill(line, at, width);
	else
		ins_line_right(line, at, width);
	ins_line_text(line, "  ");
}

void ctl_top_fiber_title(const struct ctl_top *top, struct ins_line *line)
{
	char *at;

	ins_line_text(line, "        ID STATE       CPU%   SWITCH/S      AGE  ");
	if (!has_column(&top->wish.sort)) {
		at = line->at;
		ins_line_quoted(line, ins_field_title(&top->wish.sort));
		align(&top->wish.sort, line, at);
	}
	at = line->at;
	ins_line_text(line, "NAME");
	ins_line_fill(line, at, NAME_WIDTH);
	ins_line_text(line, " WAIT");
}

void ctl_top_fiber_line(const struct ctl_top *top, size_t i, struct ins_line *line)
{
	const struct ins_leader *leader = ins_watch_leader(top->watch, i);
	const struct ins_fiber *fiber = &leader->fiber;
	const int64_t ns = leader->did.known ? ins_watch_totals(top->watch)->ns : 0;
	struct ins_sight sight;
	struct ins_field waiting;
	char *at;

	sight.layout = &top->source->layout;
	sight.symbols = top->symbols;
	sight.fiber = fiber;
	say_number(line, fiber->row.id, 10);
	ins_line_text(line, " ");
	at = line->at;
	say_word(line, ins_words_state(sight.layout, fiber->row.state));
	ins_line_fill(line, at, 9);
	ins_line_text(line, " ");
	say_share(line, leader->did.cpu, ns, 6);
	ins_line_text(line, " ");
	say_rate(line, leader->did.switches, ns, 10);
	ins_line_text(line, " ");
	say_time(line, fiber->row.age, 8);
	ins_line_text(line, "  ");
	if (!has_column(&top->wish.sort)) {
		at = line->at;
		ins_field_say(line, &top->wish.sort, ins_field_get(&sight, &top->wish.sort));
		align(&top->wish.sort, line, at);
	}
	at = line->at;
	ins_line_quoted(line, fiber->row.name);
	ins_line_fill(line, at, NAME_WIDTH);
	ins_line_text(line, " ");
	ins_field_find("waiting", strlen("waiting"), &waiting);
	ins_field_say(line, &waiting, ins_field_get(&sight, &waiting));
}

const char *ctl_top_field(const struct ins_field *field)
{
	static char name[16 + sizeof field->key];
	struct ins_line line = ins_line(name, sizeof name);

	ins_line_text(&line, field->info->name);
	ins_line_text(&line, field->key);
	return name;
}

void ctl_top_wish(const struct ctl_top *top, struct ins_line *line)
{
	const struct ins_watch_totals *t = ins_watch_totals(top->watch);
	char where[4 * sizeof top->where];

	ins_line_text(line, "by ");
	ins_line_quoted(line, ctl_top_field(&top->wish.sort));
	ins_line_text(line, top->wish.backwards ? ", largest first" : ", smallest first");
	if (!top->wish.select)
		return;
	ins_line_text(line, "; ");
	ins_line_number(line, t->matched);
	ins_line_text(line, " of ");
	ins_line_number(line, t->fibers);
	ins_line_text(line, " match ");
	ins_line_text(line, ins_plain(top->where, where, sizeof where));
}
