/* SPDX-License-Identifier: MIT */
/*
 * desk.c - questions about programs, and the turns in which they are asked
 *
 * Each program has a worker process (worker.c), which is started for the first question and ends
 * when nobody has asked for a while. The answers of a turn stay until the next turn may begin: they
 * are as new as the program may be asked. The number of questions, of workers and of bytes is
 * bounded, so clients cannot fill the memory.
 */
#include "fiberctl/serve/desk.h"

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
#include "inspect/text/duration.h"
#include "tool/tool.h"

#define SECOND	    INT64_C(1000000000)
#define TURN_EVERY  SECOND
#define TURN_SHARE  20		  /* a turn may take so many times its CPU time */
#define TURN_TIME   (30 * SECOND) /* then its worker is killed */
#define WORKER_REST (15 * SECOND) /* a worker without questions ends */
#define TARGET_REST (120 * SECOND)
#define OLDEST	    (60 * SECOND) /* an answer that old is no answer */
#define BYTES_MOST  (24u << 20)	  /* of all answers */

/* -- entries -- */

static void drop_answer(struct serve_desk *d, struct serve_entry *e)
{
	if (e->answer)
		d->bytes -= e->answer->size;
	serve_answer_drop(e->answer);
	e->answer = NULL;
}

static void tell(struct serve_entry *e, struct serve_waiter *w, struct serve_answer *answer)
{
	struct serve_waiter **at = &e->waiters;

	while (*at && *at != w)
		at = &(*at)->next;
	if (*at)
		*at = w->next;
	w->done(w, answer);
}

/* Give an answer, taken over, to all waiters that want one as new as it. */
static void tell_all(struct serve_entry *e, struct serve_answer *answer)
{
	struct serve_waiter *w, *next;

	for (w = e->waiters; w; w = next) {
		next = w->next;
		if (!answer || !answer->look || answer->look > w->after)
			tell(e, w, serve_answer_use(answer));
	}
	serve_answer_drop(answer);
}

/* Keep an answer, taken over, as the last one, and tell those who wait for it. */
static void keep(struct serve_desk *d, struct serve_entry *e, struct serve_answer *answer)
{
	drop_answer(d, e);
	e->answer = serve_answer_use(answer);
	e->answered = ins_duration_now();
	if (answer)
		d->bytes += answer->size;
	tell_all(e, answer);
}

static struct serve_entry *find_entry(struct serve_target *t, const char *question)
{
	unsigned i;

	for (i = 0; i < t->entries; i++)
		if (strcmp(t->entry[i].question, question) == 0)
			return &t->entry[i];
	return NULL;
}

static bool is_idle(const struct serve_entry *e)
{
	return !e->waiters && !e->wanted && e->asked < 0;
}

/* An entry for a new question, perhaps the place of one that was not asked for long. */
static struct serve_entry *add_entry(struct serve_desk *d, struct serve_target *t,
				     const char *question)
{
	char *copy = strdup(question);
	struct serve_entry *e = NULL;
	unsigned i;

	if (t->entries < SERVE_ENTRIES)
		e = &t->entry[t->entries];
	for (i = 0; t->entries == SERVE_ENTRIES && i < t->entries; i++)
		if (is_idle(&t->entry[i]) && (!e || t->entry[i].used < e->used))
			e = &t->entry[i];
	if (!copy || !e) {
		free(copy);
		return NULL;
	}
	if (t->entries < SERVE_ENTRIES)
		t->entries++;
	else
		drop_answer(d, e);
	free(e->question);
	*e = (struct serve_entry){.question = copy, .asked = -1};
	return e;
}

/* Drop the answers that were not asked for the longest time, until their sum is in its bound. */
static void shrink(struct serve_desk *d)
{
	struct serve_entry *oldest;
	unsigned i, k;

	while (d->bytes > BYTES_MOST) {
		oldest = NULL;
		for (i = 0; i < d->targets; i++)
			for (k = 0; k < d->target[i]->entries; k++) {
				struct serve_entry *e = &d->target[i]->entry[k];

				if (e->answer && (!oldest || e->used < oldest->used))
					oldest = e;
			}
		if (!oldest)
			return;
		drop_answer(d, oldest);
	}
}

