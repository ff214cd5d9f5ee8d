/* SPDX-License-Identifier: MIT */
/* cmd_policy.c - read or change what happens when a pinned fiber would wait */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "fiberctl/policy.h"
#include "fiberctl/setting.h"
#include "tool/frames.h"
#include "tool/report.h"

static int take(void *context, const void *payload, size_t length)
{
	if (length < offsetof(struct fib_wire_policy_is, dropped))
		return -EPROTO;
	tool_frames_copy(context, sizeof(struct fib_wire_policy_is), payload, length);
	return 0;
}

static int ask(struct ctl_reply *reply, int64_t wanted, struct ctl_setting_is *ret)
{
	const struct fib_wire_policy request = {(uint32_t)wanted};
	struct fib_wire_policy_is is = {0};
	int code = ctl_reply_ask(reply, FIB_WIRE_POLICY, &request, sizeof request,
				 FIB_WIRE_POLICY_IS, take, &is);

	*ret = (struct ctl_setting_is){is.policy, is.previous, is.events, is.dropped};
	return code;
}

static const char *say(int64_t value, char buf[32])
{
	(void)buf;
	return ctl_policy_name((unsigned)value);
}

static json_t *policy(const struct ctl_setting_is *is, bool changed)
{
	json_t *policy =
		json_pack("{s:s, s:I, s:I}", "pinnedBlocking", say(is->now, NULL), "events",
			  (json_int_t)is->events, "dropped", (json_int_t)is->dropped);

	if (policy && changed)
		json_object_set_new(policy, "previous", json_string(say(is->before, NULL)));
	return policy;
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

static int run(const struct tool_arguments *arguments)
{
	static const struct ctl_setting setting = {
		.name = "pinned blocking",
		.event = "event",
		.key = "policy",
		.leave = FIB_WIRE_POLICY_READ,
		.ask = ask,
		.say = say,
		.json = policy,
	};
	uint32_t wanted = FIB_WIRE_POLICY_READ;

	if (arguments->words > 1 && !parse(arguments->word[1], &wanted))
		return tool_wrong(&ctl_policy, "%s: not a policy: warn, error or silent",
				  arguments->word[1]);
	return ctl_setting(&setting, arguments->word[0], wanted, arguments->json);
}

const struct tool_command ctl_policy = {
	.name = "policy",
	.usage = "PROCESS [warn|error|silent]",
	.summary = "read or change what pinned fibers do",
	.help = "When a pinned fiber calls a function that has to wait, the program\n"
		"  warn    records it, prints a line now and then, and blocks the carrier\n"
		"  error   records it and lets the call return -EDEADLK\n"
		"  silent  counts it and blocks the carrier\n"
		"A change takes effect with the next wait. Programs started with FIBER_CONTROL=ro\n"
		"refuse it.\n",
	.example = "policy httpd\n"
		   "pinned blocking: warn (0 events so far)\n",
	.least = 1,
	.most = 2,
	.run = run,
};
