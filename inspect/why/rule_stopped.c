/* SPDX-License-Identifier: MIT */
/*
 * rule_stopped.c - the process does not run: stopped, traced, frozen or throttled
 *
 * Then delays are no fault of the program, and other rules do not report them. A tracer stops a thread
 * for a moment at each system call. So the process must be stopped in both readings, and no fiber may
 * have run in between.
 */
#include "inspect/why/rules.h"

#include <errno.h>

/* The subject of a finding. */
enum how { FROZEN, TRACED, STOPPED, THROTTLED };

static const char *const what[][2] = {
	[FROZEN] = {"the process is frozen by its control group",
		    "cgroup.events says frozen: thaw it through cgroup.freeze"},
	[TRACED] = {"a debugger has stopped the process",
		    "its state is t (tracing stop): let it continue, or detach"},
	[STOPPED] = {"the process is stopped by a signal",
		     "its state is T (stopped): kill -CONT lets it run on"},
	[THROTTLED] = {"the process has used up its CPU quota, and is throttled",
		       "nr_throttled in cpu.stat of its control group grows; the quota is cpu.max"},
};

static bool is_throttled(const struct ins_look *look)
{
	return !look->single && look->condition.has_quota &&
	       look->condition.throttled > look->condition_before.throttled;
}

static int add(struct ins_findings *ret, enum how how)
{
	struct ins_finding *f =
		ins_findings_add(ret, &ins_rule_stopped, how == THROTTLED ? INS_SLOW : INS_LASTS);

	if (!f)
		return -ENOMEM;
	f->weight = UINT64_MAX; /* it explains everything else */
	f->subject = how;
	return 0;
}

static bool has_run(const struct ins_look *look)
{
	size_t i, n = ins_look_count(look);
	struct ins_fiber fiber;

	for (i = 0; i < n; i++) {
		ins_look_get(look, i, &fiber);
		if (!ins_look_stayed(look, &fiber))
			return true;
	}
	return false;
}

static int find(struct ins_look *look, struct ins_findings *ret)
{
	const struct ins_condition *c = &look->condition;
	const struct ins_condition *before = look->single ? c : &look->condition_before;

	look->halted = ((c->stopped && before->stopped) || (c->traced && before->traced) ||
			(c->frozen && before->frozen)) &&
		       !has_run(look);
	if (look->halted)
		return add(ret, c->frozen ? FROZEN : c->traced ? TRACED : STOPPED);
	look->halted = is_throttled(look);
	return look->halted ? add(ret, THROTTLED) : 0;
}

static void say(struct ins_look *look, struct ins_finding *f)
{
	struct ins_strbuf line = ins_finding_headline(f);

	(void)look;
	ins_strbuf_text(&line, what[f->subject][0]);
	line = ins_finding_line(f);
	ins_strbuf_text(&line, what[f->subject][1]);
}

const struct ins_rule ins_rule_stopped = {
	"stopped", "the process is stopped, traced, frozen or throttled", find, say, INS_NEEDS_TWO};
