/* SPDX-License-Identifier: MIT */
/* reply.c - ask a process, or its snapshot, for data that is not about fibers */
#include "fiberctl/reply.h"

#include <errno.h>
#include <string.h>

#include "fiberctl/fiberctl.h"
#include "tool/frames.h"
#include "tool/report.h"
#include "inspect/text/escape.h"

int ctl_reply_refused(const struct ctl_reply *reply, int rc, const char *why)
{
	char clean[512], who[512];

	if (!reply->snapshot)
		return tool_refused(&reply->socket, rc, why);
	if (!why || !why[0])
		why = rc == -EPROTO	  ? "the answer makes no sense"
		      : rc == -EOPNOTSUPP ? INS_SNAPSHOT_LACKS
					  : strerror(-rc);
	return tool_cannot("%s: %s", ins_escape(reply->who, who, sizeof who),
			   ins_escape(why, clean, sizeof clean));
}

static bool recall(void *keeper, enum fib_wire_type type, const unsigned char **ret_at,
		   const unsigned char **ret_end)
{
	struct ins_snapshot_frames frames;

	/* A snapshot has the HELLO in its answer for stacks. */
	if (type == FIB_WIRE_HELLO)
		type = FIB_WIRE_STACK;
	if (!ins_snapshot_answer(keeper, type, &frames))
		return false;
	*ret_at = frames.at;
	*ret_end = frames.end;
	return true;
}

void ctl_reply_recall(struct fib_wire_client *client, struct ins_snapshot *snapshot)
{
	fib_wire_recall(client, recall, snapshot);
}

/* Read the identity of the process in a snapshot. */
static int introduce(struct ctl_reply *r)
{
	if (tool_frames_hello(&r->client, &r->process) < 0)
		return ctl_reply_refused(r, -EPROTO,
					 "is damaged: it does not say of which process it is");
	return TOOL_WELL;
}

static int open_snapshot(struct ctl_reply *r)
{
	struct ins_error error;

	if (ins_snapshot_open(r->who, &error, &r->snapshot) < 0)
		return tool_cannot("%s", error.text);
	ctl_reply_recall(&r->client, r->snapshot);
	r->source = "snapshot";
	r->summary.taken = ins_snapshot_head(r->snapshot)->taken;
	r->summary.host = ins_snapshot_head(r->snapshot)->host;
	return introduce(r);
}

static int connect_to(struct ctl_reply *r)
{
	int rc = tool_hello(&r->socket, TOOL_TIMEOUT, &r->process);

	r->source = "control";
	if (rc == 0)
		rc = fib_wire_connect(&r->client, r->socket.path, TOOL_TIMEOUT);
	if (rc == 0)
		rc = tool_socket_same(&r->socket, &r->client);
	/* Show the pid of the listener, which was asked for. */
	if (rc == 0 && r->socket.pid)
		r->process.pid = r->socket.pid;
	return rc < 0 ? tool_refused(&r->socket, rc, NULL) : TOOL_WELL;
}

static void prepare(struct ctl_reply *r, const char *who)
{
	memset(r, 0, sizeof *r);
	r->client.fd = -1;
	r->who = who;
}

int ctl_reply_open(struct ctl_reply *reply, const char *who)
{
	bool snapshot;
	int code;

	prepare(reply, who);
	code = tool_process_look(who, &reply->socket, &snapshot);
	if (code == TOOL_WELL)
		code = snapshot ? open_snapshot(reply) : connect_to(reply);
	if (code != TOOL_WELL)
		ctl_reply_close(reply);
	return code;
}

void ctl_reply_close(struct ctl_reply *reply)
{
	fib_wire_disconnect(&reply->client);
	ins_snapshot_close(reply->snapshot);
	reply->snapshot = NULL;
}

int ctl_reply_may_change(const struct ctl_reply *reply)
{
	if (!reply->snapshot)
		return TOOL_WELL;
	return ctl_reply_refused(reply, -EROFS, "is a snapshot: nothing can be changed in it");
}

struct wanted {
	enum fib_wire_type answer;
	ctl_reply_fn *take;
	void *context;
	bool taken;
};

static int take_frame(void *context, enum fib_wire_type type, const void *payload, size_t length)
{
	struct wanted *w = context;

	if (type == FIB_WIRE_END)
		return w->taken ? 0 : -EPROTO;
	if (type != w->answer)
		return 0;
	if (w->taken)
		return -EPROTO;
	w->taken = true;
	return w->take(w->context, payload, length);
}

int ctl_reply_ask(struct ctl_reply *reply, enum fib_wire_type type, const void *payload,
		  size_t length, enum fib_wire_type answer, ctl_reply_fn *take, void *context)
{
	struct wanted wanted = {answer, take, context, false};
	const struct tool_request request = {
		.type = type,
		.payload = payload,
		.length = length,
		.take = take_frame,
		.context = &wanted,
	};
	char why[256];
	int rc = tool_frames(&reply->client, &request, why, sizeof why);

	return rc < 0 ? ctl_reply_refused(reply, rc, why) : TOOL_WELL;
}
