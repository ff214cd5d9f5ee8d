/* SPDX-License-Identifier: MIT */
/*
 * top_view.c - the screen of `fiberctl top`
 *
 * All rows are made for the actual width: no row ends within a word.
 */
#include "fiberctl/top_view.h"

#include <string.h>

#include "fiberctl/fold.h"
#include "fiberctl/screen.h"
#include "fiberctl/top_layout.h"
#include "fiberctl/top_tables.h"
#include "inspect/text/escape.h"
#include "inspect/render/render.h"
#include "inspect/text/duration.h"

enum { ROW = 4096 };

static const char keys[] = "h: help, q: end, s: order, r: turn, g: group, f: freeze, /: where, "
			   "enter: stack";

static void put_row(unsigned row, enum ctl_style style, char *text)
{
	ctl_fold_truncate(text, ctl_screen_columns());
	ctl_screen_line(row, style, text);
}

/* -- totals -- */

struct head {
	char text[CTL_TOP_HEAD][ROW];
	size_t lines[CTL_TOP_HEAD];
};

static void make_head(const struct ctl_top *top, struct head *head)
{
	unsigned i;

	for (i = 0; i < CTL_TOP_HEAD; i++) {
		struct ins_strbuf line = ins_strbuf(head->text[i], ROW);

		ctl_top_head(top, i, &line);
		head->lines[i] = ctl_fold_lines(head->text[i], ctl_screen_columns());
	}
}

/* Print text in at most that many rows. */
static unsigned put_folded(unsigned row, unsigned rows, enum ctl_style style, char *text)
{
	const size_t width = ctl_screen_columns();
	char line[ROW];

	for (; rows > 1 && *text; rows--) {
		const char *next;
		const size_t n = ctl_fold(text, width, &next);

		memcpy(line, text, n);
		line[n] = 0;
		ctl_screen_line(row++, style, line);
		text += next - text;
	}
	if (rows && *text)
		put_row(row++, style, text);
	return row;
}

static unsigned put_head(struct head *head, const struct ctl_top_layout *layout)
{
	unsigned i, row = 0;

	for (i = 0; i < CTL_TOP_HEAD; i++) {
		if (i && layout->head[i])
			ctl_fold_list(head->text[i], ROW, ctl_screen_columns(), layout->head[i]);
		row = put_folded(row, layout->head[i], i ? CTL_PLAIN : CTL_BOLD, head->text[i]);
	}
	return row;
}

/* -- tables -- */

/* "and 12 more: 10 running, 2 idle": the carriers from number i on. */
static void say_more_carriers(const struct ctl_top *top, size_t i, struct ins_strbuf *line)
{
	enum { STATES = 16 };
	const size_t all = ctl_top_carriers(top);
	const char *state[STATES];
	size_t count[STATES], states = 0, k;

	for (; i < all; i++) {
		const char *is = ctl_stats_state(ctl_top_carrier(top, i).is->state);

		for (k = 0; k < states && strcmp(state[k], is) != 0; k++)
			;
		if (k == STATES)
			continue;
		if (k == states) {
			state[states] = is;
			count[states++] = 0;
		}
		count[k]++;
	}
	for (k = 0; k < states; k++) {
		ins_strbuf_text(line, k ? ", " : ": ");
		ins_strbuf_number(line, count[k]);
		ins_strbuf_text(line, " ");
		ins_strbuf_text(line, state[k]);
	}
}

/*
 * Print a table of `all` rows in that many rows below its title; the last row counts those that do
 * not fit.
 */
static unsigned put_table(struct ctl_top_table *table, unsigned row, unsigned rows, size_t all,
			  void (*more)(const struct ctl_top *, size_t, struct ins_strbuf *))
{
	const size_t shown = all > rows ? rows - 1 : all;
	char buf[ROW];
	struct ins_strbuf line = ins_strbuf(buf, sizeof buf);
	size_t i;

	ctl_top_table_fit(table, 0, shown, ctl_screen_columns());
	ctl_top_table_title(table, &line);
	ctl_screen_line(row++, CTL_BOLD, buf);
	for (i = 0; i < shown; i++) {
		line = ins_strbuf(buf, sizeof buf);
		ctl_top_table_row(table, i, &line);
		ctl_screen_line(row++, CTL_PLAIN, buf);
	}
	if (shown == all)
		return row;
	line = ins_strbuf(buf, sizeof buf);
	ins_strbuf_text(&line, "and ");
	ins_strbuf_number(&line, all - shown);
	ins_strbuf_text(&line, " more");
	if (more)
		more(table->top, shown, &line);
	put_row(row++, CTL_PLAIN, buf);
	return row;
}

