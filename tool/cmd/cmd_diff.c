/* SPDX-License-Identifier: MIT */
/*
 * cmd_diff.c - compare snapshots: new fibers, gone fibers, stuck fibers
 *
 * A fiber is stuck if it is in all snapshots, was not switched to in between, and has the same
 * stack in all. This separates a fiber that waits for ever from fifty thousand that wait for normal
 * events.
 *
 * Each snapshot is read once, in order. Of each only a number per fiber is kept for the comparison,
 * and only fibers that may still be stuck are walked.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/fiber.h>

#include "tool/cmd/commands.h"
#include "inspect/query/group.h"
#include "inspect/text/escape.h"
#include "inspect/render/render.h"
#include "inspect/query/table.h"
#include "inspect/unwind/unwind.h"
#include "inspect/text/duration.h"
#include "tool/report.h"

#define SHOWN 20 /* new or gone fibers that are shown in text, without --limit */

/* A fiber of a snapshot that may be stuck. */
struct mark {
	uint64_t id, seq;
	uint64_t stack; /* a hash of its walk */
};

struct look {
	const char *who;
	struct ins_source *source;
	struct ins_unwinder *unwinder;
	struct ins_table *table;
	struct ins_summary summary;
	int64_t now;
	struct mark *marks; /* sorted by id after the read */
	size_t count, room;
};

struct diff {
	const struct tool_arguments *arguments;
	struct look at[TOOL_WORDS];
	int count;
	struct look *look; /* that is being read */
	struct ins_groups *stuck;
	uint64_t stuck_count;
	struct ins_symbols *symbols; /* of the last snapshot */
	struct ins_problems problems;
	uint64_t limit;
	struct ins_walk walk;
};

static int by_id(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static uint64_t hash(const struct ins_walk *walk)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325) ^ walk->truncated;
	unsigned i;

	for (i = 0; i < walk->count; i++)
		h = (h ^ walk->pc[i]) * UINT64_C(0x9e3779b97f4a7c15) ^ (h >> 29);
	return h;
}

static int add_mark(struct look *look, const struct mark *mark)
{
	if (look->count == look->room) {
		size_t room = look->room ? look->room * 2 : 1024;
		struct mark *more = realloc(look->marks, room * sizeof *more);

		if (!more)
			return -ENOMEM;
		look->marks = more;
		look->room = room;
	}
	look->marks[look->count++] = *mark;
	return 0;
}

/* The mark of this fiber in the previous snapshot. NULL: not there, or not stuck. */
static const struct mark *before(const struct look *look, const struct fib_row *row)
{
	const struct mark wanted = {.id = row->id}, *found = NULL;

	if (look[-1].count)
		found = bsearch(&wanted, look[-1].marks, look[-1].count, sizeof wanted, by_id);
	return found && found->seq == row->seq ? found : NULL;
}

static int take(void *context, const struct ins_fiber *fiber)
{
	struct diff *d = context;
	struct look *look = d->look;
	bool first = look == d->at, last = look == &d->at[d->count - 1];
	struct mark mark = {.id = fiber->row.id, .seq = fiber->row.seq};
	const struct mark *old;
	int rc = first || last ? ins_table_add(look->table, fiber) : 0;

	look->now = fiber->now;
	/* An exited fiber waits for its joiner and is not stuck itself. */
	if (rc < 0 || fiber->row.state == FIBER_DEAD)
		return rc;
	old = first ? &mark : before(look, &fiber->row);
	if (!old)
		return 0;
	ins_unwind(look->unwinder, fiber, &d->walk);
	mark.stack = hash(&d->walk);
	if (old->stack != mark.stack)
		return 0;
	if (!last)
		return add_mark(look, &mark);
	d->stuck_count++;
	return ins_groups_add(d->stuck, NULL, fiber, &d->walk);
}

/* Ids of two processes, or of two runs of a program, are not comparable. */
static int check_same(const struct look *first, const struct look *look)
{
	const struct ins_modules *a = first->source->modules, *b = look->source->modules;
	const char *host = first->summary.host, *other = look->summary.host;
	char one[256], two[256];

	ins_escape(first->who, one, sizeof one);
	ins_escape(look->who, two, sizeof two);
	if (first->source->pid != look->source->pid ||
	    strcmp(first->source->name, look->source->name) != 0 ||
	    (host && other && strcmp(host, other) != 0) ||
	    (a->count && b->count && a->at[0].start != b->at[0].start))
		return tool_cannot("%s: is from another process than %s, or from another run of it",
				   two, one);
	if (look[-1].now && look->now && look->now < look[-1].now)
		return tool_cannot("%s: was taken before %s: give the oldest first", two,
				   ins_escape(look[-1].who, one, sizeof one));
	return TOOL_WELL;
}