/* -- workers -- */

static void end_worker(struct serve_desk *d, struct serve_target *t)
{
	if (!t->worker)
		return;
	close(t->fd);
	t->fd = -1;
	free(t->body);
	t->body = NULL;
	t->have = t->got = 0;
	/* It may be in the middle of a turn. Its own children end with it. */
	kill(t->worker, SIGKILL);
	waitpid(t->worker, NULL, 0);
	t->worker = 0;
	d->workers--;
}

/* The current turn has failed: nobody waits for its answers any more. */
static void fail_turn(struct serve_desk *d, struct serve_target *t, unsigned status,
		      const char *why)
{
	unsigned i;

	end_worker(d, t);
	t->began = 0;
	for (i = 0; i < t->entries; i++) {
		struct serve_entry *e = &t->entry[i];

		if (e->asked < 0)
			continue;
		e->asked = -1;
		tell_all(e, serve_answer_error(status, "process %d: %s", (int)t->found.socket.pid,
					       why));
	}
}

/* End the worker that was not used for the longest time, and has nothing to do. */
static bool free_worker(struct serve_desk *d)
{
	struct serve_target *rests = NULL;
	unsigned i;

	for (i = 0; i < d->targets; i++) {
		struct serve_target *t = d->target[i];

		if (t->worker && !t->began && (!rests || t->used < rests->used))
			rests = t;
	}
	if (rests)
		end_worker(d, rests);
	return rests != NULL;
}

static bool need_worker(struct serve_desk *d, struct serve_target *t)
{
	if (t->worker)
		return true;
	if (d->workers == SERVE_WORKERS && !free_worker(d))
		return false;
	t->worker = serve_worker_start(&t->found.socket, &t->fd);
	if (t->worker < 0) {
		t->worker = 0;
		return false;
	}
	d->workers++;
	return true;
}

/* -- turns -- */

/* Whether there is something to ask. */
static bool wants_turn(const struct serve_target *t)
{
	unsigned i;

	for (i = 0; i < t->entries; i++)
		if (t->entry[i].wanted)
			return true;
	return false;
}

/* Send the wanted questions. False: the worker has ended. */
static bool send_turn(struct serve_target *t)
{
	char text[SERVE_TURN_MOST * SERVE_QUESTION_MOST];
	struct serve_turn turn = {0};
	unsigned i;

	for (i = 0; i < t->entries && turn.count < SERVE_TURN_MOST; i++) {
		struct serve_entry *e = &t->entry[i];
		const size_t n = strlen(e->question) + 1;

		if (!e->wanted)
			continue;
		e->wanted = false;
		e->asked = (int)turn.count++;
		memcpy(text + turn.bytes, e->question, n);
		turn.bytes += (uint32_t)n;
	}
	return send(t->fd, &turn, sizeof turn, MSG_NOSIGNAL) == (ssize_t)sizeof turn &&
	       send(t->fd, text, turn.bytes, MSG_NOSIGNAL) == (ssize_t)turn.bytes;
}

static void begin_turn(struct serve_desk *d, struct serve_target *t, int64_t now)
{
	if (!need_worker(d, t))
		return;
	t->look++;
	t->began = now;
	t->next = now + TURN_EVERY;
	if (!send_turn(t))
		fail_turn(d, t, MHD_HTTP_BAD_GATEWAY, "its worker has ended");
}

