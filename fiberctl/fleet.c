/* SPDX-License-Identifier: MIT */
/*
 * fleet.c - ask one program, or all, for counters and findings
 *
 * A program that does not answer must not hide the numbers of others. All are asked for their
 * counters at once (tool/round.h). Then the fibers of each one that has answered are looked at, one
 * program after another: a look needs memory for all fibers, about 500 bytes each.
 *
 * All looks at programs of one user that fail may take LOOK together: so hostile programs of one user
 * cannot take the time of another user's. Each of the programs still to be looked at has an equal share
 * of what is left of it, and a look that succeeds is not charged. Programs with few fibers are looked at
 * first: so the largest has the largest share.
 */
#include "fiberctl/fleet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fiberctl/fiberctl.h"
#include "fiberctl/reply.h"
#include "inspect/text/duration.h"
#include "inspect/text/escape.h"
#include "tool/process.h"
#include "tool/report.h"
#include "tool/round.h"

/* How long a look may take, ns, however many fibers there are. */
#define LOOK INT64_C(5000000000)
/* The least share of that, ns: a look at a few thousand fibers of a program without a free CPU. */
#define LEAST INT64_C(200000000)

static bool is_known(const struct ctl_fleet *fleet, pid_t pid)
{
	size_t i;

	for (i = 0; pid && i < fleet->count; i++)
		if (fleet->all[i].pid == pid)
			return true;
	return false;
}

/* Add an entry; NULL: no memory, with a message. */
static struct ctl_process_stats *add(struct ctl_fleet *fleet, pid_t pid)
{
	struct ctl_process_stats *all = realloc(fleet->all, (fleet->count + 1) * sizeof *all);

	if (!all) {
		fleet->code = tool_cannot("out of memory");
		return NULL;
	}
	fleet->all = all;
	all[fleet->count] = (struct ctl_process_stats){.pid = pid};
	return &all[fleet->count++];
}

static const char *reason(const struct tool_asked *asked, int rc)
{
	switch (rc) {
	case 0:
		return "it is older than this tool, and has no metrics";
	case -ETIMEDOUT:
		return "no answer: it is stopped, or its service thread hangs";
	case -EMSGSIZE:
		return "it announces a longer frame than any answer has: left out";
	default:
		return asked->why[0] ? asked->why : strerror(-rc);
	}
}

static void say_missing(struct ctl_fleet *fleet, const struct tool_asked *asked, int rc)
{
	char who[128];

	fleet->code = TOOL_PARTIAL;
	tool_socket_who(&asked->socket, who, sizeof who);
	if (rc == -ETIME)
		tool_left_out(&asked->socket);
	if (rc == -ETIME && fleet->json)
		ins_problems_add(&fleet->problems, "%s: its answer does not end: left out", who);
	else if (rc != -ETIME)
		ins_problems_add(&fleet->problems, "%s: %s", who, reason(asked, rc));
}

/* Whether the process is gone or another one answered in its place; it is then left out. */
static bool is_none(const struct tool_asked *asked, int rc, struct ctl_stats *stats)
{
	if (rc == -ECONNREFUSED || rc == -ENOENT || rc == -ECONNRESET || rc == -ESTALE) {
		tool_sockets_tidy(&asked->socket);
		return true;
	}
	return rc == 0 && stats->counted && !tool_socket_says(&asked->socket, &stats->process);
}

/* Add the answer of one program. stats belongs to the fleet afterwards, or is freed. */
static void take_one(struct ctl_fleet *fleet, const struct tool_asked *asked,
		     struct ctl_stats *stats)
{
	/* An older program has no counters. */
	const int rc = asked->answered == 1 && asked->rc == -EOPNOTSUPP ? 0 : asked->rc;
	struct ctl_process_stats *one = NULL;