static void keep_problems(struct diff *d, const struct look *look)
{
	char text[640], who[256];
	size_t i;

	for (i = 0; i < ins_problems_lines(&look->source->problems); i++)
		ins_problems_add(&d->problems, "%s: %s", ins_escape(look->who, who, sizeof who),
				 ins_problems_text(&look->source->problems, i, text, sizeof text));
}

static int read_one(struct diff *d, struct look *look)
{
	const struct ins_request request = {.stacks = true, .labels = true, .modules = true};
	struct ins_error error = {""};
	int rc = TOOL_WELL, code = tool->open(d->arguments, look->who, &look->source);

	if (code != TOOL_WELL)
		return code;
	d->look = look;
	rc = ins_unwinder_new(look->source, &look->unwinder);
	if (rc == 0)
		ins_unwinder_hide(look->unwinder, !d->arguments->option[TOOL_OPT_ALL_FRAMES]);
	if (rc == 0)
		rc = ins_table_new(&look->table);
	if (rc == 0)
		rc = ins_source_read(look->source, &request, take, d, &look->summary, &error);
	if (rc < 0)
		return tool_cannot("%s", error.text[0] ? error.text : strerror(-rc));
	if (look->count)
		qsort(look->marks, look->count, sizeof *look->marks, by_id);
	keep_problems(d, look);
	return look == d->at ? TOOL_WELL : check_same(d->at, look);
}

/*
 * Pass each fiber of `look` that is not in `other` to put(), which may be NULL. Returns their
 * number.
 */
static uint64_t only_in(const struct look *look, const struct look *other,
			void (*put)(void *context, const struct ins_fiber *fiber), void *context)
{
	size_t i, n = ins_table_count(look->table);
	struct ins_fiber fiber;
	uint64_t found = 0;

	for (i = 0; i < n; i++) {
		ins_table_get(look->table, i, &fiber);
		if (ins_table_find(other->table, fiber.row.id) >= 0)
			continue;
		found++;
		if (put)
			put(context, &fiber);
	}
	return found;
}

static void put_row(void *context, const struct ins_fiber *fiber)
{
	struct diff *d = context;

	if (!d->limit)
		return;
	d->limit--;
	fputs("  ", stdout);
	ins_text_header(stdout, &d->look->source->layout, fiber);
}

static void put_rows(struct diff *d, const char *what, struct look *look, const struct look *other)
{
	const uint64_t limit = d->limit;
	uint64_t found = only_in(look, other, NULL, NULL);

	printf("%" PRIu64 " %s%s\n", found, what, found && limit ? ":" : "");
	d->look = look;
	only_in(look, other, put_row, d);
	if (found > limit && limit)
		printf("  and %" PRIu64 " more\n", found - limit);
	d->limit = limit;
}

static void put_text(struct diff *d)
{
	struct look *first = &d->at[0], *last = &d->at[d->count - 1];
	char text[512], name[sizeof last->source->name * 4];
	size_t i;
	int k;

	printf("%s, process %d\n", ins_escape_quoted(last->source->name, name, sizeof name),
	       (int)last->source->pid);
	for (k = 0; k < d->count; k++) {
		const struct look *look = &d->at[k];

		printf("  %s: %" PRIu64 " fiber%s", ins_escape(look->who, text, sizeof text),
		       look->summary.shown, look->summary.shown == 1 ? "" : "s");
		if (k && look->now && first->now)
			printf(", %s later",
			       ins_duration_text(look->now - first->now, text, sizeof text));
		else if (look->summary.taken)
			printf(", %s", ins_words_taken(&look->summary, text, sizeof text));
		putchar('\n');
	}
	put_rows(d, "new", last, first);
	put_rows(d, "gone", first, last);
	printf("%" PRIu64 " stuck\n\n", d->stuck_count);
	for (i = 0; i < ins_groups_count(d->stuck); i++) {
		const struct ins_group *g = ins_groups_at(d->stuck, i);

		ins_text_group(stdout, &last->source->layout, g);
		ins_text_frames(stdout, d->symbols, g->walk);
		putchar('\n');
	}
	ins_text_end(stdout, &last->summary, &d->problems);
}

struct rows {
	const struct look *look;
	uint64_t left; /* still to be shown */
	struct ins_symbols *symbols;
	json_t *array;
};

static void add_row(void *context, const struct ins_fiber *fiber)
{
	struct rows *rows = context;

	if (!rows->left)
		return;
	rows->left--;
	json_array_append_new(rows->array, ins_json_fiber(&rows->look->source->layout, fiber,
							  rows->symbols, NULL));
}

/* Write them under that key, and their number. symbols: of look. */
static void put_rows_json(struct ins_json *json, const struct diff *d, const char *key,
			  const struct look *look, const struct look *other,
			  struct ins_symbols *symbols)
{
	const bool all = !d->arguments->option[TOOL_OPT_LIMIT];
	struct rows rows = {look, all ? UINT64_MAX : d->limit, symbols, json_array()};
	const uint64_t found = only_in(look, other, add_row, &rows);
	char count[32];

