/* SPDX-License-Identifier: MIT */
/*
 * cmd_list.c - every fiber in a line, or those that are asked for, or how many share a value
 *
 * Without an order the lines are printed as the fibers come, and nothing is kept.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "tool/cmd/commands.h"
#include "tool/report.h"
#include "tool/where.h"
#include "inspect/query/columns.h"
#include "inspect/query/order.h"
#include "inspect/render/render.h"
#include "inspect/query/tally.h"
#include "inspect/text/duration.h"

#define SCREENFUL 200 /* lines on a terminal, unless told */
#define NO_LIMIT  UINT64_MAX
#define BUFFER	  (256u << 10) /* of standard output: a million lines are a hundred million bytes */

struct list {
	const struct tool_arguments *arguments;
	struct ins_source *source;
	struct ins_request request;
	struct tool_where where;
	struct ins_order *order; /* NULL: as they come */
	struct ins_tally *tally; /* NULL: each fiber */
	struct ins_columns columns;
	struct ins_symbols *symbols;
	struct ins_json json;
	uint64_t limit; /* NO_LIMIT; 0: nothing but the totals */
	uint64_t matched, shown;
	bool begun, failed;
};

static struct ins_sight sight_of(const struct list *l, const struct ins_fiber *fiber)
{
	struct ins_sight sight;

	sight.layout = &l->source->layout;
	sight.symbols = l->symbols;
	sight.fiber = fiber;
	return sight;
}

static void put_title(const struct list *l, const char *title)
{
	printf(l->arguments->color ? "\033[1m%s\033[0m\n" : "%s\n", title);
}

/* Before the first fiber: an error that comes earlier leaves standard output empty. */
static void begin(struct list *l)
{
	const struct ins_source *s = l->source;
	char buf[1024];
	struct ins_line line = ins_line(buf, sizeof buf);

	if (l->begun)
		return;
	l->begun = true;
	if (l->arguments->json) {
		ins_json_begin(&l->json, stdout, s->pid, s->name, s->kind,
			       l->tally ? "groups" : "fibers");
		return;
	}
	if (l->tally)
		ins_line_text(&line, "     COUNT      MIN   MEDIAN      MAX       CPU  VALUE");
	else
		ins_columns_title(&l->columns, &line);
	put_title(l, buf);
}

static int put(void *context, const struct ins_fiber *fiber)
{
	struct list *l = context;
	struct ins_sight sight = sight_of(l, fiber);
	char buf[4096];
	struct ins_line line = ins_line(buf, sizeof buf - 1);

	l->shown++;
	if (l->arguments->json) {
		ins_json_row(&l->json, ins_json_fiber(&l->source->layout, fiber, l->symbols, NULL));
		return 0;
	}
	ins_columns_row(&l->columns, &sight, &line);
	*line.at++ = '\n'; /* where its NUL was: there is room for another one */
	fwrite(buf, 1, (size_t)(line.at - buf), stdout);
	return 0;
}

/* The symbols cannot be had before the first fiber has brought the modules. */
static int take(void *context, const struct ins_fiber *fiber)
{
	struct list *l = context;
	struct ins_sight sight;

	if (!l->symbols && l->request.modules &&
	    ins_symbols_new(l->source->modules, &l->symbols) < 0)
		return -ENOMEM;
	if (!tool_where_test(&l->where, l->source, l->symbols, fiber))
		return 0;
	sight = sight_of(l, fiber);
	l->matched++;
	if (l->tally)
		return ins_tally_add(l->tally, &sight);
	if (l->order)
		return ins_order_add(l->order, &sight);
	if (l->shown == l->limit)
		return 0;
	ins_progress_give_way(&l->source->progress, !l->arguments->json);
	begin(l);
	return put(l, fiber);
}

static void put_count(struct list *l, const struct ins_count *c)
{
	char min[32], median[32], max[32], cpu[32];

	if (l->arguments->json) {
		ins_json_row(&l->json, ins_json_count(l->arguments->option[TOOL_OPT_GROUP_BY], c));
		return;
	}
	printf("%10" PRIu64 " %8s %8s %8s %9s  %-24s ids", c->count,
	       ins_duration_text(c->ages.min, min, sizeof min),
	       ins_duration_text(c->ages.median, median, sizeof median),
	       ins_duration_text(c->ages.max, max, sizeof max),
	       ins_duration_text((int64_t)c->cpu, cpu, sizeof cpu), c->value);
	ins_text_sample(stdout, &c->ids, c->count > c->ids.count);
	putchar('\n');
}

static void put_counts(struct list *l)
{
	size_t i, count = ins_tally_count(l->tally);

	ins_tally_sort(l->tally);
	for (i = 0; i < count && i < l->limit; i++) {
		put_count(l, ins_tally_at(l->tally, i));
		l->shown += ins_tally_at(l->tally, i)->count;
	}
	if (l->arguments->json)
		ins_json_key(&l->json, "leftOut",
			     json_pack("{s:I, s:I}", "groups", (json_int_t)(count - i), "fibers",
				       (json_int_t)(l->matched - l->shown)));
	else
		printf("shown %zu of %zu value%s of %s\n", i, count, count == 1 ? "" : "s",
		       l->arguments->option[TOOL_OPT_GROUP_BY]);
}

