/* SPDX-License-Identifier: MIT */
/*
 * looks.c - repeated looks at one program, for any number of viewers
 *
 * A view is a question and what it needs from look to look: what each fiber did before, which
 * fibers lead. One view of all fibers always exists; it has the connection and counts the totals.
 * The others are fed by the same look. A view that no viewer asks for is dropped.
 */
#include "fiberctl/serve/looks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fiberctl/serve/answer.h"
#include "fiberctl/serve/link.h"
#include "fiberctl/serve/question.h"
#include "fiberctl/top.h"
#include "inspect/render/render.h"
#include "tool/report.h"

#define GROUPS	 100
#define UNWANTED 5 /* turns until a view is dropped */

struct view {
	char question[SERVE_QUESTION_MOST];
	char words[SERVE_QUESTION_MOST]; /* the question, cut into words */
	struct ctl_top top;		 /* its query and watch; the rest is of the main view */
	struct ins_error wrong;		 /* "": the question is right */
	unsigned unwanted;		 /* turns since it was asked for */
};

struct serve_looks {
	struct ctl_top top; /* the main view */
	struct view *view[SERVE_TURN_MOST];
	unsigned views;
	int64_t judged; /* ns for verdicts before this turn */
	bool looked;	/* in this turn; the result is ... */
	int rc;
	struct ins_error error;
};

static void drop_view(struct serve_looks *l, unsigned i)
{
	struct view *v = l->view[i];

	ins_query_drop(&v->top.query);
	ins_watch_free(v->top.watch);
	free(v);
	l->view[i] = l->view[--l->views];
}

struct serve_looks *serve_looks_new(const struct tool_socket *socket)
{
	static const struct ins_query_words words = {.sort = "-cpu", .limit = INS_QUERY_ALL};
	struct serve_looks *l = calloc(1, sizeof *l);
	struct ins_error error;

	if (!l)
		return NULL;
	l->top.client.fd = -1;
	l->top.socket = *socket;
	l->top.extra = (struct ins_request){.labels = true};
	if (ctl_top_query(&l->top, &words, &error) < 0 || ins_watch_new(0, &l->top.watch) < 0) {
		free(l);
		return NULL;
	}
	return l;
}

void serve_looks_begin(struct serve_looks *l)
{
	unsigned i = l->views;

	l->looked = false;
	l->judged = l->top.verdict_cpu;
	while (i-- > 0)
		if (++l->view[i]->unwanted > UNWANTED)
			drop_view(l, i);
}

/* -- questions -- */

/* Cut the question into the words of a query. Returns the number of fibers that are wanted. */
static size_t read_words(struct view *v, struct ins_query_words *ret)
{
	char *rest = v->words, *word;
	size_t limit = 0;

	*ret = (struct ins_query_words){.sort = "-cpu", .group_by = "wait", .limit = INS_QUERY_ALL};
	while ((word = strsep(&rest, "\n"))) {
		if (strncmp(word, "--where=", 8) == 0)
			ret->where = word + 8;
		else if (strncmp(word, "--sort=", 7) == 0)
			ret->sort = word + 7;
		else if (strncmp(word, "--group-by=", 11) == 0)
			ret->group_by = word + 11;
		else if (strncmp(word, "--limit=", 8) == 0)
			limit = strtoul(word + 8, NULL, 10);
	}
	return limit;
}

static struct view *find(struct serve_looks *l, const char *question)
{
	unsigned i;

	for (i = 0; i < l->views; i++)
		if (strcmp(l->view[i]->question, question) == 0)
			return l->view[i];
	return NULL;
}

/* The view that was not asked for since the longest time. */
static unsigned oldest(const struct serve_looks *l)
{
	unsigned i, at = 0;

	for (i = 1; i < l->views; i++)
		if (l->view[i]->unwanted > l->view[at]->unwanted)
			at = i;
	return at;
}

void serve_looks_want(struct serve_looks *l, const char *question)
{
	struct view *v = find(l, question);
	struct ins_query_words words;
	size_t limit;

	if (v) {
		v->unwanted = 0;
		return;
	}
	if (l->views == SERVE_TURN_MOST)
		drop_view(l, oldest(l));
	v = calloc(1, sizeof *v);
	if (!v)
		return;
	snprintf(v->question, sizeof v->question, "%s", question);
	snprintf(v->words, sizeof v->words, "%s", question);
	limit = read_words(v, &words);
	if (ctl_top_query(&v->top, &words, &v->wrong) == 0)
		v->wrong.text[0] = 0;
	else if (!v->wrong.text[0])
		ins_error_set(&v->wrong, 0, "out of memory");
	if (!v->wrong.text[0] && ins_watch_new(limit, &v->top.watch) < 0) {
		ins_query_drop(&v->top.query);
		free(v);
		return;
	}
	l->view[l->views++] = v;
}

/* -- looks -- */

static void look(struct serve_looks *l)
{
	struct ctl_top_also also[SERVE_TURN_MOST];
	unsigned i;

	l->top.also = also;
	l->top.alsos = 0;
	for (i = 0; i < l->views; i++)
		if (!l->view[i]->wrong.text[0])
			also[l->top.alsos++] = (struct ctl_top_also){&l->view[i]->top.query,
								     l->view[i]->top.watch};
	l->rc = ctl_top_look(&l->top, &l->error);
	l->top.also = NULL;
	l->top.alsos = 0;
	l->looked = true;
}

int serve_looks_put(struct serve_looks *l, const char *question)
{
	struct view *v = find(l, question);
	struct ctl_top shown;

	if (!v)
		return tool_cannot("out of memory");
	if (v->wrong.text[0])
		return tool_wrong(NULL, "%s", v->wrong.text);
	if (!l->looked)
		look(l);
	if (l->rc < 0)
		return tool_cannot("%s", l->error.text);
	shown = l->top;
	shown.query = v->top.query;
	shown.watch = v->top.watch;
	return ctl_top_json(&shown, GROUPS);
}

const char *serve_looks_verdict(struct serve_looks *l)
{
	struct ins_error ignored;

	if (!l->looked && ctl_top_judge(&l->top, &ignored) < 0)
		return "-";
	return l->top.verdict;
}

int64_t serve_looks_judged(const struct serve_looks *l)
{
	return l->top.verdict_cpu - l->judged;
}

char *serve_looks_totals(const struct serve_looks *l)
{
	const struct ins_watch_totals *t = ins_watch_totals(l->top.watch);
	struct timespec now;
	json_t *totals;
	size_t size;

	clock_gettime(CLOCK_REALTIME, &now);
	totals = json_pack("{s:I, s:I, s:I, s:o, s:o, s:o, s:I, s:I, s:I, s:I}", "takenNs",
			   (json_int_t)now.tv_sec * 1000000000 + now.tv_nsec, "intervalNs",
			   (json_int_t)t->ns, "fibers", (json_int_t)t->fibers, "states",
			   ctl_top_states(&l->top), "waits", ctl_top_waits(&l->top), "verdict",
			   ins_json_text(l->top.verdict), "cpuNs", (json_int_t)t->cpu, "switches",
			   (json_int_t)t->switches, "new", (json_int_t)t->fresh, "gone",
			   (json_int_t)t->gone);
	return serve_json(totals, &size);
}
