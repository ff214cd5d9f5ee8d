/* SPDX-License-Identifier: MIT */
/* peer.h - ask the kernel which process listens at a control socket */
#ifndef TOOL_PEER_H
#define TOOL_PEER_H

#include <stdbool.h>
#include <sys/types.h>

#define TOOL_PEER_NUMBERS 8 /* pid namespaces can be nested; the ones further in are not kept */

struct tool_peer {
	pid_t pid;	/* in our pid namespace; 0: not visible from here */
	uid_t uid;	/* of the process when it called listen(2) */
	bool same_user; /* its user is still uid, or uid is root; true if pid is 0 */
	unsigned numbers;
	pid_t number[TOOL_PEER_NUMBERS]; /* its ids in its pid namespaces, ours first */
};

/*
 * Ask the kernel which process listens at path. Connects, sends nothing, never waits. Returns 0, or
 * a negative errno. -ECONNREFUSED: no process listens. -EAGAIN: the listener's queue is full.
 * -ESRCH: the process that called listen(2) has exited and another one holds its socket. -ENOTSOCK,
 * -ENOENT, -EACCES, ...
 */
int tool_peer_ask(const char *path, struct tool_peer *ret);

/* Whether the process has that id in one of its pid namespaces. */
bool tool_peer_has_number(const struct tool_peer *peer, pid_t number);

/*
 * Get the ids of a running process in its pid namespaces, ours first, and whether any of its user
 * ids is uid. Sets only numbers, number and same_user. False: /proc has no answer.
 */
bool tool_peer_look(pid_t pid, uid_t uid, struct tool_peer *ret);

#endif