static void end_turn(struct serve_target *t, int64_t cpu)
{
	const int64_t rest = t->began + cpu * TURN_SHARE;
	unsigned i;

	if (rest > t->next)
		t->next = rest;
	t->began = 0;
	for (i = 0; i < t->entries; i++)
		t->entry[i].asked = -1;
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

static void take_answer(struct serve_desk *d, struct serve_target *t, char *body)
{
	const struct serve_frame *frame = &t->frame;
	struct serve_entry *e = NULL;
	struct serve_answer *answer;
	unsigned i;

	for (i = 0; i < t->entries; i++)
		if (t->entry[i].asked == (int)frame->index)
			e = &t->entry[i];
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
	/* An error does not answer a later question, but for those who wait it is the answer. */
	if (answer && answer->status != MHD_HTTP_OK)
		tell_all(e, answer);
	else
		keep(d, e, answer);
	shrink(d);
}

static void take_frame(struct serve_desk *d, struct serve_target *t)
{
	char *body = t->body;

	t->body = NULL;
	t->have = t->got = 0;
	if (t->frame.kind == SERVE_FRAME_ANSWER) {
		take_answer(d, t, body);
	} else if (t->frame.kind == SERVE_FRAME_TOTALS) {
		serve_history_add(&t->history, body);
	} else {
		end_turn(t, t->frame.cpu);
		free(body);
	}
}

/* Read what the worker has sent. False: it has ended, or it sends nonsense. */
static bool read_frames(struct serve_desk *d, struct serve_target *t)
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
			take_frame(d, t);
	}
}

/* -- targets -- */

static void drop_target(struct serve_desk *d, unsigned i)
{
	struct serve_target *t = d->target[i];
	unsigned k;

	fail_turn(d, t, MHD_HTTP_BAD_GATEWAY, "it has ended");
	for (k = 0; k < t->entries; k++) {
		struct serve_entry *e = &t->entry[k];

		tell_all(e, serve_answer_error(MHD_HTTP_BAD_GATEWAY, "process %d: it has ended",
					       (int)t->found.socket.pid));
		drop_answer(d, e);
		free(e->question);
	}
	serve_history_drop(&t->history);
	free(t);
	d->target[i] = d->target[--d->targets];
}

static struct serve_target *find_target(const struct serve_desk *d, const struct serve_found *f)
{
	unsigned i;

	for (i = 0; i < d->targets; i++)
		if (d->target[i]->found.socket.pid == f->socket.pid &&
		    d->target[i]->found.started == f->started &&
		    strcmp(d->target[i]->found.socket.path, f->socket.path) == 0)
			return d->target[i];
	return NULL;
}

static bool has_waiters(const struct serve_target *t)
{
	unsigned i;

	for (i = 0; i < t->entries; i++)
		if (t->entry[i].waiters)
			return true;
	return false;
}

static struct serve_target *need_target(struct serve_desk *d, const struct serve_found *f)
{
	struct serve_target *t = find_target(d, f);
	unsigned i, oldest = SERVE_TARGETS;

	if (t)
		return t;
	for (i = 0; d->targets == SERVE_TARGETS && i < d->targets; i++)
		if (!d->target[i]->began && !has_waiters(d->target[i]) &&
		    (oldest == SERVE_TARGETS || d->target[i]->used < d->target[oldest]->used))
			oldest = i;
	if (oldest < SERVE_TARGETS)
		drop_target(d, oldest);
	if (d->targets == SERVE_TARGETS)
		return NULL;
	t = calloc(1, sizeof *t);
	if (!t)
		return NULL;
	t->found = *f;
	t->fd = -1;
	return d->target[d->targets++] = t;
}

/* -- for the server -- */

static bool is_new_enough(const struct serve_target *t, const struct serve_entry *e,
			  const struct serve_waiter *w, int64_t now)
{
	if (!e->answer || now - e->answered > OLDEST)
		return false;
	if (w->old)
		return now < t->next || t->began;
	return now < t->next && e->answer->look == t->look && e->answer->look > w->after;
}

void serve_desk_ask(struct serve_desk *d, const struct serve_found *program, const char *question,
		    struct serve_waiter *w, int64_t now)
{
	struct serve_target *t = need_target(d, program);
	struct serve_entry *e = t ? find_entry(t, question) : NULL;

