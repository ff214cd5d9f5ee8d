/* SPDX-License-Identifier: MIT */
/* socket.h - one control socket, and the check that its listener is the process that was found */
#ifndef TOOL_SOCKET_H
#define TOOL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "wire/client.h"
#include "wire/wire.h"

#define TOOL_PATH 4096

struct tool_socket {
	pid_t pid;   /* of the listener, from the kernel; 0: not visible in our pid namespace */
	pid_t named; /* from the file's name: the process may use it as its id; 0: unknown */
	uid_t uid;   /* of the process */
	uid_t owner; /* of the folder */
	bool known;  /* pid and uid are from the kernel */
	char path[TOOL_PATH];
};

/* "process 12", or "process 1 of another pid namespace (uid 0)". Returns buf. */
const char *tool_socket_who(const struct tool_socket *socket, char *buf, size_t size);

/* The id in a socket's file name, "12.sock"; 0: none. */
pid_t tool_socket_number(const char *name);

/*
 * The listener, for a line that says why it is not shown, followed by `follows`: "process 12 \"x\"
 * (uid 3) listens there, and not process 15". Returns buf.
 */
const char *tool_socket_instead(const struct tool_socket *socket, const char *follows, char *buf,
				size_t size);

/* Print on stderr that the socket is left out, and why. */
void tool_socket_pass_over(const struct tool_socket *socket, const char *why);

/*
 * Compare the pid in an answer with the listener's, and replace it by the kernel's. False: a
 * process of another user claims to be another process; a line on stderr was printed, and it must
 * be left out.
 */
bool tool_socket_says(const struct tool_socket *socket, struct fib_wire_process *process);

/*
 * Ask the process for its identity. Returns 0, or a negative errno: -ECONNREFUSED: no process
 * listens, -ETIMEDOUT: no answer, -ESTALE: another process listens there now.
 */
int tool_hello(const struct tool_socket *socket, int64_t timeout_ns, struct fib_wire_process *ret);

/*
 * Whether the other end of a connection is the process that was found: 0, or -ESTALE. This prevents
 * asking another process after the path was changed.
 */
int tool_socket_same(const struct tool_socket *socket, const struct fib_wire_client *client);

/* When the process was started, in clock ticks (sysconf(3)) since the system booted; 0: unknown. */
uint64_t tool_process_started(pid_t pid);

enum tool_made {
	TOOL_MADE_BY_IT,   /* by this process, before an exec or before it closed its descriptors */
	TOOL_MADE_EARLIER, /* by another process that had this id, here or elsewhere */
	TOOL_MADE_UNKNOWN, /* unknown: an older libfiber leaves no mark */
};

/* Whether the process that now has the id made a socket without a listener. */
enum tool_made tool_sockets_made(pid_t pid, const struct tool_socket *socket);

/* Remove a socket if its folder is this user's and no process listens. */
bool tool_sockets_tidy(const struct tool_socket *socket);

#endif
