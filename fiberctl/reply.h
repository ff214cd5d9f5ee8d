/* SPDX-License-Identifier: MIT */
/*
 * reply.h - ask a process, or its snapshot, for data that is not about fibers
 *
 * Fibers come from a source (process.h). This client works the same for a process and for a
 * snapshot.
 */
#ifndef FIBERCTL_REPLY_H
#define FIBERCTL_REPLY_H

#include "tool/process.h"
#include "inspect/source/snapshot.h"
#include "wire/client.h"

struct ctl_reply {
	struct fib_wire_client client;	 /* the connection */
	struct fib_wire_process process; /* the process; its name ends with a NUL */
	const char *source;		 /* "control", "snapshot": for the JSON */
	struct ins_snapshot *snapshot;	 /* NULL: a process, which can be changed */
	struct ins_summary summary;	 /* host and time of a snapshot; the rest is zero */
	struct tool_socket socket;	 /* of a process */
	const char *who;
};

/* Make a client that answers from a snapshot, which must stay open. */
void ctl_reply_recall(struct fib_wire_client *client, struct ins_snapshot *snapshot);

/*
 * Find `who`, read its identity and prepare the client. Returns TOOL_WELL, or the exit code after a
 * message. A snapshot has answers to the requests of inspect/source/snapshot_write.c.
 */
int ctl_reply_open(struct ctl_reply *reply, const char *who);

void ctl_reply_close(struct ctl_reply *reply);

/* TOOL_WELL for a process; else the exit code after a message that a snapshot cannot be changed. */
int ctl_reply_may_change(const struct ctl_reply *reply);

/* Takes the frame of the answer. 0, or a negative errno; -EPROTO: the frame is invalid. */
typedef int ctl_reply_fn(void *context, const void *payload, size_t length);

/*
 * Send a request with length bytes of payload and wait for one frame of type `answer`; END before
 * it is an error. TOOL_WELL, or the exit code after a message.
 */
int ctl_reply_ask(struct ctl_reply *reply, enum fib_wire_type type, const void *payload,
		  size_t length, enum fib_wire_type answer, ctl_reply_fn *take, void *context);

/*
 * Print that the process does not answer or refuses. rc: a negative errno; why: its own words, may
 * be NULL. Returns tool_cannot().
 */
int ctl_reply_refused(const struct ctl_reply *reply, int rc, const char *why);

#endif
