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

#include <string.h>

#define SECOND	    INT64_C(1000000000)
#define TURN_TIME   (30 * SECOND) /* then its worker is killed */
#define HANGS	    (2 * SECOND)  /* the same, if another program needs a worker */
#define WORKER_REST (15 * SECOND) /* a worker without questions ends */
#define TARGET_REST (120 * SECOND)
#define OLDEST	    (60 * SECOND) /* an answer that old is no answer */
#define NO_WORKER   (SECOND / 50) /* then it is tried again */
#define BYTES_MOST  (16u << 20)	  /* of all answers */

/* Drop the answers that were not asked for the longest time, until their sum is in its bound. */
static void shrink(struct serve_desk *d)
{
	struct serve_entry *oldest;
	unsigned i, k;

	while (d->bytes > BYTES_MOST) {
		oldest = NULL;
		for (i = 0; i < d->targets; i++)
			for (k = 0; k < d->target[i]->entries.count; k++) {
				struct serve_entry *e = &d->target[i]->entries.at[k];

				if (e->answer && (!oldest || e->used < oldest->used))
					oldest = e;
			}
		if (!oldest)
			return;
		serve_entry_forget(oldest, &d->bytes);
	}
}

/* -- workers -- */

/*
 * Make room for one more worker: end the one that was not used for the longest time, or else the one
 * with the longest turn, so that programs that hang do not keep the others from their turns.
 */
static bool has_room(struct serve_desk *d, int64_t now)
{
	struct serve_target *rests = NULL, *hangs = NULL;
	unsigned i, workers = 0;

	for (i = 0; i < d->targets; i++) {
		struct serve_target *t = d->target[i];

		workers += t->worker != 0;
		if (t->worker && !t->began && (!rests || t->used < rests->used))
			rests = t;
		if (t->began && (!hangs || t->began < hangs->began))
			hangs = t;
	}
	if (workers < SERVE_WORKERS)
		return true;
	if (rests)
		serve_target_stop(rests);
	else if (hangs && now - hangs->began > HANGS)
		serve_target_fail(hangs, MHD_HTTP_GATEWAY_TIMEOUT,
				  "no answer in time, and other programs wait", &d->bytes);
	else
		return false;
	return true;
}

static void begin_turn(struct serve_desk *d, struct serve_target *t, int64_t now)
{
	if (!t->worker && (!has_room(d, now) || !serve_target_start(t)))
		return;
	if (!serve_target_turn(t, now))
		serve_target_fail(t, MHD_HTTP_BAD_GATEWAY, "the process that asks it has ended",
				  &d->bytes);
}

/* -- targets -- */

static void drop_target(struct serve_desk *d, unsigned i)
{
	struct serve_target *t = d->target[i];

	d->target[i] = d->target[--d->targets];
	serve_target_drop(t, &d->bytes);
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

static struct serve_target *need_target(struct serve_desk *d, const struct serve_found *f)
{
	struct serve_target *t = find_target(d, f);
	unsigned i, oldest = SERVE_TARGETS;

	if (t)
		return t;
	for (i = 0; d->targets == SERVE_TARGETS && i < d->targets; i++)
		if (!d->target[i]->began && !serve_entries_waited(&d->target[i]->entries) &&
		    (oldest == SERVE_TARGETS || d->target[i]->used < d->target[oldest]->used))
			oldest = i;
	if (oldest < SERVE_TARGETS)
		drop_target(d, oldest);
	if (d->targets == SERVE_TARGETS)
		return NULL;
	t = serve_target_new(f);
	if (t)
		d->target[d->targets++] = t;
	return t;
}

/* -- for the server -- */

static bool is_new_enough(const struct serve_target *t, const struct serve_entry *e,
			  const struct serve_waiter *w, int64_t now)
{
	const int64_t due = serve_target_due(t, e->share);

	if (!e->answer || now - e->answered > OLDEST || e->answer->look <= w->after)
		return false;
	if (w->old && t->began)
		return true;
	return now < due && (w->old || e->answer->look == t->look || due - now > SECOND);
}

void serve_desk_ask(struct serve_desk *d, const struct serve_found *program, const char *question,
		    struct serve_waiter *w, int64_t now)
{
	struct serve_target *t = need_target(d, program);
	struct serve_entry *e = t ? serve_entries_need(&t->entries, question, &d->bytes) : NULL;

	if (!e) {
		w->done(w, serve_answer_error(MHD_HTTP_SERVICE_UNAVAILABLE,
					      "too many questions at once: ask again"));
		return;
	}
	t->used = e->used = now;
	/* A viewer may know a look of a server that has ended since. */
	if (w->after > t->look)
		w->after = 0;
	if (is_new_enough(t, e, w, now)) {
		if (e->answer->look != t->look && e->asked < 0)
			e->wanted = true;
		w->done(w, serve_answer_use(e->answer));
		return;
	}
	e->wanted = e->wanted || e->asked < 0;
	serve_entry_wait(e, w);
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

	if (revents && t->fd >= 0 && !serve_target_read(t, &d->bytes))
		serve_target_fail(t, MHD_HTTP_BAD_GATEWAY, "the process that asks it has ended",
				  &d->bytes);
	if (t->began && now - t->began > TURN_TIME)
		serve_target_fail(t, MHD_HTTP_GATEWAY_TIMEOUT, "no answer in time", &d->bytes);
	shrink(d);
	serve_entries_expire(&t->entries, (int)t->found.socket.pid, now);
	if (!t->began && now >= serve_target_next(t))
		begin_turn(d, t, now);
	if (t->worker && !t->began && now - t->used > WORKER_REST)
		serve_target_stop(t);
	if (!t->began && !serve_entries_waited(&t->entries) &&
	    (now - t->used > TARGET_REST || !is_listed(d, t)))
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
	int64_t until = now + SECOND, deadline;
	unsigned i;

	for (i = 0; i < d->targets; i++) {
		const struct serve_target *t = d->target[i];

		deadline = serve_entries_deadline(&t->entries);
		if (deadline < until)
			until = deadline;
		if (t->began)
			continue;
		deadline = serve_target_next(t);
		/* One that is due waits for a worker. */
		if (deadline <= now)
			deadline = now + NO_WORKER;
		if (deadline < until)
			until = deadline;
	}
	return until;
}

void serve_desk_end(struct serve_desk *d)
{
	while (d->targets)
		drop_target(d, d->targets - 1);
	serve_programs_end(&d->programs);
}
