/* SPDX-License-Identifier: MIT */
/* socket.c - one control socket: its listener and its identity */
#include "tool/socket.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/frames.h"
#include "tool/peer.h"
#include "tool/report.h"
#include "tool/tool.h"
#include "inspect/text/escape.h"
#include "inspect/process/permission.h"
#include "inspect/text/read_file.h"

#define LINES 8 /* about answers that name another process */

pid_t tool_socket_number(const char *name)
{
	char *end;
	long pid = strtol(name, &end, 10);

	return name[0] < '1' || name[0] > '9' || pid > INT32_MAX || strcmp(end, ".sock") != 0
		       ? 0
		       : (pid_t)pid;
}

const char *tool_socket_instead(const struct tool_socket *socket, const char *follows, char *buf,
				size_t size)
{
	char name[64] = "?", plain[256];

	if (socket->pid)
		ins_permission_status(socket->pid, "Name", name, sizeof name);
	if (socket->pid)
		snprintf(buf, size, "process %d \"%s\" (uid %u) listens there%s", (int)socket->pid,
			 ins_escape(name, plain, sizeof plain), (unsigned)socket->uid, follows);
	else
		snprintf(buf, size, "a process of another pid namespace (uid %u) listens there%s",
			 (unsigned)socket->uid, follows);
	return buf;
}

void tool_socket_pass_over(const struct tool_socket *socket, const char *why)
{
	char plain[TOOL_PATH];

	tool_cannot("%s: left out: %s", ins_escape(socket->path, plain, sizeof plain), why);
}

const char *tool_socket_who(const struct tool_socket *socket, char *buf, size_t size)
{
	if (socket->pid)
		snprintf(buf, size, "process %d", (int)socket->pid);
	else
		snprintf(buf, size, "process %d of another pid namespace (uid %u)",
			 (int)socket->named, (unsigned)socket->uid);
	return buf;
}

bool tool_socket_says(const struct tool_socket *socket, struct fib_wire_process *process)
{
	const pid_t claimed = process->pid;
	static unsigned lines;
	struct tool_peer peer;
	char follows[64], why[512];

	if (!socket->pid)
		return true;
	process->pid = socket->pid;
	if (claimed == socket->pid || socket->uid == geteuid() ||
	    !tool_peer_look(socket->pid, socket->uid, &peer) ||
	    tool_peer_has_number(&peer, claimed))
		return true;
	snprintf(follows, sizeof follows, ", and answers that it is process %d", (int)claimed);
	if (lines++ < LINES)
		tool_socket_pass_over(socket,
				      tool_socket_instead(socket, follows, why, sizeof why));
	return false;
}

int tool_socket_same(const struct tool_socket *socket, const struct fib_wire_client *client)
{
	struct ucred cred;
	socklen_t size = sizeof cred;

	if (!socket->known)
		return 0;
	if (getsockopt(client->fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) < 0)
		return -errno;
	return cred.pid == socket->pid && cred.uid == socket->uid ? 0 : -ESTALE;
}

int tool_hello(const struct tool_socket *socket, int64_t timeout_ns, struct fib_wire_process *ret)
{
	struct fib_wire_client client;
	int rc = fib_wire_connect(&client, socket->path, timeout_ns);

	if (rc == 0)
		rc = tool_socket_same(socket, &client);
	if (rc == 0)
		rc = tool_frames_hello(&client, ret);
	fib_wire_disconnect(&client);
	return rc;
}

bool tool_sockets_tidy(const struct tool_socket *socket)
{
	struct stat before, after;
	struct tool_peer peer;

	return socket->owner == geteuid() && lstat(socket->path, &before) == 0 &&
	       S_ISSOCK(before.st_mode) && tool_peer_ask(socket->path, &peer) == -ECONNREFUSED &&
	       /* A starting program may have put its own socket there. */
	       lstat(socket->path, &after) == 0 && before.st_ino == after.st_ino &&
	       before.st_dev == after.st_dev && unlink(socket->path) == 0;
}

/* Field 22 of proc_pid_stat(5). */
uint64_t tool_process_started(pid_t pid)
{
	char path[64], *text, *at;
	uint64_t ticks = 0;
	size_t size;
	int field;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if (ins_read_file(path, &text, &size) < 0)
		return 0;
	at = strrchr(text, ')');
	for (field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (at)
		ticks = strtoull(at, NULL, 10);
	free(text);
	return ticks;
}

enum tool_made tool_sockets_made(pid_t pid, const struct tool_socket *socket)
{
	const uint64_t ticks = tool_process_started(pid);
	struct stat st;

	if (!ticks || lstat(socket->path, &st) < 0 ||
	    !fib_wire_marked((uint32_t)st.st_mtim.tv_nsec))
		return TOOL_MADE_UNKNOWN;
	return st.st_mtim.tv_nsec == fib_wire_mark(ticks) ? TOOL_MADE_BY_IT : TOOL_MADE_EARLIER;
}
