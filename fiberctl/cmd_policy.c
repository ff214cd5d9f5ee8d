/* SPDX-License-Identifier: MIT */
/*
 * cmd_policy.c - what happens when a pinned fiber would wait: read, or change and read back
 *
 * After a change the policy is asked for once more over the same connection, so that what is printed
 * is what holds and not what was wished for.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stddef.h>
#include <string.h>

#include "fiberctl/fiberctl.h"
#include "fiberctl/reply.h"
#include "inspect/render.h"

/* One request and its answer. CTL_WELL, or what ctl_cannot() returned. */
static int ask(struct ctl_reply *reply, uint32_t wanted, struct fib_wire_policy_is *ret)
{
	const struct fib_wire_policy request = {wanted};
	struct fib_wire_header header;
	const void *payload;
	bool got = false;
	int code;

	if (reply->snapshot && wanted != FIB_WIRE_POLICY_READ)
		return ctl_reply_refused(reply, -EROFS,
					 "is a snapshot: nothing can be changed in it");
	code = ctl_reply_ask(reply, FIB_WIRE_POLICY, &request, sizeof request);
	while (code == CTL_WELL) {
		code = ctl_reply_next(reply, &header, &payload);
		if (code != CTL_WELL)
			break;
		if (header.type == FIB_WIRE_POLICY_IS &&
		    header.length >= offsetof(struct fib_wire_policy_is, dropped)) {
			memset(ret, 0, sizeof *ret);
			memcpy(ret, payload,
			       header.length < sizeof *ret ? header.length : sizeof *ret);
			got = true;
		}
		if (header.type == FIB_WIRE_END)
			return got ? CTL_WELL : ctl_reply_refused(reply, -EPROTO, NULL);
	}
	return code;
}

static void put_json(const struct ctl_reply *reply, bool changed,
		     const struct fib_wire_policy_is *is, const struct ins_problems *problems)
{
	struct ins_summary summary = reply->summary;
	struct ins_json json;
	json_t *policy;

	policy = json_pack("{s:s, s:I, s:I}", "pinnedBlocking", ctl_policy_name(is->policy),
			   "events", (json_int_t)is->events, "dropped", (json_int_t)is->dropped);
	if (policy && changed)
		json_object_set_new(policy, "previous", json_string(ctl_policy_name(is->previous)));
	summary.total = reply->process.fibers;
	ins_json_begin(&json, stdout, reply->process.pid, reply->process.name, reply->source, NULL);
	ins_json_key(&json, "policy", policy);
	ins_json_end(&json, &summary, problems);
}

static void put_text(const struct ctl_reply *reply, bool changed,
		     const struct fib_wire_policy_is *is, const struct ins_problems *problems)
{
	char text[512];
	size_t i;

	if (changed)
		printf("pinned blocking: %s, was %s", ctl_policy_name(is->policy),
		       ctl_policy_name(is->previous));
	else
		printf("pinned blocking: %s", ctl_policy_name(is->policy));
	printf(" (%" PRIu64 " event%s so far", is->events, is->events == 1 ? "" : "s");
	if (is->dropped)
		printf(", %" PRIu64 " dropped", is->dropped);
	printf(")\n");
	for (i = 0; i < ins_problems_lines(problems); i++)
		printf("incomplete: %s\n", ins_problems_text(problems, i, text, sizeof text));
	if (reply->summary.taken)
		puts(ins_words_taken(&reply->summary, text, sizeof text));
}

static int read_or_change(struct ctl_reply *reply, uint32_t wanted, bool json)
{
	bool changed = wanted != FIB_WIRE_POLICY_READ;
	struct fib_wire_policy_is is = {0}, after = {0};
	struct ins_problems problems = {0};
	int code = ask(reply, wanted, &is);

	if (code == CTL_WELL && changed) {
		code = ask(reply, FIB_WIRE_POLICY_READ, &after);
		is.policy = after.policy;
		is.events = after.events;
		is.dropped = after.dropped;
	}
	if (code != CTL_WELL)
		return code;
	if (changed && is.policy != wanted)
		ins_problems_add(&problems, "somebody else changed it meanwhile");
	if (json)
		put_json(reply, changed, &is, &problems);
	else
		put_text(reply, changed, &is, &problems);
	code = ctl_written(ins_problems_lines(&problems) ? CTL_PARTIAL : CTL_WELL);
	ins_problems_free(&problems);
	return code;
}

static bool parse(const char *text, uint32_t *ret)
{
	uint32_t i;

	for (i = 0; strcmp(ctl_policy_name(i), "unknown") != 0; i++)
		if (strcmp(ctl_policy_name(i), text) == 0) {
			*ret = i;
			return true;
		}
	return false;
}

static int run(const struct ctl_arguments *arguments)
{
	uint32_t wanted = FIB_WIRE_POLICY_READ;
	struct ctl_reply reply;
	int code;

	if (arguments->words > 1 && !parse(arguments->word[1], &wanted))
		return ctl_wrong(&ctl_policy, "%s: is no policy: warn, error or silent",
				 arguments->word[1]);
	code = ctl_reply_open(&reply, arguments->word[0]);
	if (code != CTL_WELL)
		return code;
	code = read_or_change(&reply, wanted, arguments->json);
	ctl_reply_close(&reply);
	return code;
}

const struct ctl_command ctl_policy = {
	.name = "policy",
	.usage = "PROCESS [warn|error|silent]",
	.summary = "read or change what pinned fibers do",
	.help = "When a pinned fiber calls something that has to wait, the program\n"
		"  warn    records it, prints a line now and then, and blocks the carrier\n"
		"  error   records it and lets the call return -EDEADLK\n"
		"  silent  counts it and blocks the carrier\n"
		"A change holds from the next wait on. Programs started with FIBER_CONTROL=ro let\n"
		"nobody change it.\n",
	.least = 1,
	.most = 2,
	.run = run,
};
