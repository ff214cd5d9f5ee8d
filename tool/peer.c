/* SPDX-License-Identifier: MIT */
/*
 * peer.c - ask the kernel which process listens at a control socket
 *
 * The name of a socket and the answers on it come from the program and may be wrong. A program in a
 * container knows itself by another process id, and a program of another user may claim any id. The
 * kernel records the process and user that call listen(2) and reports them to the process that
 * connects (SO_PEERCRED).
 *
 * Two things may have changed since. First, the process may have exited while a child listens on
 * the inherited socket, and the id may have been reused. A pidfd of the listener (SO_PEERPIDFD,
 * Linux 6.5) detects this: if the process is still alive after /proc was read, then /proc described
 * it.
 *
 * Second, the process may have executed a set-user-ID program and run as another user now. /proc
 * shows its current user. Root may become any user, so root is trusted.
 *
 * Before Linux 6.5 only the user must match: a user gains nothing by passing off one of their
 * processes as another.
 */
#include "tool/peer.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "inspect/process/permission.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* of all architectures but parisc and sparc */
#endif

static int connect_now(const char *path, int *ret_fd)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	struct stat st;
	int fd, rc = 0;

	if (strlen(path) >= sizeof at.sun_path)
		return -ENAMETOOLONG;
	strcpy(at.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&at, sizeof at) < 0)
		rc = -errno;
	/* The kernel returns the same error for a file that is no socket. */
	if (rc == -ECONNREFUSED && stat(path, &st) == 0 && !S_ISSOCK(st.st_mode))
		rc = -ENOTSOCK;
	if (rc < 0)
		close(fd);
	else
		*ret_fd = fd;
	return rc;
}

/* A pidfd of the listener; -1: not supported by this kernel; -ESRCH: it has exited. */
static int pidfd_of(int fd)
{
	socklen_t size = sizeof(int);
	int pidfd;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size) == 0)
		return pidfd;
	/* Linux before 6.9 returns EINVAL for an exited process. */
	return errno == ESRCH || errno == EINVAL ? -ESRCH : -1;
}

static bool has_ended(int pidfd)
{
	return pidfd_send_signal(pidfd, 0, NULL, 0) < 0 && errno == ESRCH;
}

bool tool_peer_look(pid_t pid, uid_t uid, struct tool_peer *ret)
{
	unsigned id[4];
	char text[256], *at = text, *end;
	int i;

	ret->numbers = 0;
	ret->same_user = false;
	if (ins_permission_status(pid, "Uid", text, sizeof text) < 0 ||
	    sscanf(text, "%u %u %u %u", &id[0], &id[1], &id[2], &id[3]) != 4)
		return false;
	for (i = 0; i < 3; i++)
		ret->same_user |= id[i] == uid;
	if (ins_permission_status(pid, "NSpid", text, sizeof text) < 0)
		snprintf(text, sizeof text, "%d", (int)pid);
	while (ret->numbers < TOOL_PEER_NUMBERS) {
		long number = strtol(at, &end, 10);

		if (end == at)
			break;
		ret->number[ret->numbers++] = (pid_t)number;
		at = end;
	}
	return true;
}

static int look_at(struct tool_peer *peer)
{
	if (!tool_peer_look(peer->pid, peer->uid, peer)) {
		/* /proc hides it or is not mounted. */
		peer->number[0] = peer->pid;
		peer->numbers = 1;
		peer->same_user = peer->uid == geteuid();
		if (kill(peer->pid, 0) < 0 && errno == ESRCH)
			return -ESRCH;
	}
	peer->same_user |= peer->uid == 0;
	return 0;
}

static int identify(int fd, struct tool_peer *ret)
{
	struct ucred cred;
	socklen_t size = sizeof cred;
	int pidfd, rc = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) < 0)
		return -errno;
	pidfd = pidfd_of(fd);
	if (pidfd == -ESRCH)
		return -ESRCH;
	*ret = (struct tool_peer){.pid = cred.pid, .uid = cred.uid, .same_user = true};
	if (ret->pid > 0)
		rc = look_at(ret);
	/* Check last: if it is alive now, /proc described it and no later process with its id. */
	if (pidfd >= 0 && has_ended(pidfd))
		rc = -ESRCH;
	if (pidfd >= 0)
		close(pidfd);
	return rc;
}

int tool_peer_ask(const char *path, struct tool_peer *ret)
{
	int fd = -1, rc = connect_now(path, &fd);

	*ret = (struct tool_peer){.pid = 0};
	if (rc < 0)
		return rc;
	rc = identify(fd, ret);
	close(fd);
	return rc;
}

bool tool_peer_has_number(const struct tool_peer *peer, pid_t number)
{
	unsigned i;

	for (i = 0; i < peer->numbers; i++)
		if (peer->number[i] == number)
			return true;
	return false;
}
