/* SPDX-License-Identifier: MIT */
/* cmd_watchdog.c - how long a fiber may hold its carrier before it is reported: read, or change and read back. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fiberctl/fiberctl.h"
#include "fiberctl/process.h"
#include "inspect/duration.h"
#include "inspect/render.h"

/* One request and its answer. CTL_WELL, or what ctl_cannot() returned. */
static int ask(struct fib_wire_client *client, const struct ctl_socket *socket, int64_t wanted,
	       struct fib_wire_watchdog_is *ret)
{
	const struct fib_wire_watchdog request = {wanted};
	struct fib_wire_header header;
	struct fib_wire_error error;
	const void *payload;
	bool got = false;
	int rc = fib_wire_request(client, FIB_WIRE_WATCHDOG, &request, sizeof request);

	while (rc == 0) {
		rc = fib_wire_receive(client, &header, &payload);
		if (rc < 0)
			break;
		if (header.type == FIB_WIRE_ERROR && header.length >= sizeof error) {
			memcpy(&error, payload, sizeof error);
			error.text[sizeof error.text - 1] = 0;
			return ctl_refused(socket, error.error, error.text);
		}
		if (header.type == FIB_WIRE_WATCHDOG_IS && header.length >= sizeof *ret) {
			memcpy(ret, payload, sizeof *ret);
			got = true;
		}
		if (header.type == FIB_WIRE_END && got)
			return CTL_WELL;
		if (header.type == FIB_WIRE_END || header.type == FIB_WIRE_ERROR)
			rc = -EPROTO;
	}
	return ctl_refused(socket, rc, NULL);
}

/* "off", or a length of time. */
static const char *say(int64_t ns, char buf[32])
{
	return ns ? ins_words_duration(ns, buf, 32) : "off";
}

static void put_json(const struct fib_wire_process *process, bool changed,
		     const struct fib_wire_watchdog_is *is)
{
	const struct ins_summary summary = {.total = process->fibers};
	const struct ins_problems problems = {0};
	struct ins_json json;
	json_t *watchdog;

	watchdog = json_pack("{s:b, s:I, s:I}", "on", is->threshold != 0, "thresholdNs",
			     (json_int_t)is->threshold, "events", (json_int_t)is->events);
	if (watchdog && changed)
		json_object_set_new(watchdog, "previousNs", json_integer((json_int_t)is->previous));
	ins_json_begin(&json, stdout, process->pid, process->name, "control", NULL);
	ins_json_key(&json, "watchdog", watchdog);
	ins_json_end(&json, &summary, &problems);
}

static int read_or_change(struct fib_wire_client *client, const struct ctl_socket *socket,
			  int64_t wanted, bool json)
{
	const bool changed = wanted != FIB_WIRE_WATCHDOG_READ;
	struct fib_wire_watchdog_is is = {0};
	struct fib_wire_process process;
	char now[32], before[32];
	int code, rc = ctl_hello(socket->path, CTL_TIMEOUT, &process);

	if (rc < 0)
		return ctl_refused(socket, rc, NULL);
	code = ask(client, socket, wanted, &is);
	if (code != CTL_WELL)
		return code;
	if (json) {
		put_json(&process, changed, &is);
		return ctl_written(CTL_WELL);
	}
	printf("watchdog: %s", say(is.threshold, now));
	if (changed)
		printf(", was %s", say(is.previous, before));
	printf(" (%" PRIu64 " long run%s so far)\n", is.events, is.events == 1 ? "" : "s");
	return ctl_written(CTL_WELL);
}

static int run(const struct ctl_arguments *arguments)
{
	int64_t wanted = FIB_WIRE_WATCHDOG_READ;
	struct fib_wire_client client;
	struct ctl_socket socket;
	int code, rc;

	if (arguments->words > 1) {
		const char *text = arguments->word[1];

		if (strcmp(text, "off") == 0)
			wanted = 0;
		else if (!ins_duration_parse(text, &wanted) || wanted <= 0)
			return ctl_wrong(&ctl_watchdog,
					 "%s: a length of time like 20ms or 1.5s, or off", text);
	}
	code = ctl_process_find(arguments->word[0], &socket);
	if (code != CTL_WELL)
		return code;
	rc = fib_wire_connect(&client, socket.path, CTL_TIMEOUT);
	if (rc < 0)
		return ctl_refused(&socket, rc, NULL);
	code = read_or_change(&client, &socket, wanted, arguments->json);
	fib_wire_disconnect(&client);
	return code;
}

const struct ctl_command ctl_watchdog = {
	.name = "watchdog",
	.usage = "PROCESS [TIME|off]",
	.summary = "read or change what counts as a long run",
	.help = "How long a fiber may hold its carrier before the program reports it: see\n"
		"'fiberctl help slow'. A change holds at once, also for what runs already, in\n"
		"all runtimes of the process. Programs started with FIBER_CONTROL=ro let nobody\n"
		"change it.\n",
	.least = 1,
	.most = 2,
	.run = run,
};
