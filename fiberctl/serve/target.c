/* SPDX-License-Identifier: MIT */
/* target.c - one program that is asked, its worker process and its turns */
#include "fiberctl/serve/target.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fiberctl/serve/capture.h"
#include "fiberctl/serve/question.h"
#include "fiberctl/serve/worker.h"
#include "tool/tool.h"

#define SECOND	   INT64_C(1000000000)
#define TURN_EVERY SECOND

/*
 * Live questions have a 40th of a CPU; metrics, other questions and verdicts (top_link.c) a 120th
 * each: the next ones wait for so many times the CPU time of the last ones. Together that is a
 * twentieth.
 */
#define LIVE_SHARE  40
#define OTHER_SHARE 120
/* A person who follows a trace asks some questions quickly: so much CPU time is advanced, ns. */
#define ADVANCE (2 * SECOND)

struct serve_target *serve_target_new(const struct serve_found *found)
{
	struct serve_target *t = calloc(1, sizeof *t);

	if (!t)
		return NULL;
	t->found = *found;
	t->fd = -1;
	return t;
}

bool serve_target_start(struct serve_target *t)
{
	t->worker = serve_worker_start(&t->found.socket, &t->fd);
	if (t->worker > 0)
		return true;
	t->worker = 0;
	t->fd = -1;
	return false;
}

void serve_target_stop(struct serve_target *t)
{
	if (!t->worker)
		return;
	close(t->fd);
	t->fd = -1;
	free(t->body);
	t->body = NULL;
	t->have = t->got = 0;
	/* Its own children end with it. */
	kill(t->worker, SIGKILL);
	waitpid(t->worker, NULL, 0);
	t->worker = 0;
}

/* -- turns -- */

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

int64_t serve_target_due(const struct serve_target *t, enum serve_share share)
{
	return later(t->next, t->next_of[share]);
}

int64_t serve_target_next(const struct serve_target *t)
{
	int64_t next = INT64_MAX;
	enum serve_share share;

	for (share = 0; share < SERVE_SHARES; share++)
		if (serve_entries_wanted(&t->entries, share) && serve_target_due(t, share) < next)
			next = serve_target_due(t, share);
	return next;
}

/* Add the wanted questions of a share to a turn. */
static void fill_turn(struct serve_target *t, enum serve_share share, struct serve_turn *turn,
		      char *text)
{
	unsigned i;

	for (i = 0; i < t->entries.count && turn->count < SERVE_TURN_MOST; i++) {
		struct serve_entry *e = &t->entries.at[i];
		const size_t n = strlen(e->question) + 1;

		if (!e->wanted || e->share != share)
			continue;
		e->wanted = false;
		e->asked = (int)turn->count++;
		memcpy(text + turn->bytes, e->question, n);
		turn->bytes += (uint32_t)n;
	}
}

/* Send the wanted questions, those of LIVE first. False: the worker has ended. */
static bool send_turn(struct serve_target *t, int64_t now)
{
	char text[SERVE_TURN_MOST * SERVE_QUESTION_MOST];
	struct serve_turn turn = {0};
	enum serve_share share;

	for (share = 0; share < SERVE_SHARES; share++)
		if (now >= serve_target_due(t, share))
			fill_turn(t, share, &turn, text);
	return send(t->fd, &turn, sizeof turn, MSG_NOSIGNAL) == (ssize_t)sizeof turn &&
	       send(t->fd, text, turn.bytes, MSG_NOSIGNAL) == (ssize_t)turn.bytes;
}

bool serve_target_turn(struct serve_target *t, int64_t now)
{
	t->look++;
	t->began = now;
	if (!send_turn(t, now))
		return false;
	t->next = now + TURN_EVERY;
	return true;
}

/*
 * Give an error, taken over, to those who wait. It does not answer a later question, and neither does
 * the last answer: the program may be in another state.
 */
static void fail_entry(struct serve_entry *e, struct serve_answer *error, size_t *bytes)
{
	serve_entry_forget(e, bytes);
	serve_entry_tell(e, error);
}

void serve_target_fail(struct serve_target *t, unsigned status, const char *why, size_t *bytes)
{
	unsigned i;

	serve_target_stop(t);
	t->began = 0;
	for (i = 0; i < t->entries.count; i++) {
		struct serve_entry *e = &t->entries.at[i];

		if (e->asked < 0)
			continue;
		e->asked = -1;
		fail_entry(
			e,
			serve_answer_error(status, "process %d: %s", (int)t->found.socket.pid, why),
			bytes);
	}
}

/* Count the CPU time of other questions. What was used before is forgotten slowly. */
static void spend(struct serve_target *t, int64_t cpu)
{
	t->spent = later(0, t->spent - (t->began - t->spent_at) / OTHER_SHARE) + cpu;
	t->spent_at = t->began;
	if (t->spent > ADVANCE)
		t->next_of[SERVE_OTHER] = t->began + (t->spent - ADVANCE) * OTHER_SHARE;
}

