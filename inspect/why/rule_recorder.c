/* SPDX-License-Identifier: MIT */
/*
 * rule_recorder.c - the flight recorder has lost events, so the recording in progress has holes
 *
 * The program counts the events that were overwritten before the recording's reader came. The rings of
 * pinned waits and long runs are not counted: they are meant to keep only the last ones.
 */
#include "inspect/why/rules.h"

#include <errno.h>

static int find(struct ins_look *look, struct ins_findings *ret)
{
	struct ins_finding *f;

	if (!look->source->layout.recording_lost)
		return 0;
	f = ins_findings_add(ret, &ins_rule_recorder, INS_SLOW);
	if (!f)
		return -ENOMEM;
	return 0;
}

static void say(struct ins_look *look, struct ins_finding *f)
{
	struct ins_strbuf line = ins_finding_headline(f);

	ins_strbuf_text(&line, "the recording in progress has lost ");
	ins_look_say_count(&line, look->source->layout.recording_lost, "event", "events");
	line = ins_finding_line(f);
	ins_strbuf_text(&line, "they were overwritten before they were read: fibertrace record "
			       "--ring makes room for more");
}

const struct ins_rule ins_rule_recorder = {
	"recorder", "a recording in progress that has lost events", find, say, INS_NEEDS_ONE};
