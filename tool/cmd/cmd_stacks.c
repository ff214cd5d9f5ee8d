/* SPDX-License-Identifier: MIT */
/*
 * cmd_stacks.c - group fibers by equal stacks, the largest group first
 *
 * Fibers are walked as they are read and only their places and ages are kept: eight bytes a fiber.
 * Names are looked up per group, after the reading of the program is over; if fibers are grouped by
 * a name, once per address.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "tool/details.h"
#include "tool/cmd/flames.h"
#include "tool/report.h"
#include "inspect/unwind/thread_stack_walk.h"
#include "tool/cmd/commands.h"
#include "tool/query.h"
#include "inspect/symbols/limit.h"
#include "inspect/render/render.h"
#include "inspect/render/render_flames.h"
#include "inspect/text/escape.h"

struct stacks {
	const struct tool_arguments *arguments;
	uint64_t min;
	unsigned frames;	/* frames of a stack; 0: all */
	struct ins_query query; /* its group values are the keys */
	struct ins_source *source;
	struct ins_unwinder *unwinder;
	struct ins_symbols *symbols;
	struct ins_groups *groups;
	struct ins_flames *flames;  /* groups that are large enough, for folded lines and files */
	uint64_t few_groups, fewer; /* groups smaller than min, and their fibers */
	struct tool_details details;
	struct ins_walk walk;
};

static int take(void *context, const struct ins_fiber *fiber)
{
	struct stacks *s = context;
	struct ins_sight sight = {
		.layout = &s->source->layout, .symbols = s->symbols, .fiber = fiber};
	const struct ins_field *by = &s->query.group;
	char buf[INS_FIELD_WORDS];
	const char *key = NULL;

	if (!ins_query_match(&s->query, s->source, s->symbols, fiber))
		return 0;
	ins_walk_row(s->unwinder, fiber, &s->walk);
	ins_walk_limit(&s->walk, s->symbols, s->frames);
	if (by->info)
		key = ins_field_words(by, ins_field_get(&sight, by), buf);
	if (ins_groups_add(s->groups, key, fiber, &s->walk) < 0)
		return -ENOMEM;
	return tool_details_group(&s->details, s->source, s->symbols, s->groups, fiber, &s->walk);
}

/* The number of fibers in the groups from i on with its key, including small groups. */
static uint64_t fibers_of_key(const struct stacks *s, size_t i)
{
	const struct ins_text_kept *key = ins_groups_at(s->groups, i)->key;
	uint64_t n = 0;

	for (; i < ins_groups_count(s->groups) && ins_groups_at(s->groups, i)->key == key; i++)
		n += ins_groups_at(s->groups, i)->count;
	return n;
}

/* == label.user "bob": 17 fibers
 * == holder 3: 17 fibers */
static void put_key(const struct stacks *s, size_t i)
{
	const struct ins_text_kept *key = ins_groups_at(s->groups, i)->key;
	uint64_t n = fibers_of_key(s, i);
	char text[1024];

	fputs("== ", stdout);
	if (!key)
		fputs("no ", stdout);
	fputs(ins_escape_quoted(s->query.group_by, text, sizeof text), stdout);
	if (key && s->query.group.info->kind == INS_TEXT)
		printf(" \"%s\"", ins_escape_quoted(key->text, text, sizeof text));
	else if (key)
		printf(" %s", key->text);
	printf(": %" PRIu64 " %s%s\n\n", n, ins_words_row(ins_groups_at(s->groups, i)->fiber.flags),
	       n == 1 ? "" : "s");
}

/* Print the groups that are large enough, in one of three formats. */
static int put_groups(struct stacks *s, struct ins_json *json)
{
	const struct fib_layout *layout = &s->source->layout;
	const struct ins_text_kept *key = NULL;
	bool begun = false;
	size_t i;

	for (i = 0; i < ins_groups_count(s->groups); i++) {
		const struct ins_group *g = ins_groups_at(s->groups, i);

		if (g->count < s->min) {
			s->few_groups++;
			s->fewer += g->count;
			continue;
		}
		if (json) {
			ins_json_row(json, ins_json_variables(ins_json_group(layout, g, s->symbols),
							      g->variables, s->details.wanted));
			continue;
		}
		if (s->flames) {
			if (ins_flames_add(s->flames, layout, g, s->query.group.info != NULL,
					   s->symbols) < 0)
				return -ENOMEM;
			continue;
		}
		if (s->query.group.info && (!begun || g->key != key))
			put_key(s, i);
		key = g->key;
		begun = true;
		ins_text_group(stdout, layout, g);
		tool_details_group_frames(&s->details, s->symbols, g);
		putchar('\n');
	}
	return 0;
}

