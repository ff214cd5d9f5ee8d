/* SPDX-License-Identifier: MIT */
/*
 * command.h - the commands of the control socket
 *
 * A command is a file cmd_<name>.c and a line in command.c. It answers in pieces, so that the clock
 * ticks and other peers are served while a million fibers are listed: step() looks at a bounded
 * number of fibers and returns whether the answer is complete.
 */
#ifndef FIB_SERVICE_COMMAND_H
#define FIB_SERVICE_COMMAND_H

#include "service/peer.h"

struct fib_command {
	enum fib_wire_type type;
	const char *name;
	size_t least; /* bytes of payload required; further bytes, from a newer tool, are ignored */
	/*
	 * Set up the cursor from the payload. False: the answer is an error, sent by
	 * fib_peer_error().
	 */
	bool (*begin)(struct fib_peer *peer, const void *payload, size_t length);
	/* Append a piece of the answer. True: it is complete. */
	bool (*step)(struct fib_peer *peer, int64_t now);
	bool granted; /* from this command on the peer is not charged: cpu_budget.h */
};

extern const struct fib_command fib_cmd_hello, fib_cmd_list, fib_cmd_show, fib_cmd_stack,
	fib_cmd_policy, fib_cmd_carriers, fib_cmd_counters, fib_cmd_act, fib_cmd_audit,
	fib_cmd_events, fib_cmd_watchdog, fib_cmd_record, fib_cmd_thread;

/* The command of a request type, or NULL. */
const struct fib_command *fib_command_find(uint16_t type);

#endif