/* Let the next questions of a share wait for so many times what the last ones took. */
static void wait_after(struct serve_target *t, enum serve_share share, int64_t times)
{
	t->next_of[share] = later(t->next_of[share], t->began + t->frame.cpu[share] * times);
}

static void end_turn(struct serve_target *t)
{
	unsigned i;

	wait_after(t, SERVE_LIVE, LIVE_SHARE);
	wait_after(t, SERVE_METRICS, OTHER_SHARE);
	spend(t, t->frame.cpu[SERVE_OTHER]);
	t->began = 0;
	for (i = 0; i < t->entries.count; i++)
		t->entries.at[i].asked = -1;
}

/* -- answers -- */

static struct serve_answer *refused(const struct serve_target *t, const struct serve_entry *e,
				    const struct serve_frame *frame, const char *errors)
{
	const int pid = (int)t->found.socket.pid;
	char text[1024];

	serve_capture_line(errors, text, sizeof text);
	if (frame->code == -EFBIG)
		return serve_answer_error(MHD_HTTP_BAD_GATEWAY,
					  "process %d: the answer is longer than %u MiB: narrow it "
					  "with 'where' or 'limit'",
					  pid, SERVE_OUTPUT_MOST >> 20);
	if (frame->code == -ETIMEDOUT)
		return serve_answer_error(MHD_HTTP_GATEWAY_TIMEOUT,
					  "process %d: no answer within %d s", pid,
					  (int)(SERVE_ANSWER_TIME / SECOND));
	if (frame->code < 0)
		return serve_answer_error(MHD_HTTP_BAD_GATEWAY, "process %d: %s failed: %s", pid,
					  e->question, strerror(-frame->code));
	if (frame->code == TOOL_USAGE)
		return serve_answer_error(MHD_HTTP_BAD_REQUEST, "%s", text);
	return serve_answer_error(strstr(text, "no such fiber") ? MHD_HTTP_NOT_FOUND
								: MHD_HTTP_BAD_GATEWAY,
				  "%s", text);
}

static void take_answer(struct serve_target *t, char *body, size_t *bytes)
{
	const struct serve_frame *frame = &t->frame;
	struct serve_entry *e = NULL;
	struct serve_answer *answer;
	unsigned i;

	for (i = 0; i < t->entries.count; i++)
		if (t->entries.at[i].asked == (int)frame->index)
			e = &t->entries.at[i];
	if (!e) {
		free(body);
		return;
	}
	e->asked = -1;
	if (frame->code < 0 || frame->code == TOOL_CANNOT || frame->code == TOOL_USAGE) {
		answer = refused(t, e, frame, body + frame->size);
		free(body);
	} else {
		answer = serve_answer_new(MHD_HTTP_OK, serve_question_type(e->question), body,
					  frame->size, t->look);
	}
	if (answer && answer->status != MHD_HTTP_OK)
		fail_entry(e, answer, bytes);
	else
		serve_entry_keep(e, answer, bytes);
}

static void take_frame(struct serve_target *t, size_t *bytes)
{
	char *body = t->body;

	t->body = NULL;
	t->have = t->got = 0;
	if (t->frame.kind == SERVE_FRAME_ANSWER) {
		take_answer(t, body, bytes);
	} else if (t->frame.kind == SERVE_FRAME_TOTALS) {
		serve_history_add(&t->history, body);
	} else {
		end_turn(t);
		free(body);
	}
}

bool serve_target_read(struct serve_target *t, size_t *bytes)
{
	for (;;) {
		const size_t body = (size_t)t->frame.size + t->frame.errors;
		char *to = t->body ? t->body + t->got : (char *)&t->frame + t->have;
		const size_t room = t->body ? body - t->got : sizeof t->frame - t->have;
		const ssize_t n = room ? recv(t->fd, to, room, MSG_DONTWAIT) : 0;

		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		if (n == 0 && room)
			return false;
		if (t->body)
			t->got += (size_t)n;
		else
			t->have += (size_t)n;
		if (!t->body && t->have == sizeof t->frame) {
			if (t->frame.size > SERVE_OUTPUT_MOST || t->frame.errors > 65536)
				return false;
			t->body = calloc(1, (size_t)t->frame.size + t->frame.errors + 1);
			if (!t->body)
				return false;
		}
		if (t->body && t->got == (size_t)t->frame.size + t->frame.errors)
			take_frame(t, bytes);
	}
}

void serve_target_drop(struct serve_target *t, size_t *bytes)
{
	serve_target_stop(t);
	serve_entries_drop(&t->entries, (int)t->found.socket.pid, "it has ended", bytes);
	serve_history_drop(&t->history);
	free(t);
}
