/* SPDX-License-Identifier: MIT */
/*
 * round.c - send the same requests to many processes in parallel
 *
 * A process that does not answer uses up its whole budget (wire/budget.h). Asked in sequence, a few
 * such processes would delay all other answers. So all are asked at once over non-blocking
 * connections, and each wait is charged to each of them. One budget covers the whole exchange, from
 * connecting to the last answer.
 *
 * Between two looks the tool sleeps by its own clock instead of poll(2), for the reason given in
 * client.c: a program must not be able to wake it.
 *
 * At most WINDOW processes are asked at a time, because each needs a descriptor and up to half a
 * megabyte. An answered process makes room for the next, so silent processes cost one budget per
 * WINDOW. A round has at most EACH processes of one user, because a user can put any number of
 * names into the folder.
 *
 * A listener with a full backlog refuses a non-blocking connection, and no call reports when there
 * is room. So connecting is tried again at each look.
 */
#include "tool/round.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "inspect/text/duration.h"
#include "tool/report.h"
#include "tool/tool.h"

#define WINDOW	 128
#define EACH	 4096
#define SHORTEST INT64_C(30000)	   /* ns between two looks */
#define LONGEST	 INT64_C(10000000) /* the same */
#define CHARGED \
	(3 * LONGEST) /* ns of a pause that are charged; the rest was not waiting (wire/budget.c) */

static int gather(void *context, const struct tool_socket *socket)
{
	struct tool_round *round = context;
	struct tool_asked *all;
	size_t i, owned = 0;

	for (i = 0; i < round->count; i++) {
		const struct tool_socket *s = &round->all[i].socket;

		if (s->pid && s->pid == socket->pid)
			return 0;
		owned += s->owner == socket->owner;
	}
	if (owned >= EACH) {
		if (owned == EACH)
			round->crowded = true;
		return 0;
	}
	if (round->count == round->room) {
		const size_t room = round->room ? 2 * round->room : 16;

		all = realloc(round->all, room * sizeof *all);
		if (!all)
			return -ENOMEM;
		round->all = all;
		round->room = room;
	}
	memset(&round->all[round->count], 0, sizeof *all);
	round->all[round->count].socket = *socket;
	round->all[round->count++].client.fd = -1;
	return 0;
}

int tool_round_gather(struct tool_round *round)
{
	int rc;

	*round = (struct tool_round){.all = NULL};
	rc = tool_sockets_each(gather, round);
	if (round->crowded)
		tool_cannot("more than %d control sockets of one user: the rest is left out", EACH);
	return rc;
}

static void end(struct tool_asked *one, int rc)
{
	one->rc = rc;
	one->over = true;
	fib_wire_disconnect(&one->client);
}

/* Send the next question; the budget of the exchange continues. */
static int ask_next(struct tool_asked *one)
{
	const struct tool_request *q = &one->question[one->answered];
	const int rc = fib_wire_request(&one->client, q->type, q->payload, q->length);

	one->client.budget.left -= one->spent;
	return rc;
}

/* Try to connect; -EAGAIN: not yet. */
static int connect_to(struct tool_asked *one, int64_t timeout_ns)
{
	int rc = fib_wire_connect_now(&one->client, one->socket.path, timeout_ns);

	if (rc == 0)
		rc = tool_socket_same(&one->socket, &one->client);
	if (rc < 0)
		return rc;
	one->connected = true;
	return ask_next(one);
}

/*
 * Take the frames that have arrived. -EAGAIN: more is to come; 0: all questions are answered; or a
 * negative errno.
 */
static int take(struct tool_asked *one)
{
	while (one->answered < one->questions) {
		int rc = tool_frames_now(&one->client, &one->question[one->answered], one->why,
					 sizeof one->why);

		if (rc < 0)
			return rc;
		if (++one->answered < one->questions)
			rc = ask_next(one);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static void turn(struct tool_asked *one, int64_t timeout_ns)
{
	int rc = one->connected ? 0 : connect_to(one, timeout_ns);

	if (rc == 0)
		rc = take(one);
	if (rc != -EAGAIN)
		end(one, rc);
}

/* Charge ns of waiting. The process was looked at after that wait. */
static void charge(struct tool_asked *one, int64_t ns, int64_t timeout_ns)
{
	int rc = 0;

	one->spent += ns;
	if (one->connected)
		rc = fib_wire_budget_wait(&one->client.budget, ns);
	else if (one->spent >= timeout_ns)
		rc = -ETIMEDOUT;
	if (rc < 0)
		end(one, rc);
}

/* Remove finished processes and fill their places. Returns the number of active ones. */
static size_t fill(struct tool_round *round, struct tool_asked *active[], size_t count,
		   size_t *next)
{
	size_t i, kept = 0;

	for (i = 0; i < count; i++)
		if (!active[i]->over)
			active[kept++] = active[i];
	while (kept < WINDOW && *next < round->count)
		active[kept++] = &round->all[(*next)++];
	return kept;
}

/* Look at each process once. Returns whether nothing arrived. */
static bool look(struct tool_asked *const active[], size_t count, int64_t ns, int64_t timeout_ns)
{
	bool quiet = true;
	size_t i;

	for (i = 0; i < count; i++) {
		turn(active[i], timeout_ns);
		quiet = quiet && !active[i]->over;
		if (!active[i]->over)
			charge(active[i], ns, timeout_ns);
	}
	return quiet;
}

void tool_round_ask(struct tool_round *round, int64_t timeout_ns)
{
	struct tool_asked *active[WINDOW];
	int64_t before = ins_duration_now(), pause = SHORTEST;
	size_t count = 0, next = 0;

	while ((count = fill(round, active, count, &next)) > 0) {
		const int64_t now = ins_duration_now(), ns = now - before;
		struct timespec t;

		before = now;
		if (look(active, count, ns < CHARGED ? ns : CHARGED, timeout_ns))
			pause += pause / 4;
		else
			pause = SHORTEST;
		if (pause > LONGEST)
			pause = LONGEST;
		t = (struct timespec){.tv_nsec = pause};
		nanosleep(&t, NULL);
	}
}

struct fib_wire_process *tool_round_hello(struct tool_round *round, int64_t timeout_ns)
{
	struct fib_wire_process *process = calloc(round->count, sizeof *process);
	size_t i;

	if (!process)
		return NULL;
	for (i = 0; i < round->count; i++) {
		round->all[i].question[0] = tool_frames_who(&process[i]);
		round->all[i].questions = 1;
	}
	tool_round_ask(round, timeout_ns);
	return process;
}

void tool_round_free(struct tool_round *round)
{
	free(round->all);
	*round = (struct tool_round){.all = NULL};
}

/* A name may be searched more than once. */
static struct tool_socket left_out[WINDOW];
static size_t left_out_count;

void tool_left_out(const struct tool_socket *socket)
{
	char who[128];
	size_t i;

	for (i = 0; i < left_out_count; i++)
		if (strcmp(left_out[i].path, socket->path) == 0)
			return;
	if (left_out_count < WINDOW)
		left_out[left_out_count++] = *socket;
	tool_cannot("%s: its answer does not end: left out",
		    tool_socket_who(socket, who, sizeof who));
}

int tool_left_out_code(int code)
{
	return code == TOOL_WELL && left_out_count ? TOOL_PARTIAL : code;
}