	ins_json_key(json, key, rows.array);
	snprintf(count, sizeof count, "%sCount", key);
	ins_json_key(json, count, json_integer((json_int_t)found));
}

static json_t *snapshots_of(const struct diff *d)
{
	json_t *all = json_array();
	int k;

	for (k = 0; k < d->count; k++) {
		const struct look *look = &d->at[k];
		const int64_t taken = look->summary.taken;
		const bool dated = look->now && d->at[0].now; /* its fibers have times */

		json_array_append_new(
			all,
			json_pack("{s:o, s:s, s:o, s:o, s:I}", "process", ins_json_text(look->who),
				  "source", look->source->kind, "takenNs",
				  taken ? json_integer(taken) : json_null(), "laterNs",
				  dated ? json_integer(look->now - d->at[0].now) : json_null(),
				  "fibers", (json_int_t)look->summary.shown));
	}
	return all;
}

static void put_json(struct diff *d)
{
	const struct look *first = &d->at[0], *last = &d->at[d->count - 1];
	struct ins_symbols *symbols = NULL; /* of the first; NULL without memory: no names */
	struct ins_json json;
	size_t i;

	ins_json_begin(&json, stdout, last->source->pid, last->source->name, last->source->kind,
		       "stuck");
	for (i = 0; i < ins_groups_count(d->stuck); i++)
		ins_json_row(&json, ins_json_group(&last->source->layout,
						   ins_groups_at(d->stuck, i), d->symbols));
	ins_json_key(&json, "stuckCount", json_integer((json_int_t)d->stuck_count));
	if (ins_symbols_new(first->source->modules, &symbols) < 0)
		symbols = NULL;
	put_rows_json(&json, d, "new", last, first, d->symbols);
	put_rows_json(&json, d, "gone", first, last, symbols);
	ins_symbols_free(symbols);
	ins_json_key(&json, "snapshots", snapshots_of(d));
	ins_json_end(&json, &last->summary, &d->problems);
}

static int compare(struct diff *d, bool json)
{
	int i, code = TOOL_WELL;

	for (i = 0; code == TOOL_WELL && i < d->count; i++)
		code = read_one(d, &d->at[i]);
	if (code != TOOL_WELL)
		return code;
	if (ins_symbols_new(d->at[d->count - 1].source->modules, &d->symbols) < 0)
		return tool_cannot("out of memory");
	ins_groups_sort(d->stuck);
	if (json)
		put_json(d);
	else
		put_text(d);
	return tool_written(ins_problems_lines(&d->problems) ? TOOL_PARTIAL : TOOL_WELL);
}

static void free_look(struct look *look)
{
	ins_unwinder_free(look->unwinder);
	ins_table_free(look->table);
	ins_source_close(look->source);
	free(look->marks);
}

static int run(const struct tool_arguments *arguments)
{
	static struct diff d;
	int i, code;

	d.arguments = arguments;
	d.count = arguments->words;
	if (!tool_option_number(arguments, TOOL_OPT_LIMIT, 0, UINT32_MAX, SHOWN, &d.limit))
		return TOOL_USAGE;
	for (i = 0; i < d.count; i++)
		d.at[i].who = arguments->word[i];
	if (ins_groups_new(&d.stuck) < 0)
		return tool_cannot("out of memory");
	code = compare(&d, arguments->json);
	ins_symbols_free(d.symbols);
	ins_groups_free(d.stuck);
	for (i = 0; i < d.count; i++)
		free_look(&d.at[i]);
	ins_problems_free(&d.problems);
	return code;
}

const struct tool_command tool_diff = {
	.name = "diff",
	.usage = "A B [C]...",
	.summary = "what is new, gone or stuck between snapshots",
	.help = "A, B and C are snapshots of one process, the oldest first; the last may be the\n"
		"process itself. Shows the fibers that are new in the last one, those that are\n"
		"gone since the first one, and those that are stuck. A fiber is stuck if it is in\n"
		"all of them, was not switched to in between, and has the same stack in all.\n"
		"Stuck fibers are grouped by stack, the largest group first, with their ages in\n"
		"the last one.\n",
	.example = "diff 1.snap httpd\n"
		   "httpd, process 15573\n"
		   "  1.snap: 5 fibers, snapshot of vm, taken 2026-11-26 03:41:01 +0000\n"
		   "  httpd: 5 fibers, 1s later\n"
		   "0 new\n"
		   "0 gone\n"
		   "5 stuck\n"
		   "...\n",
	.least = 2,
	.most = TOOL_WORDS,
	.options = TOOL_TAKES(TOOL_OPT_ALL_FRAMES) | TOOL_TAKES(TOOL_OPT_LIMIT),
	.run = run,
};
