/* SPDX-License-Identifier: MIT */
/*
 * confirm.c - read a source until its deadlocks are certain
 *
 * The graph needs no stacks, so a reading of a hundred thousand fibers is short. Another reading is
 * done only if there is a finding to confirm; deadlock.h says how many are needed.
 */
#include "inspect/waits/confirm.h"

#include <time.h>

#include "inspect/model/running.h"
#include "inspect/text/duration.h"

/* For fleeting findings, with a pause in between: a thread that hands over a lock may have been preempted. */
#define FLEETING_READINGS 3

static void look(struct ins_source *source, pid_t pid, bool only,
		 const struct ins_confirmed *before, struct ins_confirmed *c)
{
	ins_stillness_look(c->graph, source, pid, &c->still);
	if (c->still.all_wait && !c->still.threads && (!only || ins_stillness_old(c->graph)))
		ins_deadlocks_add_still(c->found, before->found);
	c->readings = before->readings + 1;
	c->sampled_ns = before->sampled_ns + ins_table_summary(c->table)->sampled_ns;
}

/* Whether the thread of a pinned fiber that waits has been woken, or does not wait any more. */
static bool is_awake(struct ins_source *source, const struct ins_fiber *fiber)
{
	struct ins_running running;

	if (ins_running_read(source, fiber, &running) < 0)
		return false;
	ins_running_free(&running);
	return running.doing == INS_DOING_COMPUTES;
}

/*
 * Drop pinned fibers that wait for themselves but are awake: they have been handed the lock. They may
 * wait long for a CPU, so more readings do not tell.
 */
static void drop_awake(struct ins_source *source, struct ins_confirmed *c)
{
	struct ins_fiber fiber;
	size_t i, at;

	for (i = ins_deadlocks_count(c->found); i-- > 0;) {
		if (ins_deadlocks_at(c->found, i)->kind != INS_DEADLOCK_SELF)
			continue;
		at = *ins_deadlocks_at(c->found, i)->fibers;
		ins_table_get(c->table, at, &fiber);
		if (ins_graph_at(c->graph, at)->runs && is_awake(source, &fiber))
			ins_deadlocks_drop(c->found, i);
	}
}

int ins_confirm_read(struct ins_source *source, const struct ins_request *request, pid_t pid,
		     bool only, const struct ins_confirmed *before, struct ins_confirmed *ret,
		     struct ins_error *error)
{
	int rc;

	*ret = (struct ins_confirmed){0};
	rc = ins_table_read(source, request, error, &ret->table);
	if (rc < 0)
		return rc;
	ret->at = ins_duration_now();
	rc = ins_graph_new(ret->table, &ret->graph);
	if (rc == 0)
		rc = ins_deadlocks_find(ret->graph, before->found, pid, &ret->found);
	if (rc < 0)
		return ins_error_set(error, rc, "out of memory");
	if (!only)
		drop_awake(source, ret);
	look(source, pid, only, before, ret);
	return 0;
}

/* Read again and keep the findings that are still there. only: there is no other reading. */
static int read_again(struct ins_source *source, pid_t pid, bool only, struct ins_confirmed *c,
		      struct ins_error *error)
{
	const struct ins_request request = {.reads = true, .threads = true};
	struct ins_confirmed before = *c;
	int rc = ins_confirm_read(source, &request, pid, only, &before, c, error);

	ins_confirmed_free(&before);
	return rc;
}

int ins_confirm_deadlocks(struct ins_source *source, pid_t pid, bool still,
			  struct ins_confirmed *ret, struct ins_error *error)
{
	const struct timespec pause = {.tv_nsec = INS_FLEETING_NS};
	unsigned wanted = 2;
	int rc;

	*ret = (struct ins_confirmed){0};
	rc = read_again(source, pid, still, ret, error);
	if (still) {
		if (rc == 0 && !ins_table_summary(ret->table)->threads)
			ins_deadlocks_doubt(ret->found);
		return rc;
	}
	while (rc == 0 && ret->readings < wanted && ins_deadlocks_count(ret->found)) {
		if (ins_deadlocks_fleeting(ret->found)) {
			wanted = FLEETING_READINGS;
			nanosleep(&pause, NULL);
		}
		rc = read_again(source, pid, false, ret, error);
	}
	return rc;
}

void ins_confirmed_free(struct ins_confirmed *confirmed)
{
	ins_deadlocks_free(confirmed->found);
	ins_graph_free(confirmed->graph);
	ins_table_free(confirmed->table);
}
