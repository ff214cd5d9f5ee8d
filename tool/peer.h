/* SPDX-License-Identifier: MIT */
/* peer.h - which process listens at a control socket, as the kernel says. See peer.c. */
#ifndef TOOL_PEER_H
#define TOOL_PEER_H

#include <stdbool.h>
#include <sys/types.h>

#define TOOL_PEER_NUMBERS 8 /* pid namespaces can be nested; the ones further in are not kept */

struct tool_peer {
	pid_t pid; /* as we see it; 0: it is in a pid namespace that cannot be seen from here */
	uid_t uid; /* of the process when it began to listen */
	bool same_user; /* it still is that user, or that user is root; true when pid is 0 */
	unsigned numbers;
	pid_t number[TOOL_PEER_NUMBERS]; /* its ids in its pid namespaces, ours first */
};

/*
 * Ask the kernel which process listens at path. Connects, sends nothing, never waits.
 * 0, or a negative errno: -ECONNREFUSED: no process listens. -EAGAIN: one does, and its queue is full. -ESRCH:
 * the process that began to listen has ended, and another one holds its socket. -ENOTSOCK, -ENOENT, -EACCES, ...
 */
int tool_peer_ask(const char *path, struct tool_peer *ret);

/* Whether the process has that id in one of its pid namespaces. */
bool tool_peer_has_number(const struct tool_peer *peer, pid_t number);

/* The ids of a running process in its pid namespaces, ours first, and whether it runs as user uid in any way. Only
 * numbers, number and same_user of ret are set. False: /proc does not tell. */
bool tool_peer_look(pid_t pid, uid_t uid, struct tool_peer *ret);

#endif
