/* SPDX-License-Identifier: MIT */
/* cmd_tree.c - print fibers as a tree; orphans are below a line for their exited parent */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tool/query.h"
#include "inspect/render/render.h"
#include "inspect/query/table.h"
#include "inspect/waits/tree.h"
#include "tool/cmd/commands.h"
#include "tool/report.h"

#define INDENT_MAX 24 /* levels; deeper ones are numbered instead */

struct tree {
	const struct tool_arguments *arguments;
	struct ins_source *source;
	struct ins_table *table;
	struct ins_tree *tree;
	struct ins_symbols *symbols;
	struct ins_query query;
	bool *kept;		 /* for each fiber of the table; NULL: all are kept */
	uint64_t others;	 /* not kept */
	uint64_t matched;	 /* fibers for which --where is true */
	json_t *parents;	 /* with --json: ids of exited parents */
	uint64_t orphans, ended; /* fibers whose parent has exited, and those parents */
	uint64_t left;		 /* not shown because of the limit */
	uint64_t last;		 /* parent of the orphan seen last */
	bool below;		 /* the current fibers are below a line for an exited parent */
};

/* Count an orphan. Returns whether it is the first of its parent's. */
static bool note_orphan(struct tree *t, const struct ins_tree_place *place,
			const struct ins_fiber *fiber)
{
	bool first;

	if (!place->depth)
		t->below = place->kind == INS_TREE_ORPHAN;
	if (place->kind != INS_TREE_ORPHAN)
		return false;
	first = !t->orphans || fiber->row.parent != t->last;
	t->orphans++;
	t->ended += first;
	if (first && t->parents)
		json_array_append_new(t->parents, json_integer((json_int_t)fiber->row.parent));
	t->last = fiber->row.parent;
	return first;
}

static void put_line(const struct tree *t, const struct ins_tree_place *place,
		     const struct ins_fiber *fiber)
{
	uint64_t level = place->depth + t->below;

	if (level > INDENT_MAX)
		printf("%*s[%" PRIu64 "] ", 2 * INDENT_MAX, "", level);
	else
		printf("%*s", (int)(2 * level), "");
	if (place->kind == INS_TREE_CIRCLE)
		printf("(parents in a cycle: %" PRIu64 ") ", fiber->row.parent);
	ins_text_header(stdout, &t->source->layout, fiber);
}

static json_t *row_of(const struct tree *t, const struct ins_tree_place *place,
		      const struct ins_fiber *fiber)
{
	json_t *row = ins_json_fiber(&t->source->layout, fiber, t->symbols, NULL);

	if (row && json_object_set_new(row, "depth", json_integer((json_int_t)place->depth)) == 0 &&
	    json_object_set_new(row, "children", json_integer((json_int_t)place->children)) == 0 &&
	    json_object_set_new(row, "orphan", json_boolean(place->kind == INS_TREE_ORPHAN)) == 0)
		return row;
	json_decref(row);
	return NULL;
}

/* Keep the matching fibers and their ancestors, up to one that is kept already. */
static void keep(struct tree *t, struct ins_tree *tree, size_t *above)
{
	struct ins_tree_place place;
	struct ins_fiber fiber;
	uint64_t depth;

	while (ins_tree_next(tree, &place)) {
		above[place.depth] = place.fiber;
		ins_table_get(t->table, place.fiber, &fiber);
		if (!ins_query_match(&t->query, t->source, t->symbols, &fiber))
			continue;
		t->matched++;
		for (depth = place.depth + 1; depth-- > 0 && !t->kept[above[depth]];)
			t->kept[above[depth]] = true;
	}
}

static int keep_those_meant(struct tree *t)
{
	const size_t count = ins_table_count(t->table) + 1;
	struct ins_tree *tree = NULL;
	size_t *above;
	int rc;

	t->matched = t->query.select ? 0 : count - 1;
	if (!t->query.select)
		return 0;
	t->kept = calloc(count, sizeof *t->kept);
	above = calloc(count, sizeof *above);
	rc = t->kept && above ? ins_tree_new(t->table, &tree) : -ENOMEM;
	if (rc == 0)
		keep(t, tree, above);
	ins_tree_free(tree);
	free(above);
	return rc;
}

static void put_all(struct tree *t, struct ins_json *json)
{
	struct ins_tree_place place;
	struct ins_fiber fiber;
	uint64_t shown = 0;

	while (ins_tree_next(t->tree, &place)) {
		bool first;

		if (t->kept && !t->kept[place.fiber]) {
			t->others++;
			continue;
		}
		ins_table_get(t->table, place.fiber, &fiber);
		first = note_orphan(t, &place, &fiber);
		if (shown++ >= t->query.limit) {
			t->left++;
		} else if (json) {
			ins_json_row(json, row_of(t, &place, &fiber));
		} else {
			if (first)
				printf("(ended %" PRIu64 ")\n", fiber.row.parent);
			put_line(t, &place, &fiber);
		}
	}
}

