/* SPDX-License-Identifier: MIT */
/* cmd_show.c - everything that is known about one fiber. */
#include <inttypes.h>

#include "fiberctl/answer.h"

static void put_place(FILE *out, const char *label, struct ins_symbols *symbols, uint64_t pc,
		      bool returned)
{
	const struct ins_frame *f;
	char text[1024];
	size_t count;

	if (!pc)
		return;
	f = ins_symbols_at(symbols, pc, returned, &count);
	fprintf(out, "%-12s ", label);
	if (f->function)
		fprintf(out, "%s", ins_words_clean(f->function, text, sizeof text));
	else
		fprintf(out, "0x%" PRIx64, pc);
	if (f->file)
		fprintf(out, " at %s:%d", ins_words_clean(f->file, text, sizeof text), f->line);
	else if (f->module)
		fprintf(out, " in %s", ins_words_clean(f->module, text, sizeof text));
	fputc('\n', out);
}

static void put_wait(FILE *out, const struct fib_layout *layout, const struct ins_fiber *fiber)
{
	const struct fib_row *row = &fiber->row;
	char text[256];

	if (row->wait_kind == FIB_WAIT_NONE)
		return;
	fprintf(out, "%-12s %s\n", "waits for",
		ins_words_wait(layout, fiber, true, text, sizeof text));
	if (row->deadline != INT64_MAX)
		fprintf(out, "%-12s in %s\n", "deadline",
			ins_words_duration(row->deadline - fiber->now, text, sizeof text));
}

static void put_stack(FILE *out, const struct fib_row *row)
{
	if (!row->stack_low) {
		fprintf(out, "%-12s none yet, %" PRIu64 " bytes once it begins\n", "stack",
			row->stack_size);
		return;
	}
	fprintf(out, "%-12s %" PRIu64 " bytes from 0x%" PRIx64, "stack", row->stack_size,
		row->stack_low);
	if (fib_row_walkable(row))
		fprintf(out, ", %" PRIu64 " in use", row->stack_used);
	if (row->stack_high_water != FIB_ROW_UNKNOWN)
		fprintf(out, ", at most %" PRIu64 " ever", row->stack_high_water);
	fputc('\n', out);
}

static void put_labels(FILE *out, const struct fib_row *row)
{
	char k[sizeof row->label * 4], v[sizeof row->label * 4];
	const char *key, *value;
	size_t at = 0;

	while (fib_row_label(row, &at, &key, &value))
		fprintf(out, "%-12s %s=%s\n", "label", ins_words_clean(key, k, sizeof k),
			ins_words_clean(value, v, sizeof v));
}

static void put(FILE *out, const struct fib_layout *layout, const struct ins_fiber *fiber,
		struct ins_symbols *symbols, const struct ins_walk *walk)
{
	const struct fib_row *row = &fiber->row;
	char text[sizeof row->name * 4];

	(void)walk;
	ins_text_header(out, layout, fiber);
	fprintf(out, "%-12s %s\n", "state", ins_words_state(layout, row->state));
	fprintf(out, "%-12s %s\n", "since", ins_words_duration(row->age, text, sizeof text));
	put_wait(out, layout, fiber);
	put_labels(out, row);
	if (row->carrier != FIB_ROW_CARRIER_NONE)
		fprintf(out, "%-12s %u\n", "carrier", row->carrier);
	fprintf(out, "%-12s %" PRIu64 "\n", "switches", row->switches);
	fprintf(out, "%-12s %s\n", "cpu", ins_words_duration((int64_t)row->cpu, text, sizeof text));
	fprintf(out, "%-12s %u\n", "pins", row->pins);
	put_stack(out, row);
	if (row->parent)
		fprintf(out, "%-12s %" PRIu64 "\n", "parent", row->parent);
	put_place(out, "spawned in", symbols, row->spawn_pc, true);
	put_place(out, "runs", symbols, row->entry, false);
}

static int run(const struct ctl_arguments *arguments)
{
	struct ctl_question question = {
		.process = arguments->word[0],
		.json = arguments->json,
		.symbols = true,
		.text = put,
	};

	if (!ctl_parse_id(arguments->word[1], &question.id))
		return ctl_wrong(&ctl_show, "%s: is no fiber id: see 'fiberctl list %s'",
				 arguments->word[1], arguments->word[0]);
	return ctl_answer(&question);
}

const struct ctl_command ctl_show = {
	.name = "show",
	.usage = "PROCESS ID",
	.summary = "everything about one fiber",
	.help = "State, wait, processor time (as of when it last gave way), stack and where it "
		"was\n"
		"spawned. For the calls it is in: bt.\n",
	.least = 2,
	.most = 2,
	.run = run,
};
