/* SPDX-License-Identifier: MIT */
/* listener.h - a process of a test's that listens at a control socket, and is not what the socket says. */
#ifndef HARNESS_CLI_LISTENER_H
#define HARNESS_CLI_LISTENER_H

#include <stdbool.h>
#include <sys/types.h>

struct listener_how {
	const char *path; /* of the socket; its folder belongs to the user */
	uid_t user;	  /* that it listens as; needs root */
	bool back;	  /* it is root again afterwards */
	bool heir;	  /* it ends, and a child of it has the socket */
	pid_t claims;	  /* the process id in its answers; 0: its own */
};

/* Start it, and wait until it listens. Its pid: of a process that is there until listener_end() unless it is to leave an
 * heir. It answers every request with who it claims to be, as "sshd", and no more. */
pid_t listener_start(const struct listener_how *how);

/* End all of them. */
void listener_end(void);

#endif
