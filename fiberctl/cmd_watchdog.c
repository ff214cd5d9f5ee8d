/* SPDX-License-Identifier: MIT */
/* cmd_watchdog.c - read or change how long a fiber may hold its carrier before it is reported */
#include <errno.h>
#include <string.h>

#include "fiberctl/setting.h"
#include "inspect/text/duration.h"
#include "inspect/render/render.h"
#include "tool/report.h"

static int take(void *context, const void *payload, size_t length)
{
	if (length < sizeof(struct fib_wire_watchdog_is))
		return -EPROTO;
	memcpy(context, payload, sizeof(struct fib_wire_watchdog_is));
	return 0;
}

static int ask(struct ctl_reply *reply, int64_t wanted, struct ctl_setting_is *ret)
{
	const struct fib_wire_watchdog request = {wanted};
	struct fib_wire_watchdog_is is = {0};
	int code = ctl_reply_ask(reply, FIB_WIRE_WATCHDOG, &request, sizeof request,
				 FIB_WIRE_WATCHDOG_IS, take, &is);

	*ret = (struct ctl_setting_is){is.threshold, is.previous, is.events, 0};
	return code;
}

/* "off", or a length of time. */
static const char *say(int64_t ns, char buf[32])
{
	return ns ? ins_duration_text(ns, buf, 32) : "off";
}

static json_t *watchdog(const struct ctl_setting_is *is, bool changed)
{
	json_t *watchdog = json_pack("{s:b, s:I, s:I}", "on", is->now != 0, "thresholdNs",
				     (json_int_t)is->now, "events", (json_int_t)is->events);

	if (watchdog && changed)
		json_object_set_new(watchdog, "previousNs", json_integer((json_int_t)is->before));
	return watchdog;
}

static int run(const struct tool_arguments *arguments)
{
	static const struct ctl_setting setting = {
		.name = "watchdog",
		.event = "long run",
		.key = "watchdog",
		.leave = FIB_WIRE_WATCHDOG_READ,
		.ask = ask,
		.say = say,
		.json = watchdog,
	};
	const char *text = arguments->words > 1 ? arguments->word[1] : NULL;
	int64_t wanted = FIB_WIRE_WATCHDOG_READ;

	if (text && strcmp(text, "off") == 0)
		wanted = 0;
	else if (text && (!ins_duration_parse(text, &wanted) || wanted <= 0))
		return tool_wrong(&ctl_watchdog, "%s: a length of time like 20ms or 1.5s, or off",
				  text);
	if (wanted > 0 && ins_duration_bare(text))
		return tool_wrong(&ctl_watchdog, "%s: say the unit, as in %sms", text, text);
	return ctl_setting(&setting, arguments->word[0], wanted, arguments->json);
}

const struct tool_command ctl_watchdog = {
	.name = "watchdog",
	.usage = "PROCESS [TIME|off]",
	.summary = "read or change what counts as a long run",
	.help = "How long a fiber may hold its carrier before the program reports it: see\n"
		"'fiberctl help slow'. TIME has a unit, as in 50ms. A change takes effect at\n"
		"once, also for fibers that run already, in all runtimes of the process. Programs\n"
		"started with FIBER_CONTROL=ro refuse it.\n",
	.example = "watchdog httpd 50ms\n"
		   "watchdog: 50ms, was 20ms (0 long runs so far)\n",
	.least = 1,
	.most = 2,
	.run = run,
};
