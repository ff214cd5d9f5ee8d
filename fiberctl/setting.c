/* SPDX-License-Identifier: MIT */
/*
 * setting.c - read or change a setting of a program
 *
 * After a change the setting is read again over the same connection, so that the printed value is
 * the one in effect.
 */
#include "fiberctl/setting.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "inspect/render/render.h"
#include "tool/report.h"

static void put_json(const struct ctl_setting *s, const struct ctl_reply *reply, bool changed,
		     const struct ctl_setting_is *is, const struct ins_problems *problems)
{
	struct ins_summary summary = reply->summary;
	struct ins_json json;

	summary.total = reply->process.fibers;
	ins_json_begin(&json, stdout, reply->process.pid, reply->process.name, reply->source, NULL);
	ins_json_key(&json, s->key, s->json(is, changed));
	ins_json_end(&json, &summary, problems);
}

static void put_text(const struct ctl_setting *s, const struct ctl_reply *reply, bool changed,
		     const struct ctl_setting_is *is, const struct ins_problems *problems)
{
	char text[512], value[32];
	size_t i;

	printf("%s: %s", s->name, s->say(is->now, value));
	if (changed)
		printf(", was %s", s->say(is->before, value));
	printf(" (%" PRIu64 " %s%s so far", is->events, s->event, is->events == 1 ? "" : "s");
	if (is->dropped)
		printf(", %" PRIu64 " dropped", is->dropped);
	printf(")\n");
	for (i = 0; i < ins_problems_lines(problems); i++)
		printf("incomplete: %s\n", ins_problems_text(problems, i, text, sizeof text));
	if (reply->summary.taken)
		puts(ins_words_taken(&reply->summary, text, sizeof text));
}

static int read_or_change(const struct ctl_setting *s, struct ctl_reply *reply, int64_t wanted,
			  bool json)
{
	const bool changed = wanted != s->leave;
	struct ctl_setting_is is = {0}, asked = {0};
	struct ins_problems problems = {0};
	int code;

	if (changed) {
		code = ctl_reply_may_change(reply);
		if (code == TOOL_WELL)
			code = s->ask(reply, wanted, &asked);
		if (code != TOOL_WELL)
			return code;
	}
	code = s->ask(reply, s->leave, &is);
	if (code != TOOL_WELL)
		return code;
	if (changed)
		is.before = asked.before;
	if (changed && is.now != wanted)
		ins_problems_add(&problems, "another request changed it meanwhile");
	if (json)
		put_json(s, reply, changed, &is, &problems);
	else
		put_text(s, reply, changed, &is, &problems);
	code = tool_written(ins_problems_lines(&problems) ? TOOL_PARTIAL : TOOL_WELL);
	ins_problems_free(&problems);
	return code;
}

int ctl_setting(const struct ctl_setting *setting, const char *who, int64_t wanted, bool json)
{
	struct ctl_reply reply;
	int code = ctl_reply_open(&reply, who);

	if (code != TOOL_WELL)
		return code;
	code = read_or_change(setting, &reply, wanted, json);
	ctl_reply_close(&reply);
	return code;
}