/* Move the mark to its fiber, and the top line to the mark. */
static void settle(struct ctl_top_view *view, size_t count)
{
	size_t i;

	for (i = 0; view->followed && i < count; i++) {
		if (ins_watch_top_n_row(view->top->watch, i)->fiber.row.id != view->followed)
			continue;
		view->cursor = i;
		break;
	}
	if (view->cursor >= count)
		view->cursor = count ? count - 1 : 0;
	if (view->first > view->cursor)
		view->first = view->cursor;
	if (view->page && view->cursor >= view->first + view->page)
		view->first = view->cursor - view->page + 1;
	if (view->first + view->page > count)
		view->first = count > view->page ? count - view->page : 0;
}

static void put_fibers(struct ctl_top_view *view, unsigned row, unsigned end)
{
	const size_t count = ins_watch_top_n(view->top->watch);
	struct ctl_top_table table = ctl_top_fiber_table(view->top);
	char buf[ROW];
	struct ins_strbuf line = ins_strbuf(buf, sizeof buf);
	size_t i;

	view->page = end > row + 1 ? end - row - 1 : 1;
	settle(view, count);
	ctl_top_table_fit(&table, view->first,
			  count - view->first < view->page ? count - view->first : view->page,
			  ctl_screen_columns());
	ctl_top_table_title(&table, &line);
	ctl_screen_line(row++, CTL_BOLD, buf);
	for (i = view->first; i < count && row < end; i++) {
		line = ins_strbuf(buf, sizeof buf);
		ctl_top_table_row(&table, i, &line);
		ctl_screen_line(row++, i == view->cursor ? CTL_MARKED : CTL_PLAIN, buf);
	}
}

/* -- the last row -- */

/* In the order of the row. */
enum { FROZEN, ORDER, MATCH, EVERY, HELP, INCOMPLETE, PARTS };

struct status {
	char part[PARTS][1024]; /* "": left out */
};

static size_t columns_of(const struct status *s)
{
	size_t i, columns = 0;

	for (i = 0; i < PARTS; i++)
		if (s->part[i][0])
			columns +=
				(columns ? 2 : 0) + ctl_fold_columns(s->part[i], sizeof s->part[i]);
	return columns;
}

/* Drop the parts that are least important or shown elsewhere, then shorten the longest one. */
static void make_room(struct status *s, size_t width)
{
	static const int less[] = {EVERY, ORDER};
	size_t i, over, longest = 0;

	for (i = 0; i < sizeof less / sizeof less[0] && columns_of(s) > width; i++)
		s->part[less[i]][0] = 0;
	if (columns_of(s) <= width)
		return;
	for (i = 0; i < PARTS; i++)
		if (strlen(s->part[i]) > strlen(s->part[longest]))
			longest = i;
	over = columns_of(s) - width;
	i = ctl_fold_columns(s->part[longest], sizeof s->part[longest]);
	ctl_fold_truncate(s->part[longest], i > over ? i - over : 0);
}

static void say_status(const struct ctl_top_view *view, bool help, struct status *s)
{
	const struct ctl_top *top = view->top;
	const struct ins_problems *problems = &top->source->problems;
	struct ins_strbuf line[PARTS];
	char text[640];
	size_t i;

	for (i = 0; i < PARTS; i++)
		line[i] = ins_strbuf(s->part[i], sizeof s->part[i]);
	ins_strbuf_text(&line[FROZEN], view->frozen ? "FROZEN" : "");
	ctl_top_order(top, &line[ORDER]);
	ctl_top_match(top, &line[MATCH]);
	ins_strbuf_text(&line[EVERY], "every ");
	ins_strbuf_text(&line[EVERY], ins_duration_text(view->interval, text, sizeof text));
	ins_strbuf_text(&line[HELP], help ? "h: help" : "");
	if (ins_problems_lines(problems)) {
		ins_strbuf_text(&line[INCOMPLETE], "incomplete: ");
		ins_strbuf_text(&line[INCOMPLETE],
				ins_problems_text(problems, 0, text, sizeof text));
	}
}

static void put_status(const struct ctl_top_view *view, unsigned row, bool help)
{
	struct status status = {.part = {""}};
	char buf[ROW];
	struct ins_strbuf line = ins_strbuf(buf, sizeof buf);
	size_t i;

	say_status(view, help, &status);
	make_room(&status, ctl_screen_columns());
	for (i = 0; i < PARTS; i++) {
		ins_strbuf_text(&line, line.at > buf && status.part[i][0] ? "; " : "");
		ins_strbuf_text(&line, status.part[i]);
	}
	put_row(row, CTL_BOLD, buf);
}

