/* SPDX-License-Identifier: MIT */
/* cmd_list.c - every fiber in a line: what it does, since when, what it waits for and who holds that. */
#include <inttypes.h>

#include "fiberctl/answer.h"

/* "912", "5.3k", "256k", "8m": bytes in at most four characters and a unit. */
static const char *short_size(uint64_t bytes, char *buf, size_t size)
{
	if (bytes < 1024)
		snprintf(buf, size, "%" PRIu64, bytes);
	else if (bytes < 10240)
		snprintf(buf, size, "%" PRIu64 ".%" PRIu64 "k", bytes / 1024,
			 bytes % 1024 * 10 / 1024);
	else if (bytes < 10u << 20)
		snprintf(buf, size, "%" PRIu64 "k", bytes / 1024);
	else
		snprintf(buf, size, "%" PRIu64 "m", bytes >> 20);
	return buf;
}

static void put(FILE *out, const struct fib_layout *layout, const struct ins_fiber *fiber,
		struct ins_symbols *symbols, const struct ins_walk *walk)
{
	const struct fib_row *row = &fiber->row;
	char age[32], used[32], size[32], stack[72], wait[256], name[sizeof row->name * 4];

	(void)symbols;
	(void)walk;
	ins_words_wait(layout, fiber, true, wait, sizeof wait);
	if (row->carrier != FIB_ROW_CARRIER_NONE && !wait[0])
		snprintf(wait, sizeof wait, "on carrier %u", row->carrier);
	snprintf(stack, sizeof stack, "%s/%s",
		 fib_row_walkable(row) ? short_size(row->stack_used, used, sizeof used) : "-",
		 short_size(row->stack_size, size, sizeof size));
	fprintf(out, "%10" PRIu64 " %-9s %8s %10" PRIu64 " %10s  %-44s %s\n", row->id,
		ins_words_state(layout, row->state), ins_words_duration(row->age, age, sizeof age),
		row->switches, stack, wait[0] ? wait : "-",
		ins_words_clean(row->name, name, sizeof name));
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
