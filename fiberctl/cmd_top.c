/* SPDX-License-Identifier: MIT */
/* cmd_top.c - a live screen of all fibers, or one such screen as text or JSON */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "fiberctl/top_tables.h"
#include "tool/process.h"
#include "tool/report.h"
#include "inspect/render/render.h"

enum { KEPT = 500, LINES_ONCE = 20, GROUPS_ONCE = 20 };

#define LIVE	 INT64_C(2000000000) /* ns between looks */
#define ONCE	 INT64_C(200000000)
#define SHORTEST INT64_C(10000000)

struct choices {
	int64_t interval;
	uint64_t limit, groups;
};

static int choose(struct ctl_top *top, const struct tool_arguments *a, struct choices *ret)
{
	const char *sort = a->option[TOOL_OPT_SORT], *group = a->option[TOOL_OPT_GROUP_BY];
	const struct ins_query_words words = {
		.where = a->option[TOOL_OPT_WHERE],
		.sort = sort ? sort : "-cpu",
		.group_by = group ? group : "wait",
		.limit = INS_QUERY_ALL,
	};
	const bool once = a->option[TOOL_OPT_ONCE] || a->json;
	struct ins_error error;

	if (ctl_top_query(top, &words, &error) < 0)
		return tool_wrong(&ctl_top, "%s", error.text);
	if (!tool_option_number(a, TOOL_OPT_LIMIT, 0, 1000000, once ? LINES_ONCE : KEPT,
				&ret->limit) ||
	    !tool_option_duration(a, TOOL_OPT_INTERVAL, once ? ONCE : LIVE, &ret->interval))
		return TOOL_USAGE;
	ret->groups = a->option[TOOL_OPT_LIMIT] ? ret->limit : GROUPS_ONCE;
	if (ret->interval < SHORTEST)
		return tool_wrong(&ctl_top, "--interval %s: at least 0.01",
				  a->option[TOOL_OPT_INTERVAL]);
	return TOOL_WELL;
}

/* -- one screen -- */

static void put(struct ins_strbuf *line, char *buf)
{
	ins_strbuf_text(line, "\n");
	fputs(buf, stdout);
}

static void put_table(struct ctl_top_table table, size_t count)
{
	char buf[4096];
	struct ins_strbuf line = ins_strbuf(buf, sizeof buf);
	size_t i;

	ctl_top_table_fit(&table, 0, count, 0);
	ctl_top_table_title(&table, &line);
	put(&line, buf);
	for (i = 0; i < count; i++) {
		line = ins_strbuf(buf, sizeof buf);
		ctl_top_table_row(&table, i, &line);
		put(&line, buf);
	}
}

static void put_groups(const struct ctl_top *top, size_t limit)
{
	const size_t count = ins_watch_group_totals(top->watch),
		     shown = count < limit ? count : limit;

	put_table(ctl_top_group_table(top), shown);
	if (shown < count)
		printf("shown %zu of %zu value%s of %s\n", shown, count, count == 1 ? "" : "s",
		       ctl_top_field(&top->query.group));
}

static int put_text(const struct ctl_top *top, size_t groups)
{
	const struct ins_problems *problems = &top->source->problems;
	struct ins_summary summary = top->summary;
	char buf[1024];
	unsigned i;

	for (i = 0; i < CTL_TOP_HEAD; i++) {
		struct ins_strbuf line = ins_strbuf(buf, sizeof buf);

		ctl_top_head(top, i, &line);
		put(&line, buf);
	}
	putchar('\n');
	put_table(ctl_top_carrier_table(top), ctl_top_carriers(top));
	putchar('\n');
	put_groups(top, groups);
	putchar('\n');
	put_table(ctl_top_fiber_table(top), ins_watch_top_n(top->watch));
	summary.shown = ins_watch_top_n(top->watch);
	ins_text_list_end(stdout, &summary, summary.shown, problems);
	return tool_written(ins_problems_lines(problems) ? TOOL_PARTIAL : TOOL_WELL);
}

static int once(struct ctl_top *top, const struct choices *choices, bool json)
{
	struct timespec wait = {.tv_sec = (time_t)(choices->interval / 1000000000),
				.tv_nsec = choices->interval % 1000000000};
	struct ins_error error;
	int rc = 0;

	if (!top->filed) {
		rc = ctl_top_look(top, &error);
		if (rc == 0)
			nanosleep(&wait, NULL);
	}
	if (rc == 0) {
		if (json)
			top->extra.high_water = top->extra.labels = true;
		rc = ctl_top_look(top, &error);
	}
	if (rc < 0)
		return tool_cannot("%s", error.text);
	return json ? ctl_top_json(top, choices->groups) : put_text(top, choices->groups);
}

static int ask(struct ctl_top *top, const struct tool_arguments *arguments)
{
	struct choices choices = {0};
	int code = choose(top, arguments, &choices);

	if (code != TOOL_WELL)
		return code;
	if (ins_watch_new(choices.limit, &top->watch) < 0)
		return tool_cannot("out of memory");
	code = tool_process_look(arguments->word[0], &top->socket, &top->filed);
	if (code != TOOL_WELL)
		return code;
	if (top->filed) {
		snprintf(top->socket.path, sizeof top->socket.path, "%s", arguments->word[0]);
		ins_watch_since_spawn(top->watch);
	}
	if (arguments->option[TOOL_OPT_ONCE] || arguments->json)
		return once(top, &choices, arguments->json);
	return ctl_top_live(top, choices.interval);
}

static int run(const struct tool_arguments *arguments)
{
	static struct ctl_top top;
	int code;

	top.client.fd = -1;
	code = ask(&top, arguments);
	ctl_top_close(&top);
	return code;
}

const struct tool_command ctl_top = {
	.name = "top",
	.usage = "PROCESS",
	.summary = "live screen: totals, carriers, busiest fibers",
	.help = "Samples all fibers every two seconds, or as -n says, and shows what has changed:\n"
		"totals of all fibers, the state and CPU use of each carrier, groups of fibers\n"
		"that share a value (what they wait for, unless --group-by names another), and\n"
		"the fibers that were on a carrier for the longest time since the previous\n"
		"sample. For --sort, cpu and switches are since then, too. 'h' shows the keys;\n"
		"Enter shows the backtrace of the selected fiber.\n"
		"\n"
		"--once prints one such screen, from two samples that are 0.2 seconds apart, or\n"
		"as -n says, with 20 fibers and 20 groups, or --limit of each. --json prints the\n"
		"same for scripts.\n"
		"\n"
		"A snapshot is a single sample: the values of its fibers count from their spawn,\n"
		"and rates are over the time since the first fiber was spawned.\n"
		"\n"
		"At most one twentieth of a CPU is used, whatever -n says.\n",
	.example = "top httpd --once\n"
		   "httpd, process 15573: 5 fibers, 2 carriers, ok; in 201ms: 0.0% cpu, ...\n"
		   "states: 0 running, 0 runnable, 5 suspended, 0 created, 0 dead\n"
		   "waits: 2 mutex, 2 fd, 1 sleep\n"
		   "...\n",
	.least = 1,
	.most = 1,
	.options = TOOL_TAKES(TOOL_OPT_GROUP_BY) | TOOL_TAKES(TOOL_OPT_INTERVAL) |
		   TOOL_TAKES(TOOL_OPT_LIMIT) | TOOL_TAKES(TOOL_OPT_ONCE) |
		   TOOL_TAKES(TOOL_OPT_SORT) | TOOL_TAKES(TOOL_OPT_WHERE),
	.run = run,
};
