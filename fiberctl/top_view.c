/* SPDX-License-Identifier: MIT */
/*
 * top_view.c - what stands on the screen of `fiberctl top`
 *
 * From the top: totals, carriers, groups, fibers, and a line for messages. The fibers get what the others leave, and on a low
 * screen all of it.
 */
#include "fiberctl/top_view.h"

#include <string.h>

#include "fiberctl/screen.h"
#include "inspect/plain.h"
#include "inspect/render.h"

#define LOW 16 /* rows: below that there is no room for carriers and groups */

static unsigned put_head(const struct ctl_top *top, unsigned count)
{
	char buf[1024];
	unsigned i;

	for (i = 0; i < count; i++) {
		struct ins_line line = ins_line(buf, sizeof buf);

		ctl_top_head(top, i, &line);
		ctl_screen_line(i, i ? CTL_PLAIN : CTL_BOLD, buf);
	}
	return i;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* A title, which is in text, and as many rows as there is room for. */
static unsigned put_rows(const struct ctl_top *top, unsigned row, size_t all, size_t most,
			 struct ins_line *title, const char *text,
			 void (*put)(const struct ctl_top *top, size_t i, struct ins_line *line))
{
	const size_t count = least(all, most);
	char buf[1024];
	size_t i;

	if (count < all) {
		ins_line_text(title, "   the first ");
		ins_line_number(title, count);
		ins_line_text(title, " of ");
		ins_line_number(title, all);
	}
	ctl_screen_line(row++, CTL_BOLD, text);
	for (i = 0; i < count; i++) {
		struct ins_line line = ins_line(buf, sizeof buf);

		put(top, i, &line);
		ctl_screen_line(row++, CTL_PLAIN, buf);
	}
	return row;
}

static unsigned put_carriers(const struct ctl_top *top, unsigned row, size_t most)
{
	char buf[1024];
	struct ins_line title = ins_line(buf, sizeof buf);

	ctl_top_carrier_title(&title);
	return put_rows(top, row, ctl_top_carriers(top), most, &title, buf, ctl_top_carrier_line);
}

static unsigned put_groups(const struct ctl_top *top, unsigned row, size_t most)
{
	char buf[1024];
	struct ins_line title = ins_line(buf, sizeof buf);

	ctl_top_group_title(top, &title);
	return put_rows(top, row, ins_watch_shares(top->watch), most, &title, buf,
			ctl_top_group_line);
}

/* The mark goes with its fiber, and what is at the top with the mark. */
static void settle(struct ctl_top_view *view, size_t count)
{
	size_t i;

	for (i = 0; view->followed && i < count; i++) {
		if (ins_watch_leader(view->top->watch, i)->fiber.row.id != view->followed)
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
	const size_t count = ins_watch_leaders(view->top->watch);
	char buf[2048];
	struct ins_line line = ins_line(buf, sizeof buf);
	size_t i;

	view->page = end > row + 1 ? end - row - 1 : 1;
	settle(view, count);
	ctl_top_fiber_title(view->top, &line);
	ctl_screen_line(row++, CTL_BOLD, buf);
	for (i = view->first; i < count && row < end; i++) {
		line = ins_line(buf, sizeof buf);
		ctl_top_fiber_line(view->top, i, &line);
		ctl_screen_line(row++, i == view->cursor ? CTL_MARKED : CTL_PLAIN, buf);
	}
}

static void put_status(const struct ctl_top_view *view, unsigned row)
{
	const struct ctl_top *top = view->top;
	char buf[2048], text[640];
	struct ins_line line = ins_line(buf, sizeof buf);

	if (view->mode == CTL_TOP_TYPING) {
		ins_line_text(&line, "only fibers where: ");
		ins_line_text(&line, ins_plain(view->typed, text, sizeof text));
		ins_line_text(&line, "_");
	} else if (view->message[0]) {
		ins_line_text(&line, view->message);
	} else {
		if (view->frozen)
			ins_line_text(&line, "FROZEN; ");
		ctl_top_wish(top, &line);
		ins_line_text(&line, "; every ");
		ins_line_text(&line, ins_words_duration(view->interval, text, sizeof text));
		ins_line_text(&line, "; h: help");
		if (ins_problems_lines(&top->source->problems)) {
			ins_line_text(&line, "; incomplete: ");
			ins_line_text(&line, ins_problems_text(&top->source->problems, 0, text,
							       sizeof text));
		}
	}
	ctl_screen_line(row, view->mode == CTL_TOP_TYPING ? CTL_PLAIN : CTL_BOLD, buf);
}

static void show_list(struct ctl_top_view *view)
{
	const struct ctl_top *top = view->top;
	const unsigned rows = ctl_screen_rows();
	unsigned row = put_head(top, rows < LOW ? 1 : CTL_TOP_HEAD);
	const size_t most = rows > LOW ? (rows - LOW) / 4 + 2 : 2;

	if (rows >= LOW && ctl_top_carriers(top))
		row = put_carriers(top, row, most);
	if (rows >= LOW && ins_watch_shares(top->watch))
		row = put_groups(top, row, most);
	if (rows > 2)
		put_fibers(view, row, rows - 1);
	put_status(view, rows - 1);
}

/* The text from line text_first on; the last one says how to go back. */
static void show_text(struct ctl_top_view *view)
{
	const unsigned rows = ctl_screen_rows();
	const char *at = view->text, *end;
	size_t number = 0, lines = 0;
	char buf[1024];
	unsigned row = 0;

	for (end = at; (end = strchr(end, '\n')); end++)
		lines++;
	view->page = rows > 1 ? rows - 1 : 1;
	if (view->text_first + view->page > lines)
		view->text_first = lines > view->page ? lines - view->page : 0;
	for (; (end = strchr(at, '\n')) && row < rows - 1; at = end + 1) {
		struct ins_line line = ins_line(buf, sizeof buf);

		if (number++ < view->text_first)
			continue;
		ins_line_bytes(&line, at, (size_t)(end - at));
		ctl_screen_line(row++, CTL_PLAIN, buf);
	}
	ctl_screen_line(rows - 1, CTL_BOLD,
			lines > view->page ? "up, down: more; any other key goes back"
					   : "any key goes back");
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
