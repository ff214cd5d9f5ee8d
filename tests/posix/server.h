/* SPDX-License-Identifier: MIT */
/* server.h - start a server of Debian in the test's folder */
#ifndef POSIX_SERVER_H
#define POSIX_SERVER_H

#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/paths.h"
#include "tests/harness/process.h"

/* A port of 127.0.0.1 that was free a moment ago. */
static inline int server_port(void)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof addr;
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (bind(fd, (struct sockaddr *)&addr, size) < 0 ||
	    getsockname(fd, (struct sockaddr *)&addr, &size) < 0)
		abort();
	close(fd);
	return ntohs(addr.sin_port);
}

/* Whether something listens on the port at arg, an int. */
static inline bool server_listens(void *arg)
{
	const struct sockaddr_in addr = {.sin_family = AF_INET,
					 .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
					 .sin_port = htons((uint16_t) * (int *)arg)};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const bool listens = connect(fd, (const struct sockaddr *)&addr, sizeof addr) == 0;

	close(fd);
	return listens;
}

/* Stop the server, all its threads: kill(2) alone returns before they have stopped. SIGCONT lets it
 * go on. */
static inline bool server_stop(const struct harness_process *server)
{
	int status;

	return kill(server->pid, SIGSTOP) == 0 &&
	       waitpid(server->pid, &status, WUNTRACED) == server->pid && WIFSTOPPED(status);
}

#endif