	if (t && !e)
		e = add_entry(d, t, question);
	if (!e) {
		w->done(w, serve_answer_error(MHD_HTTP_SERVICE_UNAVAILABLE,
					      "too many questions at once: ask again"));
		return;
	}
	t->used = e->used = now;
	if (is_new_enough(t, e, w, now)) {
		if (e->answer->look != t->look && e->asked < 0)
			e->wanted = true;
		w->done(w, serve_answer_use(e->answer));
		return;
	}
	e->wanted = e->wanted || e->asked < 0;
	w->next = e->waiters;
	e->waiters = w;
}

const struct serve_history *serve_desk_history(const struct serve_desk *d,
					       const struct serve_found *program)
{
	const struct serve_target *t = find_target(d, program);

	return t ? &t->history : NULL;
}

unsigned serve_desk_fill(const struct serve_desk *d, struct pollfd *slots)
{
	unsigned i;

	for (i = 0; i < d->targets; i++)
		slots[i] = (struct pollfd){.fd = d->target[i]->fd, .events = POLLIN};
	slots[i] = (struct pollfd){.fd = d->programs.search.end, .events = POLLIN};
	return i + 1;
}

/* Answer the waiters whose time is over. */
static void expire(struct serve_target *t, int64_t now)
{
	struct serve_waiter *w, *next;
	unsigned i;

	for (i = 0; i < t->entries; i++) {
		struct serve_entry *e = &t->entry[i];

		for (w = e->waiters; w; w = next) {
			next = w->next;
			if (now < w->deadline)
				continue;
			tell(e, w,
			     w->old && e->answer
				     ? serve_answer_use(e->answer)
				     : serve_answer_error(MHD_HTTP_GATEWAY_TIMEOUT,
							  "process %d: no answer in time",
							  (int)t->found.socket.pid));
		}
	}
}

static bool is_listed(const struct serve_desk *d, const struct serve_target *t)
{
	size_t i;

	for (i = 0; i < d->programs.count; i++)
		if (d->programs.all[i].socket.pid == t->found.socket.pid &&
		    d->programs.all[i].started == t->found.started)
			return true;
	return false;
}

static void work_on(struct serve_desk *d, unsigned i, short revents, int64_t now)
{
	struct serve_target *t = d->target[i];

	if (revents && t->fd >= 0 && !read_frames(d, t))
		fail_turn(d, t, MHD_HTTP_BAD_GATEWAY, "the process that asks it has ended");
	if (t->began && now - t->began > TURN_TIME)
		fail_turn(d, t, MHD_HTTP_GATEWAY_TIMEOUT, "no answer in time");
	expire(t, now);
	if (!t->began && now >= t->next && wants_turn(t))
		begin_turn(d, t, now);
	if (t->worker && !t->began && now - t->used > WORKER_REST)
		end_worker(d, t);
	if (!t->began && !has_waiters(t) && (now - t->used > TARGET_REST || !is_listed(d, t)))
		drop_target(d, i);
}

void serve_desk_work(struct serve_desk *d, const struct pollfd *slots, unsigned count, int64_t now)
{
	unsigned i = d->targets;

	if (count && slots[count - 1].revents && d->programs.search.pid)
		serve_programs_take(&d->programs);
	serve_programs_look(&d->programs, now);
	/* From the last one, which takes the place of one that is dropped. */
	while (i-- > 0)
		work_on(d, i, i + 1 < count ? slots[i].revents : 0, now);
}

int64_t serve_desk_until(const struct serve_desk *d, int64_t now)
{
	int64_t until = now + SECOND;
	const struct serve_waiter *w;
	unsigned i, k;

	for (i = 0; i < d->targets; i++) {
		const struct serve_target *t = d->target[i];

		if (!t->began && wants_turn(t) && t->next < until)
			until = t->next;
		for (k = 0; k < t->entries; k++)
			for (w = t->entry[k].waiters; w; w = w->next)
				if (w->deadline < until)
					until = w->deadline;
	}
	return until;
}

void serve_desk_end(struct serve_desk *d)
{
	while (d->targets)
		drop_target(d, d->targets - 1);
	serve_programs_end(&d->programs);
}