	if (!is_none(asked, rc, stats) && !is_known(fleet, asked->socket.pid))
		one = add(fleet, asked->socket.pid);
	if (one) {
		snprintf(one->path, sizeof one->path, "%.107s", asked->socket.path);
		one->owner = asked->socket.owner;
	}
	if (one && (rc < 0 || !stats->counted))
		say_missing(fleet, asked, rc);
	if (one && rc == 0) {
		one->answered = true;
		one->stats = *stats;
	} else
		ctl_stats_free(stats);
}

/* -- the looks, one after another: each needs memory for all fibers -- */

/* A look that could not be made. An exited process has no fibers to look at. */
static void say_unseen(struct ctl_fleet *fleet, const struct ctl_process_stats *one,
		       const char *who, const struct ins_error *error)
{
	if (one->pid && !tool_process_alive(one->pid))
		return;
	fleet->code = TOOL_PARTIAL;
	ins_problems_add(&fleet->problems, "%s: its fibers were not looked at: %s", who,
			 error->text);
}

/* How long the looks at programs of one user have taken that failed, ns. */
static int64_t failed_of(const struct ctl_fleet *fleet, uid_t owner)
{
	int64_t sum = 0;
	size_t i;

	for (i = 0; i < fleet->count; i++)
		sum += fleet->all[i].owner == owner ? fleet->all[i].failed : 0;
	return sum;
}

/* share: of the time that is left for the programs of its user, ns. */
static void look_at_socket(struct ctl_fleet *fleet, struct ctl_process_stats *one,
			   const struct tool_socket *socket, int64_t share)
{
	const struct ctl_look_time time = {share < TOOL_HELLO_TIMEOUT ? share : TOOL_HELLO_TIMEOUT,
					   share};
	const int64_t began = ins_duration_now();
	struct ins_error error = {"earlier looks have used up the time"};
	char who[128];

	if (time.all > 0 &&
	    ctl_findings_of_socket(socket->path, socket->pid, &time, &one->findings, &error) == 0)
		return;
	one->failed = ins_duration_now() - began;
	say_unseen(fleet, one, tool_socket_who(socket, who, sizeof who), &error);
}

/* A look to be made. */
struct planned {
	struct ctl_process_stats *one;
	const struct tool_socket *socket;
	uint64_t fibers;
};

static int fewest_first(const void *a, const void *b)
{
	const struct planned *x = a, *y = b;

	if (x->fibers != y->fibers)
		return x->fibers < y->fibers ? -1 : 1;
	return x->one < y->one ? -1 : x->one > y->one;
}

static struct ctl_process_stats *entry_of(struct ctl_fleet *fleet, const struct tool_socket *socket)
{
	size_t i;

	for (i = 0; i < fleet->count; i++)
		if (fleet->all[i].pid == socket->pid &&
		    (socket->pid || strncmp(fleet->all[i].path, socket->path, 107) == 0))
			return &fleet->all[i];
	return NULL;
}

static size_t plan(struct ctl_fleet *fleet, const struct tool_round *round, struct planned *ret)
{
	size_t i, n = 0;

	for (i = 0; i < round->count; i++) {
		struct ctl_process_stats *one = entry_of(fleet, &round->all[i].socket);

		if (!one || !one->answered || !one->stats.counted || one->asked)
			continue;
		one->asked = true;
		ret[n++] = (struct planned){one, &round->all[i].socket, one->stats.counters.fibers};
	}
	if (n)
		qsort(ret, n, sizeof *ret, fewest_first);
	return n;
}

/* The share of the first of n looks to be made, ns; 0: no time is left. */
static int64_t share_of(const struct ctl_fleet *fleet, const struct planned *all, size_t n)
{
	const int64_t left = LOOK - failed_of(fleet, all->one->owner);
	int64_t programs = 0;
	size_t i;

	for (i = 0; i < n; i++)
		programs += all[i].one->owner == all->one->owner;
	if (left <= 0)
		return 0;
	return left / programs > LEAST ? left / programs : LEAST;
}

