/* SPDX-License-Identifier: MIT */
/* errand.c - commands that take long: profiles, recordings, and what is made from them */
#include "fiberctl/serve/errand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fiberctl/fiberctl.h"

static char *join(char *const argv[])
{
	char *text = NULL;
	size_t size, i;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (i = 0; argv[i]; i++)
		fprintf(out, "%s%s", i ? "\n" : "", argv[i]);
	return fclose(out) == 0 ? text : NULL;
}

static void wait_for(struct serve_errand *e, struct serve_waiter *w)
{
	if (!w)
		return;
	w->next = e->waiters;
	e->waiters = w;
}

bool serve_errand_start(struct serve_errands *all, const struct serve_errand_how *how,
			struct serve_waiter *waiter, int64_t now)
{
	char *words = join(how->argv);
	struct serve_errand *e;
	unsigned i;

	for (i = 0; words && i < all->count; i++)
		if (strcmp(all->at[i]->words, words) == 0) {
			wait_for(all->at[i], waiter);
			free(words);
			return true;
		}
	e = words && all->count < SERVE_ERRANDS ? calloc(1, sizeof *e) : NULL;
	if (e && serve_capture_start(&e->capture, how->argv, how->most) == 0) {
		e->words = words;
		e->type = how->type;
		e->deadline = now + how->time;
		e->ended = how->ended;
		e->context = how->context;
		wait_for(e, waiter);
		all->at[all->count++] = e;
		return true;
	}
	free(e);
	free(words);
	return false;
}

unsigned serve_errands_fill(const struct serve_errands *all, struct pollfd *slots)
{
	unsigned i;

	for (i = 0; i < all->count; i++)
		slots[i] = (struct pollfd){.fd = all->at[i]->capture.end, .events = POLLIN};
	return all->count;
}

static struct serve_answer *answer_of(struct serve_errand *e, int code, const char *errors)
{
	char text[1024];
	size_t size;
	char *body;

	serve_capture_line(errors, text, sizeof text);
	if (code < 0 || code == TOOL_CANNOT || code == TOOL_USAGE)
		return serve_answer_error(code == TOOL_USAGE ? MHD_HTTP_BAD_REQUEST
					  : code < 0	     ? MHD_HTTP_GATEWAY_TIMEOUT
							     : MHD_HTTP_BAD_GATEWAY,
					  "%s",
					  code < 0 ? "the command failed, or took too long" : text);
	body = serve_capture_read(e->capture.out, &size);
	return serve_answer_new(MHD_HTTP_OK, e->type ? e->type : SERVE_TEXT, body, size, 0);
}

static void finish(struct serve_errands *all, unsigned i)
{
	struct serve_errand *e = all->at[i];
	const int code = serve_capture_wait(&e->capture, 0);
	size_t size;
	char *errors = serve_capture_read(e->capture.err, &size);
	struct serve_waiter *w, *next;
	struct serve_answer *answer;

	all->at[i] = all->at[--all->count];
	if (e->ended)
		e->ended(e->context, code, errors ? errors : "");
	answer = errors ? answer_of(e, code, errors) : NULL;
	for (w = e->waiters; w; w = next) {
		next = w->next;
		w->done(w, serve_answer_use(answer));
	}
	serve_answer_drop(answer);
	serve_capture_drop(&e->capture);
	free(errors);
	free(e->words);
	free(e);
}

void serve_errands_work(struct serve_errands *all, const struct pollfd *slots, unsigned count,
			int64_t now)
{
	unsigned i = all->count;

	while (i-- > 0)
		if ((i < count && slots[i].revents) || now > all->at[i]->deadline)
			finish(all, i);
}

void serve_errands_end(struct serve_errands *all)
{
	while (all->count)
		finish(all, all->count - 1);
}
