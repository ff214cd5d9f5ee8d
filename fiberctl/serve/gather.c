/* SPDX-License-Identifier: MIT */
/*
 * gather.c - one answer about all programs, put together from an answer of each
 *
 * Requests that arrive meanwhile, or within a second, get the same answer.
 */
#include "fiberctl/serve/gather.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fiberctl/metrics.h"
#include "fiberctl/serve/families.h"
#include "inspect/render/render.h"
#include "inspect/text/duration.h"

#define FRESH	INT64_C(1000000000)
#define PATIENT INT64_C(2000000000) /* for each program */

struct part {
	struct serve_waiter waiter; /* first */
	struct serve_gather *gather;
	pid_t pid; /* 0: not visible in our pid namespace */
	char path[108];
	struct serve_answer *answer;
};

struct serve_gather {
	struct serve_gathers *all;
	enum serve_gather_what what;
	struct part *part;
	size_t parts, open; /* parts without an answer so far */
	bool asking;	    /* not all of them are asked yet */
	int64_t began;
	struct serve_waiter *waiters;
};

static const char *const questions[] = {
	[SERVE_GATHER_PROCESSES] = "process\n--json",
	[SERVE_GATHER_METRICS] = "metrics",
};

static bool is_well(const struct part *p)
{
	return p->answer && p->answer->status == MHD_HTTP_OK;
}

/* The text of an error: {"error":{"text":..}}. */
static void add_problem(struct ins_problems *problems, const struct part *p)
{
	json_t *error = p->answer ? json_loadb(p->answer->body, p->answer->size, 0, NULL) : NULL;
	const char *text =
		json_string_value(json_object_get(json_object_get(error, "error"), "text"));

	if (text)
		ins_problems_add(problems, "%s", text);
	else
		ins_problems_add(problems, "%s: no answer", p->path);
	json_decref(error);
}

static char *put_processes(const struct serve_gather *g, size_t *ret_size)
{
	struct ins_summary summary = {.total = g->parts,
				      .sampled_ns = ins_duration_now() - g->began};
	struct ins_problems problems = {.count = 0};
	struct ins_json json;
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_size);
	size_t i;

	if (!out)
		return NULL;
	ins_json_begin(&json, out, 0, "", "control", "processes");
	for (i = 0; i < g->parts; i++) {
		const struct part *p = &g->part[i];

		if (is_well(p)) {
			ins_json_row(&json, json_loadb(p->answer->body, p->answer->size, 0, NULL));
			summary.shown++;
		} else {
			add_problem(&problems, p);
		}
	}
	ins_json_end(&json, &summary, &problems);
	ins_problems_free(&problems);
	return fclose(out) == 0 ? text : NULL;
}

/* What `fiberctl metrics` writes of a program that does not answer. */
static void add_absent(struct serve_families *families, const struct part *p)
{
	struct ctl_process_stats absent = {.pid = p->pid};
	char *text = NULL;
	size_t size;
	struct ctl_sink sink = {.out = open_memstream(&text, &size)};

	if (!sink.out)
		return;
	snprintf(absent.path, sizeof absent.path, "%s", p->path);
	ctl_metrics_write(&sink, &absent, 1);
	if (fclose(sink.out) == 0)
		serve_families_add(families, text);
	free(text);
}

static char *put_metrics(const struct serve_gather *g, size_t *ret_size)
{
	struct serve_families families = {.count = 0};
	char *text;
	size_t i;

	for (i = 0; i < g->parts; i++) {
		if (is_well(&g->part[i]))
			serve_families_add(&families, g->part[i].answer->body);
		else
			add_absent(&families, &g->part[i]);
	}
	text = serve_families_text(&families, ret_size);
	serve_families_drop(&families);
	return text;
}

static void drop(struct serve_gather *g)
{
	size_t i;

	for (i = 0; i < g->parts; i++)
		serve_answer_drop(g->part[i].answer);
	free(g->part);
	free(g);
}

/* All parts are here: put the answer together. */
static void finish(struct serve_gather *g)
{
	struct serve_gathers *all = g->all;
	struct serve_waiter *w, *next;
	struct serve_answer *answer;
	size_t size = 0;
	char *body;

	if (g->what == SERVE_GATHER_METRICS) {
		body = put_metrics(g, &size);
		answer = serve_answer_new(MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8",
					  body, size, 0);
	} else {
		body = put_processes(g, &size);
		answer = serve_answer_new(MHD_HTTP_OK, SERVE_JSON, body, size, 0);
	}
	all->running[g->what] = NULL;
	serve_answer_drop(all->last[g->what]);
	all->last[g->what] = answer;
	all->when[g->what] = ins_duration_now();
	for (w = g->waiters; w; w = next) {
		next = w->next;
		w->done(w, serve_answer_use(answer));
	}
	drop(g);
}

static void part_done(struct serve_waiter *waiter, struct serve_answer *answer)
{
	struct part *p = (struct part *)waiter;

	p->answer = answer;
	if (--p->gather->open == 0 && !p->gather->asking)
		finish(p->gather);
}

static struct serve_gather *begin(struct serve_gathers *all, const struct serve_desk *desk,
				  enum serve_gather_what what, int64_t now)
{
	struct serve_gather *g = calloc(1, sizeof *g);

	if (!g)
		return NULL;
	*g = (struct serve_gather){.all = all, .what = what, .asking = true, .began = now};
	g->part = calloc(desk->programs.count + 1, sizeof *g->part);
	if (g->part)
		return g;
	free(g);
	return NULL;
}

/*
 * A program that has ended is not listed, although the next search has to find that out, too: an answer that it gave
 * before would say that it lives.
 */
static void ask_part(struct serve_gather *g, struct serve_desk *desk,
		     const struct serve_found *found, int64_t now)
{
	struct part *p = &g->part[g->parts];

	if (g->what == SERVE_GATHER_PROCESSES && serve_found_has_ended(found))
		return;
	g->parts++;
	g->open++;
	p->gather = g;
	p->pid = found->socket.pid;
	snprintf(p->path, sizeof p->path, "%.107s", found->socket.path);
	p->waiter =
		(struct serve_waiter){.done = part_done, .deadline = now + PATIENT, .old = true};
	serve_desk_ask(desk, found, questions[g->what], &p->waiter, now);
}

void serve_gather_ask(struct serve_gathers *all, struct serve_desk *desk,
		      enum serve_gather_what what, struct serve_waiter *waiter, int64_t now)
{
	struct serve_gather *g = all->running[what];
	size_t i;

	if (!g && all->last[what] && now - all->when[what] < FRESH) {
		waiter->done(waiter, serve_answer_use(all->last[what]));
		return;
	}
	if (g) {
		waiter->next = g->waiters;
		g->waiters = waiter;
		return;
	}
	g = begin(all, desk, what, now);
	if (!g) {
		waiter->done(waiter, NULL);
		return;
	}
	all->running[what] = g;
	waiter->next = NULL;
	g->waiters = waiter;
	for (i = 0; i < desk->programs.count; i++)
		ask_part(g, desk, &desk->programs.all[i], now);
	g->asking = false;
	if (!g->open)
		finish(g);
}

void serve_gathers_end(struct serve_gathers *all)
{
	int i;

	for (i = 0; i < 2; i++) {
		serve_answer_drop(all->last[i]);
		if (all->running[i])
			drop(all->running[i]);
	}
}