static int put_json(struct stacks *s, struct ins_summary *summary)
{
	const struct ins_source *source = s->source;
	struct ins_json json;

	ins_json_begin(&json, stdout, source->pid, source->name, source->kind, "groups");
	put_groups(s, &json);
	summary->shown -= s->fewer;
	ins_json_key(&json, "leftOut",
		     json_pack("{s:I, s:I}", "groups", (json_int_t)s->few_groups, "fibers",
			       (json_int_t)s->fewer));
	return ins_json_end(&json, summary, &source->problems);
}

/* Only stacks go to standard output. */
static int put_folded(struct stacks *s)
{
	const struct ins_problems *problems = &s->source->problems;
	char text[640];
	size_t i;

	if (put_groups(s, NULL) < 0)
		return -ENOMEM;
	if (ins_folded_put(stdout, s->flames) < 0)
		return -ENOMEM;
	for (i = 0; i < ins_problems_lines(problems); i++)
		tool_cannot("incomplete: %s", ins_problems_text(problems, i, text, sizeof text));
	return 0;
}

static void put_end(const struct stacks *s, struct ins_summary *summary)
{
	summary->shown -= s->fewer;
	if (s->fewer)
		printf("left out: %" PRIu64 " %s%s in %" PRIu64 " group%s of fewer than %" PRIu64
		       "\n",
		       s->fewer, ins_words_rows(summary), s->fewer == 1 ? "" : "s", s->few_groups,
		       s->few_groups == 1 ? "" : "s", s->min);
	ins_text_end(stdout, summary, &s->source->problems);
}

/* The problems of an answer whose standard output is a file. */
static void put_problems(const struct ins_problems *problems)
{
	char text[640];
	size_t i;

	for (i = 0; i < ins_problems_lines(problems); i++)
		tool_cannot("%s", ins_problems_text(problems, i, text, sizeof text));
}

/* Write files; their names and the totals go to standard output, if no file does. */
static int put_files(struct stacks *s, struct ins_summary *summary)
{
	int code;

	if (put_groups(s, NULL) < 0)
		return tool_cannot("out of memory");
	code = tool_flames_write(s->arguments, s->flames, s->source);
	if (code != TOOL_WELL)
		return code;
	if (tool_flames_to_output(s->arguments))
		put_problems(&s->source->problems);
	else
		put_end(s, summary);
	return tool_written(ins_problems_lines(&s->source->problems) ? TOOL_PARTIAL : TOOL_WELL);
}

static int put(struct stacks *s, struct ins_summary *summary)
{
	int rc = 0;

	summary->shown -= s->query.others;
	ins_groups_sort(s->groups);
	if (s->arguments->given & TOOL_TAKES_FLAMES)
		return put_files(s, summary);
	if (s->arguments->json) {
		rc = put_json(s, summary);
	} else if (s->flames) {
		rc = put_folded(s);
	} else {
		put_groups(s, NULL);
		put_end(s, summary);
	}
	if (rc == -ENOMEM)
		return tool_cannot("out of memory");
	return tool_written(ins_problems_lines(&s->source->problems) ? TOOL_PARTIAL : TOOL_WELL);
}

static int ask(struct stacks *s, struct ins_request *request)
{
	struct ins_error error = {""};
	struct ins_summary summary;
	int rc = ins_unwinder_new(s->source, &s->unwinder);

	if (rc == 0)
		ins_unwinder_hide(s->unwinder, !s->arguments->option[TOOL_OPT_ALL_FRAMES]);
	if (rc == 0)
		rc = ins_symbols_new(s->source->modules, &s->symbols);
	if (rc == 0)
		rc = ins_groups_new(&s->groups);
	if (rc == 0)
		rc = tool_details_begin(&s->details, s->source->modules);
	if (rc == 0 && s->arguments->given & (TOOL_TAKES(TOOL_OPT_FOLDED) | TOOL_TAKES_FLAMES))
		rc = ins_flames_new(&ins_flame_fibers, &s->flames);
	if (rc == 0)
		rc = ins_source_read(s->source, request, take, s, &summary, &error);
	if (rc == 0)
		return put(s, &summary);
	return tool_cannot("%s", error.text[0] ? error.text : strerror(-rc));
}

