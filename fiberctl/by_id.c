/* SPDX-License-Identifier: MIT */
/*
 * by_id.c - act on one fiber of a running program
 *
 * The program finds the fiber by its number and answers what it did and what the fiber was doing. A
 * failed request is not repeated, because a second one may have another effect.
 */
#include "fiberctl/by_id.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "fiberctl/entry_names.h"
#include "fiberctl/reply.h"
#include "inspect/render/render.h"
#include "tool/report.h"

static int take(void *context, const void *payload, size_t length)
{
	struct fib_wire_acted *acted = context;

	/* What every process sends. */
	if (length < offsetof(struct fib_wire_acted, entry))
		return -EPROTO;
	memset(acted, 0, sizeof *acted);
	memcpy(acted, payload, length < sizeof *acted ? length : sizeof *acted);
	acted->name[sizeof acted->name - 1] = 0;
	return 0;
}

static void put_text(const char *who, const struct fib_wire_acted *acted)
{
	const bool wake = acted->what == FIB_WIRE_ACT_WAKE;
	struct ctl_entry_names names = {.who = who};
	char name[sizeof acted->name * 4];

	printf("fiber %" PRIu64 " \"%s\": ", acted->id,
	       ctl_entry_name(&names, acted->name, acted->entry, name, sizeof name));
	if (wake)
		puts("woken: its fiber_park returns");
	else if (acted->ended_wait)
		printf("cancelled: its wait (%s) ends with -ECANCELED\n",
		       ins_words_wait_kind(NULL, acted->wait_kind));
	else if (acted->wait_kind != FIB_WAIT_NONE && acted->wait_kind != FIB_WAIT_YIELD)
		printf("cancelled: told when its wait (%s) is over, which nothing cuts short\n",
		       ins_words_wait_kind(NULL, acted->wait_kind));
	else
		printf("cancelled: it is %s and told by its next wait\n",
		       ins_words_state(NULL, acted->state));
	ctl_entry_names_close(&names);
}

static void put_json(const char *key, const struct fib_wire_process *process,
		     const struct fib_wire_acted *acted)
{
	const struct ins_summary summary = {.total = process->fibers, .shown = 1};
	const struct ins_problems problems = {0};
	struct ins_json json;
	json_t *done;

	done = json_pack("{s:I, s:o, s:s, s:o, s:b}", "fiberId", (json_int_t)acted->id, "name",
			 ins_json_text(acted->name), "state", ins_words_state(NULL, acted->state),
			 "waitKind",
			 acted->wait_kind == FIB_WAIT_NONE
				 ? json_null()
				 : json_string(ins_words_wait_kind(NULL, acted->wait_kind)),
			 "endedWait", acted->ended_wait != 0);
	ins_json_begin(&json, stdout, process->pid, process->name, "control", NULL);
	ins_json_key(&json, key, done);
	ins_json_end(&json, &summary, &problems);
}

int ctl_act_by_id(const struct tool_command *command, enum fib_wire_act_what what,
		  const struct tool_arguments *arguments)
{
	struct fib_wire_act request = {.what = what};
	struct fib_wire_acted acted = {0};
	struct ctl_reply reply;
	int code;

	if (!tool_parse_id(arguments->word[1], &request.id))
		return tool_wrong(command, "%s: is not a fiber id: see 'fiberctl list %s'",
				  arguments->word[1], arguments->word[0]);
	code = ctl_reply_open(&reply, arguments->word[0]);
	if (code != TOOL_WELL)
		return code;
	code = ctl_reply_may_change(&reply);
	if (code == TOOL_WELL)
		code = ctl_reply_ask(&reply, FIB_WIRE_ACT, &request, sizeof request, FIB_WIRE_ACTED,
				     take, &acted);
	acted.what = what;
	if (code == TOOL_WELL && arguments->json)
		put_json(command->name, &reply.process, &acted);
	else if (code == TOOL_WELL)
		put_text(arguments->word[0], &acted);
	ctl_reply_close(&reply);
	return code == TOOL_WELL ? tool_written(TOOL_WELL) : code;
}
