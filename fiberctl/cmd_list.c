/* SPDX-License-Identifier: MIT */
/* cmd_list.c - every fiber in a line: what it does, since when, what it waits for and who holds that. */
#include "fiberctl/answer.h"
#include "inspect/line.h"

/* "912", "5.3k", "256k", "8m": bytes in at most four characters and a unit. */
static void say_size(struct ins_line *l, uint64_t bytes)
{
	ins_line_number(l, bytes < 1024 ? bytes : bytes < 10u << 20 ? bytes / 1024 : bytes >> 20);
	if (bytes >= 1024 && bytes < 10240) {
		ins_line_text(l, ".");
		ins_line_number(l, bytes % 1024 * 10 / 1024);
	}
	if (bytes >= 1024)
		ins_line_text(l, bytes < 10u << 20 ? "k" : "m");
}

static void say_wait(struct ins_line *l, const struct fib_layout *layout,
		     const struct ins_fiber *fiber)
{
	const struct fib_row *row = &fiber->row;
	char wait[256];

	ins_words_wait(layout, fiber, true, wait, sizeof wait);
	if (wait[0]) {
		ins_line_text(l, wait);
	} else if (row->carrier != FIB_ROW_CARRIER_NONE) {
		ins_line_text(l, "on carrier ");
		ins_line_number(l, row->carrier);
	} else {
		ins_line_text(l, "-");
	}
}

static void put(FILE *out, const struct fib_layout *layout, const struct ins_fiber *fiber,
		struct ins_symbols *symbols, const struct ins_walk *walk)
{
	const struct fib_row *row = &fiber->row;
	char buf[512], age[32], *at;
	struct ins_line l = ins_line(buf, sizeof buf);

	(void)symbols;
	(void)walk;
	ins_line_number(&l, row->id);
	ins_line_right(&l, buf, 10);
	ins_line_text(&l, " ");
	at = l.at;
	ins_line_text(&l, ins_words_state(layout, row->state));
	ins_line_fill(&l, at, 10);
	at = l.at;
	ins_line_text(&l, ins_words_duration(row->age, age, sizeof age));
	ins_line_right(&l, at, 8);
	at = l.at;
	ins_line_number(&l, row->switches);
	ins_line_right(&l, at, 11);
	at = l.at;
	ins_line_text(&l, " ");
	if (fib_row_walkable(row))
		say_size(&l, row->stack_used);
	else
		ins_line_text(&l, "-");
	ins_line_text(&l, "/");
	say_size(&l, row->stack_size);
	ins_line_right(&l, at, 11);
	ins_line_text(&l, "  ");
	at = l.at;
	say_wait(&l, layout, fiber);
	ins_line_fill(&l, at, 44);
	ins_line_text(&l, " ");
	ins_line_quoted(&l, row->name);
	ins_line_text(&l, "\n");
	fwrite(buf, 1, (size_t)(l.at - buf), out);
}

static int run(const struct ctl_arguments *arguments)
{
	const struct ctl_question question = {
		.process = arguments->word[0],
		.json = arguments->json,
		.symbols = arguments->json, /* for the place of the spawn */
		.text = put,
		.title = "        ID STATE          AGE   SWITCHES      STACK  "
			 "WAIT                                         NAME",
	};

	return ctl_answer(&question);
}

const struct ctl_command ctl_list = {
	.name = "list",
	.usage = "PROCESS",
	.summary = "every fiber and what it waits for",
	.help = "One line a fiber: its id, state, the time it has been in that state, how often "
		"it\n"
		"was switched to, the part of its stack in use (- while it runs) and the size of "
		"it,\n"
		"what it waits for and who holds that, its name. The last line says how many "
		"fibers\n"
		"there were and how long it took to look at them; the program is not stopped\n"
		"meanwhile, each line is of one moment but not all lines of the same.\n",
	.least = 1,
	.most = 1,
	.run = run,
};
