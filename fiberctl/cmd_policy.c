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
#include "fiberctl/process.h"
#include "inspect/render.h"

/* One request and its answer. CTL_WELL, or what ctl_cannot() returned. */
static int ask(struct fib_wire_client *client, const struct ctl_socket *socket, uint32_t wanted,
	       struct fib_wire_policy_is *ret)
{
	const struct fib_wire_policy request = {wanted};
	struct fib_wire_header header;
	struct fib_wire_error error;
	const void *payload;
	bool got = false;
	int rc = fib_wire_request(client, FIB_WIRE_POLICY, &request, sizeof request);

	while (rc == 0) {
		rc = fib_wire_receive(client, &header, &payload);
		if (rc < 0)
			break;
		if (header.type == FIB_WIRE_ERROR && header.length >= sizeof error) {
			memcpy(&error, payload, sizeof error);
			error.text[sizeof error.text - 1] = 0;
			return ctl_refused(socket, error.error, error.text);
		}
		if (header.type == FIB_WIRE_POLICY_IS &&
		    header.length >= offsetof(struct fib_wire_policy_is, dropped)) {
			memset(ret, 0, sizeof *ret);
			memcpy(ret, payload,
			       header.length < sizeof *ret ? header.length : sizeof *ret);
			got = true;
		}
		if (header.type == FIB_WIRE_END && got)
			return CTL_WELL;
		if (header.type == FIB_WIRE_END || header.type == FIB_WIRE_ERROR)
			rc = -EPROTO;
	}
	return ctl_refused(socket, rc, NULL);
}

static void put_json(const struct fib_wire_process *process, bool changed,
		     const struct fib_wire_policy_is *is, const struct ins_problems *problems)
{
	const struct ins_summary summary = {.total = process->fibers};
	struct ins_json json;
	json_t *policy;

	policy = json_pack("{s:s, s:I, s:I}", "pinnedBlocking", ctl_policy_name(is->policy),
			   "events", (json_int_t)is->events, "dropped", (json_int_t)is->dropped);
	if (policy && changed)
		json_object_set_new(policy, "previous", json_string(ctl_policy_name(is->previous)));
	ins_json_begin(&json, stdout, process->pid, process->name, "control", NULL);
	ins_json_key(&json, "policy", policy);
	ins_json_end(&json, &summary, problems);
}

static void put_text(bool changed, const struct fib_wire_policy_is *is,
		     const struct ins_problems *problems)
{
	char text[256];
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
}

static int read_or_change(struct fib_wire_client *client, const struct ctl_socket *socket,
			  uint32_t wanted, bool json)
{
	bool changed = wanted != FIB_WIRE_POLICY_READ;
	struct fib_wire_policy_is is = {0}, after = {0};
	struct fib_wire_process process;
	struct ins_problems problems = {0};
	int code, rc;

	rc = ctl_hello(socket->path, CTL_TIMEOUT, &process);
	if (rc < 0)
		return ctl_refused(socket, rc, NULL);
	code = ask(client, socket, wanted, &is);
	if (code == CTL_WELL && changed) {
		code = ask(client, socket, FIB_WIRE_POLICY_READ, &after);
		is.policy = after.policy;
		is.events = after.events;
		is.dropped = after.dropped;
	}
	if (code != CTL_WELL)
		return code;
	if (changed && is.policy != wanted)
		ins_problems_add(&problems, "somebody else changed it meanwhile");
	if (json)
		put_json(&process, changed, &is, &problems);
	else
		put_text(changed, &is, &problems);
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
	struct fib_wire_client client;
	struct ctl_socket socket;
	int code, rc;

	if (arguments->words > 1 && !parse(arguments->word[1], &wanted))
		return ctl_wrong(&ctl_policy, "%s: is no policy: warn, error or silent",
				 arguments->word[1]);
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
