/* SPDX-License-Identifier: MIT */
/*
 * confirm.c - read a source until its deadlocks are certain
 *
 * The graph needs no stacks, so a reading of a hundred thousand fibers is short. Another reading is
 * done only if there is a finding to confirm; deadlock.h says how many are needed.
 */
#include "inspect/waits/confirm.h"

#include <time.h>

/*
 * For fleeting findings, with a pause in between: a thread that hands over a lock may have been
 * preempted.
 */
#define FLEETING_READINGS 3
#define FLEETING_NS	  50000000

static int read_once(struct ins_source *source, struct ins_confirmed *c, struct ins_error *error)
{
	const struct ins_request request = {.reads = true};
	int rc = ins_table_read(source, &request, error, &c->table);

	if (rc < 0)
		return rc;
	rc = ins_graph_new(c->table, &c->graph);
	return rc < 0 ? ins_error_set(error, rc, "out of memory") : 0;
}

/* Read again and keep the findings that are still there. only: there is no other reading. */
static int look_once(struct ins_source *source, pid_t pid, bool only, struct ins_confirmed *c,
		     struct ins_error *error)
{
	struct ins_confirmed earlier = *c;
	int rc;

	c->found = NULL;
	c->graph = NULL;
	c->table = NULL;
	rc = read_once(source, c, error);
	if (rc == 0) {
		rc = ins_deadlocks_find(c->graph, earlier.found, pid, &c->found);
		if (rc < 0)
			ins_error_set(error, rc, "out of memory");
	}
	if (rc == 0) {
		ins_stillness_look(c->graph, source, pid, &c->still);
		if (c->still.all_wait && !c->still.threads &&
		    (!only || ins_stillness_old(c->graph)))
			ins_deadlocks_add_still(c->found, earlier.found);
		c->readings++;
		c->sampled_ns += ins_table_summary(c->table)->sampled_ns;
	}
	ins_confirmed_free(&earlier);
	return rc;
}

int ins_confirm_deadlocks(struct ins_source *source, pid_t pid, bool still,
			  struct ins_confirmed *ret, struct ins_error *error)
{
	const struct timespec pause = {.tv_nsec = FLEETING_NS};
	unsigned wanted = 2;
	int rc;

	*ret = (struct ins_confirmed){0};
	rc = look_once(source, pid, still, ret, error);
	if (still)
		return rc;
	while (rc == 0 && ret->readings < wanted && ins_deadlocks_count(ret->found)) {
		if (ins_deadlocks_fleeting(ret->found)) {
			wanted = FLEETING_READINGS;
			nanosleep(&pause, NULL);
		}
		rc = look_once(source, pid, false, ret, error);
	}
	return rc;
}

void ins_confirmed_free(struct ins_confirmed *confirmed)
{
	ins_deadlocks_free(confirmed->found);
	ins_graph_free(confirmed->graph);
	ins_table_free(confirmed->table);
}
