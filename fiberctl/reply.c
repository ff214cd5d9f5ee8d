/* SPDX-License-Identifier: MIT */
/* reply.c - asking a process, or its snapshot, for what is not about fibers. */
#include "fiberctl/reply.h"

#include <errno.h>
#include <string.h>

#include "fiberctl/fiberctl.h"
#include "inspect/plain.h"

int ctl_reply_refused(const struct ctl_reply *reply, int rc, const char *why)
{
	char clean[512], who[512];

	if (!reply->snapshot)
		return ctl_refused(&reply->socket, rc, why);
	if (!why || !why[0])
		why = rc == -EPROTO	  ? "the answer makes no sense"
		      : rc == -EOPNOTSUPP ? "this was not asked for when it was taken"
					  : strerror(-rc);
	return ctl_cannot("%s: %s", ins_plain(reply->who, who, sizeof who),
			  ins_plain(why, clean, sizeof clean));
}

static bool recall(void *keeper, enum fib_wire_type type, const unsigned char **ret_at,
		   const unsigned char **ret_end)
{
	struct ins_snapshot_frames frames;

	/* Who it is was said with its fibers. */
	if (type == FIB_WIRE_HELLO)
		type = FIB_WIRE_STACK;
	if (!ins_snapshot_answer(keeper, type, &frames))
		return false;
	*ret_at = frames.at;
	*ret_end = frames.end;
	return true;
}

/* Who it was. */
static int introduce(struct ctl_reply *r)
{
	struct fib_wire_header header = {0};
	const void *payload;
	int rc = fib_wire_request(&r->client, FIB_WIRE_HELLO, NULL, 0);

	if (rc == 0)
		rc = fib_wire_receive(&r->client, &header, &payload);
	if (rc < 0 || header.type != FIB_WIRE_PROCESS || header.length < sizeof r->process)
		return ctl_reply_refused(r, -EPROTO,
					 "is damaged: it does not say of which process it is");
	memcpy(&r->process, payload, sizeof r->process);
	r->process.name[sizeof r->process.name - 1] = 0;
	return CTL_WELL;
}

static int open_snapshot(struct ctl_reply *r)
{
	struct ins_error error;

	if (ins_snapshot_open(r->who, &error, &r->snapshot) < 0)
		return ctl_cannot("%s", error.text);
	fib_wire_recall(&r->client, recall, r->snapshot);
	r->source = "snapshot";
	r->summary.taken = ins_snapshot_head(r->snapshot)->taken;
	r->summary.host = ins_snapshot_head(r->snapshot)->host;
	return introduce(r);
}

static int connect_to(struct ctl_reply *r)
{
	int rc = ctl_hello(r->socket.path, CTL_TIMEOUT, &r->process);

	r->source = "control";
	if (rc == 0)
		rc = fib_wire_connect(&r->client, r->socket.path, CTL_TIMEOUT);
	return rc < 0 ? ctl_refused(&r->socket, rc, NULL) : CTL_WELL;
}

int ctl_reply_open(struct ctl_reply *reply, const char *who)
{
	bool snapshot;
	int code;

	memset(reply, 0, sizeof *reply);
	reply->client.fd = -1;
	reply->who = who;
	code = ctl_process_look(who, &reply->socket, &snapshot);
	if (code == CTL_WELL)
		code = snapshot ? open_snapshot(reply) : connect_to(reply);
	if (code != CTL_WELL)
		ctl_reply_close(reply);
	return code;
}

void ctl_reply_close(struct ctl_reply *reply)
{
	fib_wire_disconnect(&reply->client);
	ins_snapshot_close(reply->snapshot);
	reply->snapshot = NULL;
}

int ctl_reply_ask(struct ctl_reply *reply, enum fib_wire_type type, const void *payload,
		  size_t length)
{
	int rc = fib_wire_request(&reply->client, type, payload, length);

	return rc < 0 ? ctl_reply_refused(reply, rc, NULL) : CTL_WELL;
}

int ctl_reply_next(struct ctl_reply *reply, struct fib_wire_header *ret_header,
		   const void **ret_payload)
{
	struct fib_wire_error error;
	int rc = fib_wire_receive(&reply->client, ret_header, ret_payload);

	if (rc < 0)
		return ctl_reply_refused(reply, rc, NULL);
	if (ret_header->type != FIB_WIRE_ERROR)
		return CTL_WELL;
	if (ret_header->length < sizeof error)
		return ctl_reply_refused(reply, -EPROTO, NULL);
	memcpy(&error, *ret_payload, sizeof error);
	error.text[sizeof error.text - 1] = 0;
	return ctl_reply_refused(reply, error.error, error.text);
}
