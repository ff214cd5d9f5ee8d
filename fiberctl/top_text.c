/* SPDX-License-Identifier: MIT */
/* top_text.c - the totals of a look as text, for the screen and for --once */
#include <string.h>

#include <fiber/fiber.h>

#include "fiberctl/top.h"
#include "inspect/text/escape.h"
#include "inspect/render/render.h"
#include "inspect/text/duration.h"

void ctl_top_percent(struct ins_strbuf *line, bool known, uint64_t permille)
{
	if (!known) {
		ins_strbuf_text(line, "-");
		return;
	}
	ins_strbuf_number(line, permille / 10);
	ins_strbuf_text(line, ".");
	ins_strbuf_number(line, permille % 10);
}

/* The program's name for a state or a kind of wait. */
static void say_word(struct ins_strbuf *line, const char *word)
{
	char buf[128];

	ins_strbuf_text(line, ins_escape(word, buf, sizeof buf));
}

static void say_head(const struct ctl_top *top, struct ins_strbuf *line)
{
	const struct ins_watch_totals *t = ins_watch_totals(top->watch);
	char buf[32];

	ins_strbuf_quoted(line, top->name);
	ins_strbuf_text(line, ", process ");
	ins_strbuf_number(line, (uint64_t)top->pid);
	ins_strbuf_text(line, ": ");
	ins_strbuf_number(line, t->fibers);
	ins_strbuf_text(line, " fibers, ");
	ins_strbuf_number(line, ctl_top_carriers(top));
	ins_strbuf_text(line, " carriers");
	if (top->verdict[0]) {
		ins_strbuf_text(line, ", ");
		ins_strbuf_text(line, top->verdict);
	}
	if (!t->ns)
		return;
	ins_strbuf_text(line, "; in ");
	ins_strbuf_text(line, ins_duration_text(t->ns, buf, sizeof buf));
	ins_strbuf_text(line, top->filed ? " since the first began: " : ": ");
	ctl_top_percent(line, true, ins_watch_permille(t->cpu, t->ns));
	ins_strbuf_text(line, "% cpu, ");
	ins_strbuf_number(line, ins_watch_rate(t->switches, t->ns));
	ins_strbuf_text(line, " switches/s");
	if (top->filed)
		return;
	ins_strbuf_text(line, ", ");
	ins_strbuf_number(line, t->fresh);
	ins_strbuf_text(line, " new, ");
	ins_strbuf_number(line, t->gone);
	ins_strbuf_text(line, " gone");
}

static void say_states(const struct ctl_top *top, struct ins_strbuf *line)
{
	static const uint8_t order[] = {FIBER_RUNNING, FIBER_RUNNABLE, FIBER_SUSPENDED,
					FIBER_CREATED, FIBER_DEAD};
	const struct ins_watch_totals *t = ins_watch_totals(top->watch);
	size_t i;

	ins_strbuf_text(line, "states:");
	for (i = 0; i < sizeof order; i++) {
		ins_strbuf_text(line, i ? ", " : " ");
		ins_strbuf_number(line, t->state[order[i]]);
		ins_strbuf_text(line, " ");
		say_word(line, ins_words_state(&top->source->layout, order[i]));
	}
}

/* The kinds of wait that occur, the most frequent first. */
static void say_waits(const struct ctl_top *top, struct ins_strbuf *line)
{
	const struct ins_watch_totals *t = ins_watch_totals(top->watch);
	uint64_t left[INS_WATCH_WAITS];
	unsigned i, k, most;

	memcpy(left, t->wait, sizeof left);
	ins_strbuf_text(line, "waits:");
	for (i = 0;; i++) {
		for (most = k = 0; k < INS_WATCH_WAITS; k++)
			if (left[k] > left[most])
				most = k;
		if (!left[most])
			break;
		ins_strbuf_text(line, i ? ", " : " ");
		ins_strbuf_number(line, left[most]);
		ins_strbuf_text(line, " ");
		say_word(line, ins_words_wait_kind(&top->source->layout, most));
		left[most] = 0;
	}
	if (!i)
		ins_strbuf_text(line, " none");
}

void ctl_top_head(const struct ctl_top *top, unsigned i, struct ins_strbuf *line)
{
	static void (*const say[CTL_TOP_HEAD])(const struct ctl_top *, struct ins_strbuf *) = {
		say_head, say_states, say_waits};

	say[i](top, line);
}

const char *ctl_top_field(const struct ins_field *field)
{
	static char name[16 + sizeof field->key];
	struct ins_strbuf line = ins_strbuf(name, sizeof name);

	ins_strbuf_text(&line, field->info->name);
	ins_strbuf_text(&line, field->key);
	return name;
}

void ctl_top_order(const struct ctl_top *top, struct ins_strbuf *line)
{
	ins_strbuf_text(line, "by ");
	ins_strbuf_quoted(line, ctl_top_field(&top->query.sort));
	ins_strbuf_text(line, top->query.backwards ? ", largest first" : ", smallest first");
}

void ctl_top_match(const struct ctl_top *top, struct ins_strbuf *line)
{
	const struct ins_watch_totals *t = ins_watch_totals(top->watch);
	char where[4 * sizeof top->where];

	if (!top->query.select)
		return;
	ins_strbuf_number(line, t->matched);
	ins_strbuf_text(line, " of ");
	ins_strbuf_number(line, t->fibers);
	ins_strbuf_text(line, " match ");
	ins_strbuf_text(line, ins_escape(top->where, where, sizeof where));
}
