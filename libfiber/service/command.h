/* SPDX-License-Identifier: MIT */
/*
 * command.h - what can be asked over the control socket
 *
 * A command is a file cmd_<name>.c and a line in command.c. It answers in pieces, so that the clock
 * ticks and other peers are served while a million fibers are listed: step() looks at a bounded number of fibers,
 * and says whether the answer is complete.
 */
#ifndef FIB_SERVICE_COMMAND_H
#define FIB_SERVICE_COMMAND_H

#include "service/peer.h"

struct fib_command {
	enum fib_wire_type type;
	const char *name;
	size_t least; /* bytes of payload it needs; more are from a newer tool and mean nothing here */
	/* Set the cursor up from the payload. False: fib_peer_error() was called and is the answer. */
	bool (*begin)(struct fib_peer *peer, const void *payload, size_t length);
	/* Append a piece of the answer. True when it is complete. */
	bool (*step)(struct fib_peer *peer, int64_t now);
	bool granted; /* whoever asks is granted what this and later answers cost: cpu_budget.h */
};

extern const struct fib_command fib_cmd_hello, fib_cmd_list, fib_cmd_show, fib_cmd_stack,
	fib_cmd_policy, fib_cmd_carriers, fib_cmd_counters, fib_cmd_act, fib_cmd_audit,
	fib_cmd_events, fib_cmd_watchdog, fib_cmd_record, fib_cmd_thread;

/* The command of a request type, NULL when there is none. */
const struct fib_command *fib_command_find(uint16_t type);

#endif