/* Of a long text show the end, where the user types. */
static void put_typed(const struct ctl_top_view *view, unsigned row)
{
	const size_t width = ctl_screen_columns();
	char buf[ROW], text[4 * sizeof view->typed];
	struct ins_strbuf line = ins_strbuf(buf, sizeof buf);
	const char *at = buf;
	size_t columns;

	ins_strbuf_text(&line, "only fibers where: ");
	ins_strbuf_text(&line, ins_escape(view->typed, text, sizeof text));
	ins_strbuf_text(&line, "_");
	for (columns = ctl_fold_columns(buf, sizeof buf); columns > width; columns--)
		at += ins_utf8_length(at);
	ctl_screen_line(row, CTL_PLAIN, at);
}

static void put_last(const struct ctl_top_view *view, unsigned row, bool help)
{
	char buf[sizeof view->message];

	strcpy(buf, view->message);
	if (view->mode == CTL_TOP_TYPING)
		put_typed(view, row);
	else if (buf[0])
		put_row(row, CTL_BOLD, buf);
	else
		put_status(view, row, help);
}

/* -- the screen -- */

static void show_list(struct ctl_top_view *view)
{
	const struct ctl_top *top = view->top;
	const size_t carriers = ctl_top_carriers(top), groups = ins_watch_group_totals(top->watch);
	const unsigned rows = ctl_screen_rows();
	struct ctl_top_table of_carriers = ctl_top_carrier_table(top);
	struct ctl_top_table of_groups = ctl_top_group_table(top);
	static struct head head;
	struct ctl_top_layout layout;
	char buf[sizeof keys];
	unsigned row;

	make_head(top, &head);
	layout = ctl_top_layout(rows, head.lines, carriers, groups);
	row = put_head(&head, &layout);
	if (layout.carriers)
		row = put_table(&of_carriers, row, layout.carriers, carriers, say_more_carriers);
	if (layout.groups)
		put_table(&of_groups, row, layout.groups, groups, NULL);
	if (layout.end > layout.first)
		put_fibers(view, layout.first, layout.end);
	memcpy(buf, keys, sizeof keys);
	if (layout.keys)
		put_row(rows - 2, CTL_PLAIN, buf);
	put_last(view, rows - 1, !layout.keys);
}

/* Print the rows from number `first` on that fit. Returns the number of all rows. */
static size_t put_text(const char *text, size_t first, unsigned room)
{
	const size_t width = ctl_screen_columns();
	const char *end;
	size_t number = 0;
	char line[ROW];

	for (; (end = strchr(text, '\n')); text = end + 1) {
		const size_t own = strspn(text, " ") + 4, indent = own < width / 2 ? own : 0;
		struct ins_strbuf all = ins_strbuf(line, sizeof line);
		const char *at = line;
		size_t before = 0;

		ins_strbuf_bytes(&all, text, (size_t)(end - text));
		do {
			char buf[ROW + 64] = "";
			const char *next;
			const size_t n = ctl_fold(at, width - before, &next);
			struct ins_strbuf row = ins_strbuf(buf, sizeof buf);

			ins_strbuf_fill(&row, buf, before);
			ins_strbuf_bytes(&row, at, n);
			if (number >= first && number - first < room)
				ctl_screen_line((unsigned)(number - first), CTL_PLAIN, buf);
			number++;
			before = indent;
			at = next;
		} while (*at);
	}
	return number;
}

/* Print the text from row text_first on; the last row says how to return. */
static void show_text(struct ctl_top_view *view)
{
	const unsigned rows = ctl_screen_rows();
	const size_t lines = put_text(view->text, 0, 0);
	char last[] = "up, down: more; any other key goes back";

	view->page = rows > 1 ? rows - 1 : 1;
	if (view->text_first + view->page > lines)
		view->text_first = lines > view->page ? lines - view->page : 0;
	put_text(view->text, view->text_first, rows - 1);
	if (lines <= view->page)
		strcpy(last, "any key goes back");
	put_row(rows - 1, CTL_BOLD, last);
}

void ctl_top_view_show(struct ctl_top_view *view)
{
	ctl_screen_begin();
	if (view->mode == CTL_TOP_READING)
		show_text(view);
	else
		show_list(view);
	ctl_screen_show();
}