static int finish(struct list *l, struct ins_summary *summary)
{
	struct ins_problems *problems = &l->source->problems;
	int code;

	begin(l);
	if (l->order && l->limit)
		ins_order_each(l->order, put, l);
	if (l->tally)
		put_counts(l);
	summary->shown = l->shown;
	if (l->arguments->json) {
		if (l->where.select || l->limit != NO_LIMIT)
			ins_json_key(&l->json, "matched", json_integer((json_int_t)l->matched));
		l->failed = ins_json_end(&l->json, summary, problems) < 0;
	} else {
		ins_text_list_end(stdout, summary, l->matched, problems);
	}
	code = ins_problems_lines(problems) || l->failed ? TOOL_PARTIAL : TOOL_WELL;
	return tool_written(code);
}

/* -- what was asked for -- */

static int prepare_order(struct list *l, const char *name)
{
	const bool backwards = name[0] == '-';
	struct ins_field field;
	size_t most = 0; /* all */

	if (!tool_option_field(&tool_list, TOOL_OPT_SORT, name + backwards, &field))
		return TOOL_USAGE;
	ins_field_wants(&field, &l->request);
	if (l->limit != NO_LIMIT)
		most = l->limit ? (size_t)l->limit : 1;
	return ins_order_new(&field, backwards, most, &l->order) < 0 ? tool_cannot("out of memory")
								     : TOOL_WELL;
}

static int prepare_tally(struct list *l, const char *name)
{
	struct ins_field field;

	if (!tool_option_field(&tool_list, TOOL_OPT_GROUP_BY, name, &field))
		return TOOL_USAGE;
	ins_field_wants(&field, &l->request);
	return ins_tally_new(&field, &l->tally) < 0 ? tool_cannot("out of memory") : TOOL_WELL;
}

/* A person at a terminal wants to see the end of it, with the number of the rest. */
static bool prepare_limit(struct list *l)
{
	const struct tool_arguments *a = l->arguments;
	const bool person = isatty(STDOUT_FILENO) && !a->json;

	if (!tool_option_number(a, TOOL_OPT_LIMIT, 0, UINT32_MAX, person ? SCREENFUL : NO_LIMIT,
				&l->limit))
		return false;
	if (a->option[TOOL_OPT_ALL])
		l->limit = NO_LIMIT;
	return true;
}

static int prepare(struct list *l)
{
	const struct tool_arguments *a = l->arguments;
	const char *sort = a->option[TOOL_OPT_SORT];
	const char *group = a->option[TOOL_OPT_GROUP_BY];
	struct ins_error error = {""};
	int code = TOOL_WELL;

	if (group && (sort || a->option[TOOL_OPT_COLUMNS]))
		return tool_wrong(&tool_list, "--group-by: goes neither with --sort nor --columns");
	if (!prepare_limit(l))
		return TOOL_USAGE;
	if (ins_columns_parse(a->option[TOOL_OPT_COLUMNS], &l->columns, &error) < 0)
		return tool_wrong(&tool_list, "%s", error.text);
	if (a->json)
		l->request.high_water = l->request.labels = l->request.modules = true;
	ins_columns_want(&l->columns, &l->request);
	code = tool_where_begin(&l->where, &tool_list, a, &l->request);
	if (code == TOOL_WELL && sort)
		code = prepare_order(l, sort);
	return code == TOOL_WELL && group ? prepare_tally(l, group) : code;
}

static int ask(struct list *l)
{
	struct ins_error error = {""};
	struct ins_summary summary;
	int rc, code = prepare(l);

	if (code == TOOL_WELL)
		code = tool->open(l->arguments, l->arguments->word[0], &l->source);
	if (code != TOOL_WELL)
		return code;
	rc = ins_source_read(l->source, &l->request, take, l, &summary, &error);
	if (rc == 0)
		return finish(l, &summary);
	return tool_cannot("%s", error.text[0] ? error.text : strerror(-rc));
}

static int run(const struct tool_arguments *arguments)
{
	static char buffer[BUFFER]; /* without one of ours the size is not heeded */
	struct list l = {.arguments = arguments};
	int code;

	if (!isatty(STDOUT_FILENO))
		setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
	code = ask(&l);

	ins_symbols_free(l.symbols);
	ins_tally_free(l.tally);
	ins_order_free(l.order);
	tool_where_end(&l.where);
	if (l.source)
		ins_source_close(l.source);
	return code;
}

const struct tool_command tool_list = {
	.name = "list",
	.usage = "PROCESS",
	.summary = "every fiber and what it waits for",
	.help = "One line a fiber: its id, state, the time it has been in that state, how often\n"
		"it was switched to, the part of its stack in use (- while it runs) and the size\n"
		"of it, what it waits for and who holds that, its name. The last line says how\n"
		"many fibers there were and how long it took to look at them; the program is not\n"
		"stopped meanwhile, each line is of one moment but not all lines of the same.\n"
		"\n"
		"On a terminal no more than 200 lines are printed unless --limit or --all says\n"
		"so. For the fields of --where, --sort, --columns and --group-by see the topic\n"
		"'where'.\n",
	.least = 1,
	.most = 1,
	.options = TOOL_TAKES(TOOL_OPT_ALL) | TOOL_TAKES(TOOL_OPT_COLUMNS) |
		   TOOL_TAKES(TOOL_OPT_GROUP_BY) | TOOL_TAKES(TOOL_OPT_LIMIT) |
		   TOOL_TAKES(TOOL_OPT_SORT) | TOOL_TAKES(TOOL_OPT_WHERE),
	.run = run,
};
