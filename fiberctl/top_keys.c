/* SPDX-License-Identifier: MIT */
/*
 * top_keys.c - the live screen of `fiberctl top`: timed looks, and keys between them
 *
 * A monitoring tool must not load the machine. So the time until the next look is at least SHARE
 * times as long as the last look took, for any interval; with few fibers this has no effect.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fiberctl/screen.h"
#include "fiberctl/top_view.h"
#include "inspect/text/escape.h"
#include "tool/report.h"

#define SHARE 25		 /* of the time is ours: 4 % of a CPU */
#define FIRST INT64_C(200000000) /* ns from the first look, which has no rates, to the second */

struct live {
	struct ctl_top_view view;
	int64_t next; /* our clock: time of the next look */
	unsigned looks;
	bool leave;
	int code;
	struct ins_error error; /* valid if code is not TOOL_WELL */
};

static int64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int cannot(struct live *l)
{
	l->leave = true;
	l->code = TOOL_CANNOT;
	return l->code;
}

static void look(struct live *l)
{
	int64_t took = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	int64_t interval = l->looks ? l->view.interval : FIRST;

	if (ctl_top_look(l->view.top, &l->error) < 0) {
		cannot(l);
		return;
	}
	took = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - took;
	if (interval > l->view.interval)
		interval = l->view.interval;
	if (l->looks && interval < took * SHARE)
		interval = took * SHARE;
	l->next = clock_ns(CLOCK_MONOTONIC) + interval;
	l->looks++;
}

static void say(struct live *l, const char *text)
{
	ins_escape(text, l->view.message, sizeof l->view.message);
}

/* Change what is shown, and look now. */
static void ask_for(struct live *l, const struct ins_query_words *words)
{
	if (ctl_top_query(l->view.top, words, &l->error) < 0) {
		say(l, l->error.text);
		return;
	}
	l->view.first = l->view.cursor = 0;
	l->view.followed = 0;
	l->next = 0;
	if (l->view.frozen)
		say(l, "FROZEN: the next look will be so; f looks again");
}

/* -- choices -- */

static const char *const sorts[] = {"-cpu", "-switches", "-age", "-stack", "-pins", "name", "id"};
static const char *const groups[] = {"wait", "object", "holder", "fn", "spawn", "state", NULL};

/*
 * The word n positions after the one for field; the first word if field is not among them. The word
 * NULL is no field.
 */
static const char *neighbour(const struct ins_field *field, const char *const *words, size_t count,
			     size_t n)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (words[i] ? field->info && strcmp(words[i] + (words[i][0] == '-'),
						     field->info->name) == 0
			     : !field->info)
			return words[(i + n) % count];
	return words[0];
}

static void choose_sort(struct live *l, size_t n)
{
	struct ins_query_words words = ctl_top_words(l->view.top);
	const size_t count = sizeof sorts / sizeof sorts[0];

	words.sort = neighbour(&l->view.top->query.sort, sorts, count, n ? n : count - 1);
	ask_for(l, &words);
}

static void turn_round(struct live *l)
{
	struct ins_query_words words = ctl_top_words(l->view.top);
	char sort[sizeof l->view.top->sort + 1];

	snprintf(sort, sizeof sort, "-%s", words.sort);
	words.sort = words.sort[0] == '-' ? words.sort + 1 : sort;
	ask_for(l, &words);
}

static void choose_group(struct live *l)
{
	struct ins_query_words words = ctl_top_words(l->view.top);

	words.group_by =
		neighbour(&l->view.top->query.group, groups, sizeof groups / sizeof groups[0], 1);
	ask_for(l, &words);
}

static void choose_interval(struct live *l, bool longer)
{
	static const int64_t ms[] = {100, 200, 500, 1000, 2000, 5000, 10000, 30000, 60000};
	const size_t count = sizeof ms / sizeof ms[0];
	int64_t *interval = &l->view.interval;
	size_t i;

	for (i = 0; longer && i < count; i++) {
		if (ms[i] * 1000000 > *interval) {
			*interval = ms[i] * 1000000;
			break;
		}
	}
	for (i = count; !longer && i; i--) {
		if (ms[i - 1] * 1000000 < *interval) {
			*interval = ms[i - 1] * 1000000;
			break;
		}
	}
	l->next = clock_ns(CLOCK_MONOTONIC) + *interval;
}

/* -- reading -- */

static const char help[] =
	"fiberctl top\n"
	"\n"
	"  q                 end\n"
	"  s > <             order the fibers by the next thing: cpu, switches, age, ...\n"
	"  r                 turn the order round\n"
	"  /                 type a condition as for --where; an empty one shows all\n"
	"  g                 group by the next thing\n"
	"  f, space          freeze the picture, and go on\n"
	"  up down k j       mark a fiber; page up, page down, home, end\n"
	"  enter             its backtrace\n"
	"  + -               look less often, more often\n"
	"  ctrl-l            draw everything anew\n"
	"\n"
	"CPU% and SWITCH/S are since the look before, of one CPU; STEALS are so far.\n"
	"CPU% of a carrier is what its thread got, of a fiber how long it was on a\n"
	"carrier. Totals count all fibers, groups and lines those that match. No more\n"
	"than a twentieth of a CPU is used: with very many fibers the looks are further\n"
	"apart than was asked for. A narrow screen leaves columns out.\n";

static void read_text(struct live *l, char *text)
{
	if (!text)
		return;
	free(l->view.text);
	l->view.text = text;
	l->view.text_first = 0;
	l->view.mode = CTL_TOP_READING;
}