/* Standard output has one format. */
static int one_format(const struct tool_arguments *arguments)
{
	const bool folded = arguments->option[TOOL_OPT_FOLDED] != NULL;
	const bool files = (arguments->given & TOOL_TAKES_FLAMES) != 0;

	if (arguments->json && folded)
		return tool_wrong(&tool_stacks, "--folded: cannot be combined with --json");
	if (files && (arguments->json || folded))
		return tool_wrong(&tool_stacks,
				  "--%s: cannot be combined with --svg, --speedscope or --pprof",
				  folded ? "folded" : "json");
	if (tool_flames_to_output(arguments) > 1)
		return tool_wrong(&tool_stacks, "only one file can be standard output ('-')");
	if (!files && arguments->option[TOOL_OPT_FORCE])
		return tool_wrong(&tool_stacks, "--force: needs --svg, --speedscope or --pprof");
	return TOOL_WELL;
}

static int prepare(struct stacks *s, struct ins_request *request)
{
	const struct tool_arguments *arguments = s->arguments;
	int code = one_format(arguments);

	if (code != TOOL_WELL)
		return code;
	if (!tool_option_number(arguments, TOOL_OPT_MIN, 1, UINT64_MAX, 1, &s->min) ||
	    !tool_option_frames(arguments, &s->frames) ||
	    !tool_details_parse(arguments, &s->details))
		return TOOL_USAGE;
	code = tool_query(&tool_stacks, arguments, INS_QUERY_ALL, &s->query);
	ins_query_wants(&s->query, request);
	return code;
}

static int run(const struct tool_arguments *arguments)
{
	struct ins_request request = {.stacks = true};
	struct stacks s = {.arguments = arguments};
	int code = prepare(&s, &request);

	if (code == TOOL_WELL)
		code = tool->open(arguments, arguments->word[0], &s.source);
	if (code == TOOL_WELL) {
		code = ask(&s, &request);
		tool_details_end(&s.details);
		ins_flames_free(s.flames);
		ins_groups_free(s.groups);
		ins_symbols_free(s.symbols);
		ins_unwinder_free(s.unwinder);
		ins_source_close(s.source);
	}
	ins_query_drop(&s.query);
	return code;
}

const struct tool_command tool_stacks = {
	.name = "stacks",
	.usage = "PROCESS",
	.summary = "all fibers, grouped by equal stacks",
	.help = "Fibers with the same calls and the same wait form one group; the largest group\n"
		"comes first. Each group has the number of its fibers, what all of them wait for,\n"
		"the minimum, maximum and median time in this state, and some of their ids.\n"
		"--group-by NAME: group by this field first (see the topic 'where'), then by\n"
		"stack.\n"
		"--folded: one line for each stack, outermost function first, for flame graphs.\n"
		"--svg, --speedscope, --pprof: write a file, for a browser, for speedscope.app,\n"
		"for 'go tool pprof'. An existing file is only replaced with --force.\n",
	.example = "stacks httpd\n"
		   "2 fibers [suspended: mutex \"stats\" held by 3, 1.5s] ids 4, 5\n"
		   "  #5  fiber_mutex_lock+0xb2 at libfiber/sync/mutex.c:251\n"
		   "  #6  serve_hold (inlined) at fixtures/httpd.c:155\n"
		   "...\n",
	.least = 1,
	.most = 1,
	.threads = true,
	.options = TOOL_TAKES(TOOL_OPT_ALL_FRAMES) | TOOL_TAKES(TOOL_OPT_FOLDED) |
		   TOOL_TAKES(TOOL_OPT_FORCE) | TOOL_TAKES(TOOL_OPT_FRAMES) |
		   TOOL_TAKES(TOOL_OPT_GROUP_BY) | TOOL_TAKES(TOOL_OPT_MIN) |
		   TOOL_TAKES(TOOL_OPT_MODULE) | TOOL_TAKES(TOOL_OPT_WHERE) | TOOL_TAKES_FLAMES |
		   TOOL_TAKES_DETAILS,
	.run = run,
};