static int put_json(struct tree *t, struct ins_summary *summary)
{
	const struct ins_source *s = t->source;
	struct ins_json json;

	ins_json_begin(&json, stdout, s->pid, s->name, s->kind, "fibers");
	t->parents = json_array();
	put_all(t, &json);
	ins_json_key(&json, "orphans", json_integer((json_int_t)t->orphans));
	ins_json_key(&json, "endedParents", t->parents);
	ins_json_key(&json, "matched", json_integer((json_int_t)t->matched));
	ins_json_key(&json, "leftOut", json_pack("{s:I}", "fibers", (json_int_t)t->left));
	summary->shown -= t->left + t->others;
	return ins_json_end(&json, summary, &s->problems);
}

static void put_text(struct tree *t, struct ins_summary *summary)
{
	put_all(t, NULL);
	summary->shown -= t->left + t->others;
	if (t->orphans)
		printf("orphans: %" PRIu64 ", of %" PRIu64 " fiber%s ended\n", t->orphans, t->ended,
		       t->ended == 1 ? " that has" : "s that have");
	if (t->left)
		printf("left out: %" PRIu64 " fiber%s past the limit of %" PRIu64 "\n", t->left,
		       t->left == 1 ? "" : "s", t->query.limit);
	ins_text_end(stdout, summary, &t->source->problems);
}

static int ask(struct tree *t, const struct ins_request *request)
{
	struct ins_error error = {""};
	struct ins_summary summary;
	int rc = ins_table_read(t->source, request, &error, &t->table);

	if (rc == 0)
		rc = ins_tree_new(t->table, &t->tree);
	if (rc == 0 && request->modules)
		rc = ins_symbols_new(t->source->modules, &t->symbols);
	if (rc == 0)
		rc = keep_those_meant(t);
	if (rc < 0)
		return tool_cannot("%s", error.text[0] ? error.text : strerror(-rc));
	summary = *ins_table_summary(t->table);
	if (t->arguments->json && put_json(t, &summary) < 0)
		ins_problems_add(&t->source->problems, "the answer is not whole");
	if (!t->arguments->json)
		put_text(t, &summary);
	return tool_written(ins_problems_lines(&t->source->problems) ? TOOL_PARTIAL : TOOL_WELL);
}

static int run(const struct tool_arguments *arguments)
{
	struct tree t = {.arguments = arguments};
	struct ins_request request = {
		.labels = arguments->json,
		.modules = arguments->json,
	};
	uint64_t limit;
	int code;

	if (!tool_option_number(arguments, TOOL_OPT_LIMIT, 0, UINT64_MAX, INS_QUERY_ALL, &limit))
		return TOOL_USAGE;
	code = tool_query(&tool_tree, arguments, limit, &t.query);
	ins_query_wants(&t.query, &request);
	if (code == TOOL_WELL)
		code = tool->open(arguments, arguments->word[0], &t.source);
	if (code == TOOL_WELL) {
		code = ask(&t, &request);
		ins_symbols_free(t.symbols);
		ins_tree_free(t.tree);
		ins_table_free(t.table);
		ins_source_close(t.source);
	}
	free(t.kept);
	ins_query_drop(&t.query);
	return code;
}

const struct tool_command tool_tree = {
	.name = "tree",
	.usage = "PROCESS",
	.summary = "which fiber spawned which",
	.help = "Every fiber once, below its parent. Fibers that a thread spawned are at the left\n"
		"margin. A fiber whose parent has exited is an orphan; it is below a line\n"
		"'(ended ID)'. Below level 24 the level is printed as a number before the line.\n"
		"--where: only the fibers for which it is true, and their ancestors.\n",
	.example = "tree httpd\n"
		   "fiber 1 \"acceptor\" [suspended: fd 4 read, 1.5s]\n"
		   "  fiber 2 \"signals\" [suspended: fd 3 read, 4.6s]\n"
		   "  fiber 3 \"conn-1\" [suspended: sleep 38.4s left, 1.5s]\n"
		   "shown 3 of 3 fibers, sampled over 33us\n",
	.least = 1,
	.most = 1,
	.options = TOOL_TAKES(TOOL_OPT_LIMIT) | TOOL_TAKES(TOOL_OPT_MODULE) |
		   TOOL_TAKES(TOOL_OPT_WHERE),
	.run = run,
};