static void read_backtrace(struct live *l)
{
	struct ctl_top *top = l->view.top;
	char *text = NULL;
	size_t size = 0;
	FILE *out;
	int rc;

	if (!ins_watch_top_n(top->watch))
		return;
	out = open_memstream(&text, &size);
	if (!out)
		return;
	rc = ctl_top_backtrace(top, ins_watch_top_n_row(top->watch, l->view.cursor)->fiber.row.id,
			       out, &l->error);
	fclose(out);
	if (rc == 0) {
		read_text(l, text);
		return;
	}
	free(text);
	if (rc == -ESRCH)
		say(l, l->error.text);
	else
		cannot(l);
}

/* -- keys -- */

static void move(struct live *l, int64_t by)
{
	struct ctl_top_view *v = &l->view;
	const size_t count = ins_watch_top_n(v->top->watch);
	int64_t to = (int64_t)v->cursor + by;

	v->cursor = to < 0 || !count ? 0 : (size_t)to < count ? (size_t)to : count - 1;
	v->followed = count ? ins_watch_top_n_row(v->top->watch, v->cursor)->fiber.row.id : 0;
}

static bool take_moving(struct live *l, int key)
{
	struct ctl_top_view *v = &l->view;
	const int64_t page = (int64_t)v->page;

	if (key == CTL_KEY_UP || key == 'k')
		move(l, -1);
	else if (key == CTL_KEY_DOWN || key == 'j')
		move(l, 1);
	else if (key == CTL_KEY_PAGE_UP)
		move(l, -page);
	else if (key == CTL_KEY_PAGE_DOWN)
		move(l, page);
	else if (key == CTL_KEY_END)
		move(l, INT32_MAX);
	else if (key == CTL_KEY_HOME)
		v->cursor = v->followed = 0;
	else
		return false;
	return true;
}

static void take_listing(struct live *l, int key)
{
	struct ctl_top_view *v = &l->view;

	if (key == 'q') {
		l->leave = true;
	} else if (key == 'h' || key == '?') {
		read_text(l, strdup(help));
	} else if (key == 's' || key == '>') {
		choose_sort(l, 1);
	} else if (key == '<') {
		choose_sort(l, 0);
	} else if (key == 'r') {
		turn_round(l);
	} else if (key == 'g') {
		choose_group(l);
	} else if (key == 'f' || key == ' ') {
		v->frozen = !v->frozen;
		l->next = 0;
	} else if (key == '+' || key == '-') {
		choose_interval(l, key == '+');
	} else if (key == '/') {
		memcpy(v->typed, v->top->where, sizeof v->typed);
		v->mode = CTL_TOP_TYPING;
	} else if (key == CTL_KEY_ENTER) {
		read_backtrace(l);
	}
}

static void take_typed(struct live *l, int key)
{
	struct ins_query_words words = ctl_top_words(l->view.top);
	char *typed = l->view.typed;
	size_t n = strlen(typed);

	if (key == CTL_KEY_ENTER) {
		l->view.mode = CTL_TOP_LIST;
		words.where = typed;
		ask_for(l, &words);
	} else if (key == CTL_KEY_ESCAPE) {
		l->view.mode = CTL_TOP_LIST;
	} else if (key == CTL_KEY_BACKSPACE) {
		/* Remove a whole UTF-8 character. */
		while (n && ((unsigned char)typed[--n] & 0xc0) == 0x80)
			;
		typed[n] = 0;
	} else if (key == ('u' & 0x1f)) {
		typed[0] = 0;
	} else if (key >= ' ' && key < 0x100 && n + 1 < sizeof l->view.typed) {
		typed[n] = (char)key;
		typed[n + 1] = 0;
	}
}

static void take_reading(struct live *l, int key)
{
	size_t *first = &l->view.text_first;

	if (key == CTL_KEY_DOWN || key == 'j')
		++*first;
	else if (key == CTL_KEY_UP || key == 'k')
		*first -= *first > 0;
	else if (key == CTL_KEY_PAGE_DOWN)
		*first += l->view.page;
	else if (key == CTL_KEY_PAGE_UP)
		*first -= *first < l->view.page ? *first : l->view.page;
	else
		l->view.mode = CTL_TOP_LIST;
}

static void take(struct live *l, int key)
{
	if (key == CTL_KEY_NONE)
		return;
	if (key == CTL_KEY_END_ALL) {
		l->leave = true;
		return;
	}
	if (key == ('l' & 0x1f)) {
		ctl_screen_again();
		return;
	}
	l->view.message[0] = 0;
	if (l->view.mode == CTL_TOP_READING)
		take_reading(l, key);
	else if (l->view.mode == CTL_TOP_TYPING)
		take_typed(l, key);
	else if (!take_moving(l, key))
		take_listing(l, key);
}

int ctl_top_live(struct ctl_top *top, int64_t interval)
{
	struct live l = {.view = {.top = top, .interval = interval}, .code = TOOL_WELL};
	int64_t left;

	/* Report an error of the first look without opening the screen. */
	look(&l);
	if (l.leave)
		return tool_cannot("%s", l.error.text);
	l.code = ctl_screen_open("top");
	if (l.code != TOOL_WELL)
		return l.code;
	while (!l.leave) {
		left = l.next - clock_ns(CLOCK_MONOTONIC);
		if (left <= 0 && (!l.view.frozen || !l.looks)) {
			look(&l);
			continue;
		}
		ctl_top_view_show(&l.view);
		take(&l, ctl_screen_key(l.view.frozen ? INT64_C(3600000000000) : left));
	}
	ctl_screen_close();
	free(l.view.text);
	return l.code == TOOL_WELL ? l.code : tool_cannot("%s", l.error.text);
}
