/* SPDX-License-Identifier: MIT */
/*
 * cmd_show.c - print everything known about one fiber
 *
 * Why it does not run depends on other fibers: the holder of its object, and what that one does. So
 * all other fibers are read after it, without costly details.
 */
#include <inttypes.h>
#include <string.h>

#include "tool/cmd/commands.h"
#include "inspect/text/escape.h"
#include "inspect/render/render.h"
#include "inspect/render/explain.h"
#include "inspect/render/render_holders.h"
#include "inspect/waits/waiters.h"
#include "inspect/text/duration.h"
#include "tool/report.h"

struct show {
	const struct tool_arguments *arguments;
	uint64_t id;
	struct ins_source *source;
	struct ins_symbols *symbols;
	struct ins_table *others; /* includes the fiber itself, a moment later */
	struct ins_graph *graph;  /* of these */
	struct ins_fiber fiber;
	struct ins_waiters waiters;
	char why[INS_EXPLAIN_SIZE];
};

static void put_place(FILE *out, const char *label, struct ins_symbols *symbols, uint64_t pc,
		      bool returned)
{
	const struct ins_frame *f;
	char text[1024];
	size_t count;

	if (!pc)
		return;
	f = ins_symbols_at(symbols, pc, returned, &count);
	/* A function may start with an inlined one. */
	f += returned ? 0 : count - 1;
	fprintf(out, "%-12s ", label);
	if (f->function)
		fprintf(out, "%s", ins_escape_quoted(f->function, text, sizeof text));
	else
		fprintf(out, "0x%" PRIx64, pc);
	if (f->file)
		fprintf(out, " at %s:%d", ins_escape_quoted(f->file, text, sizeof text), f->line);
	else if (f->module)
		fprintf(out, " in %s", ins_escape_quoted(f->module, text, sizeof text));
	fputc('\n', out);
}

static void put_wait(FILE *out, const struct fib_layout *layout, const struct ins_fiber *fiber)
{
	const int64_t left = ins_fiber_left(fiber);
	char text[256];

	if (fiber->row.wait_kind == FIB_WAIT_NONE)
		return;
	fprintf(out, "%-12s %s\n", "waits for",
		ins_words_wait(layout, fiber, true, text, sizeof text));
	if (left > 0)
		fprintf(out, "%-12s %s left\n", "deadline",
			ins_duration_text(left, text, sizeof text));
	else if (!left)
		fprintf(out, "%-12s has passed\n", "deadline");
}

static void put_stack(FILE *out, const struct fib_row *row)
{
	if (!row->stack_low) {
		fprintf(out, "%-12s none yet, %" PRIu64 " bytes once it starts\n", "stack",
			row->stack_size);
		return;
	}
	fprintf(out, "%-12s %" PRIu64 " bytes from 0x%" PRIx64, "stack", row->stack_size,
		row->stack_low);
	if (fib_row_walkable(row))
		fprintf(out, ", %" PRIu64 " in use", row->stack_used);
	if (fib_row_astray(row))
		fprintf(out, ", stack pointer 0x%" PRIx64 " is outside", row->sp);
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
		fprintf(out, "%-12s %s=%s\n", "label", ins_escape_quoted(key, k, sizeof k),
			ins_escape_quoted(value, v, sizeof v));
}

/* "41, 42, 43, ..." */
static void put_waiters(FILE *out, const struct ins_waiters *waiters, unsigned flags)
{
	uint64_t count = waiters->joining + waiters->wanting;

	if (!count)
		return;
	fprintf(out, "%-12s %" PRIu64 " %s%s:", "waited for", count, ins_words_row(flags),
		count == 1 ? "" : "s");
	if (waiters->joining)
		fprintf(out, " %" PRIu64 " join%s it%s", waiters->joining,
			waiters->joining == 1 ? "s" : "", waiters->wanting ? "," : ";");
	if (waiters->wanting)
		fprintf(out, " %" PRIu64 " want%s what it holds;", waiters->wanting,
			waiters->wanting == 1 ? "s" : "");
	ins_text_sample(out, &waiters->ids, count > waiters->ids.count);
	fputc('\n', out);
}

/* Print a total time. */
static void put_time(FILE *out, const char *what, uint64_t ns)
{
	char text[32];

	if (ns != FIB_ROW_UNKNOWN)
		fprintf(out, "%-12s %s\n", what, ins_duration_text((int64_t)ns, text, sizeof text));
}

static void put_holders(FILE *out, const struct show *s)
{
	const size_t at = ins_graph_find(s->graph, &s->fiber.row);

	if (at != INS_NOBODY)
		ins_text_holders(out, "             ", s->graph, at, s->source->modules->pid);
}