static void look_at_all(struct ctl_fleet *fleet, const struct tool_round *round)
{
	struct planned *all;
	size_t i, n;

	if (!fleet->look || !round->count)
		return;
	all = calloc(round->count, sizeof *all);
	if (!all) {
		fleet->code = tool_cannot("out of memory");
		return;
	}
	n = plan(fleet, round, all);
	for (i = 0; i < n; i++)
		look_at_socket(fleet, all[i].one, all[i].socket, share_of(fleet, all + i, n - i));
	free(all);
}

static void look_at_reply(struct ctl_fleet *fleet, struct ctl_process_stats *one,
			  const struct ctl_reply *reply)
{
	const struct ctl_look_time time = {TOOL_TIMEOUT, 4 * LOOK};
	struct ins_error error = {""};
	char who[512];
	int rc;

	one->asked = true;
	if (reply->snapshot)
		rc = ctl_findings_of_snapshot(reply->who, &one->findings, &error);
	else
		rc = ctl_findings_of_socket(reply->socket.path, reply->socket.pid, &time,
					    &one->findings, &error);
	if (rc == 0)
		return;
	if (reply->snapshot)
		ins_escape(reply->who, who, sizeof who);
	else
		tool_socket_who(&reply->socket, who, sizeof who);
	say_unseen(fleet, one, who, &error);
}

/* -- asking -- */

static void ask_round(struct ctl_fleet *fleet)
{
	struct ctl_stats *stats = NULL;
	struct tool_round round;
	size_t i;

	if (tool_round_gather(&round) < 0 ||
	    (round.count && !(stats = calloc(round.count, sizeof *stats)))) {
		fleet->code = tool_cannot("out of memory");
		round.count = 0;
	}
	for (i = 0; i < round.count; i++) {
		ctl_stats_questions(&stats[i], round.all[i].question);
		round.all[i].questions = 2;
	}
	tool_round_ask(&round, TOOL_HELLO_TIMEOUT);
	for (i = 0; stats && i < round.count; i++)
		take_one(fleet, &round.all[i], &stats[i]);
	look_at_all(fleet, &round);
	free(stats);
	tool_round_free(&round);
}

void ctl_fleet_ask_all(struct ctl_fleet *fleet)
{
	fleet->source = "control";
	ask_round(fleet);
	if (!tool_sockets_left()[0])
		return;
	/* For text, a line is on stderr. */
	if (fleet->json)
		ins_problems_add(&fleet->problems, "left out: %s", tool_sockets_left());
	if (fleet->code == TOOL_WELL)
		fleet->code = TOOL_PARTIAL;
}

int ctl_fleet_ask_one(struct ctl_fleet *fleet, const char *who)
{
	struct ctl_reply reply;
	struct ctl_process_stats *one;
	char why[256];
	int code = ctl_reply_open(&reply, who), rc;

	if (code != TOOL_WELL)
		return code;
	fleet->source = reply.source;
	one = add(fleet, reply.process.pid);
	if (one && reply.socket.known && !reply.socket.pid) {
		one->pid = 0;
		snprintf(one->path, sizeof one->path, "%.107s", reply.socket.path);
	}
	rc = one ? ctl_stats_read(&reply.client, &one->stats, why, sizeof why) : 0;
	if (!one)
		code = TOOL_CANNOT;
	else if (rc < 0)
		code = ctl_reply_refused(&reply, rc, why);
	else if (!one->stats.counted)
		code = ctl_reply_refused(
			&reply, -EOPNOTSUPP,
			"this program is older than this tool, and has no metrics");
	else
		one->answered = true;
	if (code == TOOL_WELL && fleet->look)
		look_at_reply(fleet, one, &reply);
	ctl_reply_close(&reply);
	return code;
}

void ctl_fleet_free(struct ctl_fleet *fleet)
{
	size_t i;

	for (i = 0; i < fleet->count; i++)
		ctl_stats_free(&fleet->all[i].stats);
	free(fleet->all);
	ins_problems_free(&fleet->problems);
}
