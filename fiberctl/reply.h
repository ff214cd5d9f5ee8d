/* SPDX-License-Identifier: MIT */
/*
 * reply.h - asking a process, or its snapshot, for what is not about fibers
 *
 * Those come from a source (process.h). Here is a client that does not care which of the two answers.
 */
#ifndef FIBERCTL_REPLY_H
#define FIBERCTL_REPLY_H

#include "tool/process.h"
#include "inspect/source/snapshot.h"
#include "wire/client.h"

struct ctl_reply {
	struct fib_wire_client client;	 /* to ask with */
	struct fib_wire_process process; /* who it is; its name ends with a NUL */
	const char *source;		 /* "control", "snapshot": for the JSON */
	struct ins_snapshot *snapshot;	 /* NULL: it is a process, and may be asked to change */
	struct ins_summary summary; /* says where a snapshot is from, and when; the rest is zero */
	struct tool_socket socket;  /* of a process */
	const char *who;
};

/* Be connected with the answers that a snapshot has, which must stay open. */
void ctl_reply_recall(struct fib_wire_client *client, struct ins_snapshot *snapshot);

/* Find `who`, find out who it is, be ready to ask. TOOL_WELL, or the exit code after saying why not. A snapshot has the
 * answers to the requests that inspect/source/snapshot_write.c makes. */
int ctl_reply_open(struct ctl_reply *reply, const char *who);

void ctl_reply_close(struct ctl_reply *reply);

/* TOOL_WELL of a process; or the exit code after saying that nothing can be changed in a snapshot. */
int ctl_reply_may_change(const struct ctl_reply *reply);

/* Takes the frame that is the answer. 0, or a negative errno: -EPROTO when it makes no sense. */
typedef int ctl_reply_fn(void *context, const void *payload, size_t length);

/* Ask with length bytes at payload for one frame of type `answer`; END without it is no answer. TOOL_WELL, or the exit code after
 * saying why not. */
int ctl_reply_ask(struct ctl_reply *reply, enum fib_wire_type type, const void *payload,
		  size_t length, enum fib_wire_type answer, ctl_reply_fn *take, void *context);

/* Say that it does not answer, or refuses: rc, a negative errno, or in its own words (may be NULL). What tool_cannot()
 * returns. */
int ctl_reply_refused(const struct ctl_reply *reply, int rc, const char *why);

#endif
