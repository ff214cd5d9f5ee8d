/* SPDX-License-Identifier: MIT */
/* listener.h - a process that listens at a control socket and does not match its claims */
#ifndef HARNESS_CLI_LISTENER_H
#define HARNESS_CLI_LISTENER_H

#include <stdbool.h>
#include <sys/types.h>

struct listener_how {
	const char *path; /* path of the socket; its folder belongs to the user */
	uid_t user;	  /* the user that it listens as; needs root */
	bool back;	  /* become root again afterwards */
	bool heir;	  /* exit and leave the socket to a child */
	pid_t claims;	  /* the process id in its answers; 0: its own */
};

/* Start a listener and wait until it listens. Returns its pid; the process exists until
 * listener_end() unless it leaves an heir. It answers every request only with its claimed identity,
 * named "sshd". */
pid_t listener_start(const struct listener_how *how);

/* End all listeners. */
void listener_end(void);

#endif