static void put(FILE *out, const struct show *s)
{
	const struct fib_layout *layout = &s->source->layout;
	const struct fib_row *row = &s->fiber.row;
	char text[sizeof row->name * 4];

	ins_text_header(out, layout, &s->fiber);
	fprintf(out, "%s\n", s->why);
	fprintf(out, "%-12s %s\n", "state",
		ins_escape(ins_words_state(layout, row->state), text, sizeof text));
	if (!(s->fiber.flags & INS_FIBER_THREAD))
		fprintf(out, "%-12s %s\n", "age", ins_duration_text(row->age, text, sizeof text));
	put_wait(out, layout, &s->fiber);
	put_place(out, "at", s->symbols, s->fiber.place ? s->fiber.place + 1 : 0, true);
	put_holders(out, s);
	put_waiters(out, &s->waiters, s->fiber.flags);
	put_labels(out, row);
	if (row->carrier != FIB_ROW_CARRIER_NONE)
		fprintf(out, "%-12s %u\n", "carrier", row->carrier);
	fprintf(out, "%-12s %" PRIu64 "\n", "switches", row->switches);
	put_time(out, "cpu", row->cpu);
	put_time(out, "runnable", row->runnable);
	put_time(out, "waited", row->waited);
	put_time(out, "lived", row->lived);
	fprintf(out, "%-12s %u\n", "pins", row->pins);
	if (!(s->fiber.flags & INS_FIBER_THREAD))
		put_stack(out, row);
	if (row->parent)
		fprintf(out, "%-12s %" PRIu64 "%s\n", "parent", row->parent,
			ins_table_find(s->others, row->parent) < 0 ? " (has ended)" : "");
	put_place(out, "spawned in", s->symbols, row->spawn_pc, true);
	put_place(out, "runs", s->symbols, row->entry, false);
}

static json_t *row_of(const struct show *s)
{
	json_t *row = ins_json_fiber(&s->source->layout, &s->fiber, s->symbols, NULL);
	json_t *wait = json_object_get(row, "wait");
	const size_t at = ins_graph_find(s->graph, &s->fiber.row);

	if (json_is_object(wait) && at != INS_NOBODY)
		ins_json_holders(wait, &s->source->layout, s->graph, at, s->source->modules->pid);
	if (row && json_object_set_new(row, "why", ins_json_text(s->why)) == 0 &&
	    json_object_set_new(row, "waiters",
				json_pack("{s:I, s:I, s:o}", "joining",
					  (json_int_t)s->waiters.joining, "wanting",
					  (json_int_t)s->waiters.wanting, "fiberIds",
					  ins_json_sample(&s->waiters.ids))) == 0)
		return row;
	json_decref(row);
	return NULL;
}

static int put_json(struct show *s, const struct ins_summary *summary)
{
	const struct ins_source *source = s->source;
	struct ins_json json;

	ins_json_begin(&json, stdout, source->pid, source->name, source->kind, "fibers");
	ins_json_row(&json, row_of(s));
	return ins_json_end(&json, summary, &source->problems);
}

static int take(void *context, const struct ins_fiber *fiber)
{
	struct show *s = context;

	s->fiber = *fiber;
	return 0;
}

static int ask(struct show *s)
{
	const struct ins_request one = {.id = s->id,
					.high_water = true,
					.labels = true,
					.reads = true,
					.modules = true,
					.places = true};
	const struct ins_request all = {.reads = true, .threads = true};
	struct ins_problems *problems = &s->source->problems;
	struct ins_error error = {""};
	struct ins_summary summary;
	int rc = ins_source_read(s->source, &one, take, s, &summary, &error);

	if (rc == 0)
		rc = ins_symbols_new(s->source->modules, &s->symbols);
	if (rc == 0)
		rc = ins_table_read(s->source, &all, &error, &s->others);
	if (rc == 0)
		rc = ins_graph_new(s->others, &s->graph);
	if (rc < 0)
		return tool_cannot("%s", error.text[0] ? error.text : strerror(-rc));
	ins_explain(s->graph, &s->source->layout, &s->fiber, s->why, sizeof s->why);
	ins_waiters_find(s->graph, s->id, &s->waiters);
	if (!s->arguments->json) {
		put(stdout, s);
		ins_text_end(stdout, &summary, problems);
	} else if (put_json(s, &summary) < 0) {
		return tool_written(TOOL_PARTIAL);
	}
	return tool_written(ins_problems_lines(problems) ? TOOL_PARTIAL : TOOL_WELL);
}

static int run(const struct tool_arguments *arguments)
{
	struct show s = {.arguments = arguments};
	char who[1024];
	int code;

	if (!tool_parse_id(arguments->word[1], &s.id))
		return tool_wrong(&tool_show, "%s: is not a fiber id: see '%s list %s'",
				  arguments->word[1], tool->name,
				  tool_options_who(arguments, who, sizeof who));
	code = tool->open(arguments, arguments->word[0], &s.source);
	if (code != TOOL_WELL)
		return code;
	code = ask(&s);
	ins_graph_free(s.graph);
	ins_table_free(s.others);
	ins_symbols_free(s.symbols);
	ins_source_close(s.source);
	return code;
}

const struct tool_command tool_show = {
	.name = "show",
	.usage = "PROCESS ID",
	.summary = "one fiber, and why it does not run",
	.help = "A sentence explains why the fiber does not run: what it waits for, which fiber\n"
		"holds that, what the holder waits for, and so on. Then: the fibers that wait for\n"
		"it, its state, labels, CPU time (as of its last switch), stack, and where it was\n"
		"spawned. 'bt' prints its calls.\n",
	.example = "show httpd 4\n"
		   "fiber 4 \"conn-2\" [suspended: mutex \"stats\" held by 3, 1.4s]\n"
		   "state        suspended\n"
		   "waits for    mutex \"stats\"@0x56130dd85d78 held by 3\n"
		   "at           serve_hold at fixtures/httpd.c:155\n"
		   "...\n",
	.least = 2,
	.most = 2,
	.threads = true,
	.options = TOOL_TAKES(TOOL_OPT_MODULE),
	.run = run,
};
