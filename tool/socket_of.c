/* SPDX-License-Identifier: MIT */
/*
 * socket_of.c - find the control socket of one process
 *
 * The process is given by its id, so no claim has to be trusted: the socket is the process' if the
 * kernel says that it listens there. It may be in any folder, under any id that the process has in
 * its pid namespaces, or at the path in its environment.
 */
#include "tool/sockets.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "inspect/text/member.h"
#include "tool/folders.h"
#include "tool/peer.h"
#include "inspect/text/read_file.h"

static bool is_socket(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

/*
 * A variable of the environment that process pid was started with; NULL: unset or not readable. The
 * caller frees it.
 */
static char *setting_of(pid_t pid, const char *name)
{
	char path[64], *text, *found = NULL;
	size_t size, at, n = strlen(name);

	snprintf(path, sizeof path, "/proc/%d/environ", (int)ins_member(pid));
	if (ins_read_file(path, &text, &size) < 0)
		return NULL;
	for (at = 0; !found && at < size; at += strlen(text + at) + 1)
		if (strncmp(text + at, name, n) == 0 && text[at + n] == '=')
			found = strdup(text + at + n + 1);
	free(text);
	return found;
}

static uid_t folder_owner(const char *path)
{
	char folder[TOOL_PATH], *slash;
	struct stat st;

	snprintf(folder, sizeof folder, "%s", path);
	slash = strrchr(folder, '/');
	if (slash)
		slash[slash == folder] = 0;
	return stat(slash ? folder : ".", &st) == 0 ? st.st_uid : (uid_t)-1;
}

struct quest {
	struct tool_peer process; /* its ids */
	struct tool_socket instead;
	struct tool_socket *ret;
};

/*
 * Whether the process listens at ret->path. The kernel's answer is sufficient, wherever the socket
 * is. With a full queue the kernel gives no answer.
 */
static bool is_there(struct quest *q, bool trusted)
{
	struct tool_socket *s = q->ret;
	const pid_t pid = s->pid;
	struct tool_peer peer;
	int rc;

	if (!is_socket(s->path))
		return false;
	rc = tool_peer_ask(s->path, &peer);
	s->uid = peer.uid;
	s->known = rc == 0;
	if (rc == 0 && peer.pid == pid)
		return peer.same_user;
	if (rc == -EAGAIN && trusted && s->named == pid && tool_peer_look(pid, s->owner, &peer) &&
	    peer.same_user) {
		s->uid = s->owner;
		return true;
	}
	if (s->named == pid && (rc == 0 || rc == -ECONNREFUSED) && trusted) {
		q->instead = *s;
		q->instead.pid = rc == 0 ? peer.pid : -1;
	}
	return false;
}

/* At the path that the program was configured with. */
static bool is_where_configured(struct quest *q)
{
	const pid_t pid = q->ret->pid;
	char *given = setting_of(pid, "FIBER_CONTROL_PATH");
	char *dir = setting_of(pid, "XDG_RUNTIME_DIR");
	bool found = false;

	q->ret->named = pid;
	if (given && given[0] == '/') {
		snprintf(q->ret->path, sizeof q->ret->path, "%s", given);
		q->ret->owner = folder_owner(given);
		found = is_there(q, true);
	}
	if (!found && dir && dir[0] == '/') {
		snprintf(q->ret->path, sizeof q->ret->path, "%s/fiber/%d.sock", dir, (int)pid);
		q->ret->owner = folder_owner(q->ret->path);
		found = is_there(q, true);
	}
	free(given);
	free(dir);
	return found;
}

static bool is_in(struct quest *q, const struct tool_folder *folder)
{
	const enum tool_folder_is is = tool_folder_look(folder, &q->ret->owner);
	unsigned i;

	if (is == TOOL_FOLDER_ABSENT)
		return false;
	for (i = 0; i < q->process.numbers; i++) {
		q->ret->named = q->process.number[i];
		if ((size_t)snprintf(q->ret->path, sizeof q->ret->path, "%s/%d.sock", folder->path,
				     (int)q->ret->named) < sizeof q->ret->path &&
		    is_there(q, is == TOOL_FOLDER_TRUSTED))
			return true;
	}
	return false;
}

bool tool_sockets_of(pid_t pid, struct tool_socket *ret)
{
	struct quest q = {.ret = ret, .instead = {.path = ""}};
	struct tool_folders all;
	bool found = false;
	size_t i;

	*ret = (struct tool_socket){.pid = pid, .named = pid};
	/* It may have exited and left its socket. */
	if (!tool_peer_look(pid, 0, &q.process)) {
		q.process.number[0] = pid;
		q.process.numbers = 1;
	}
	tool_folders_find(&all);
	for (i = 0; !found && i < all.count; i++)
		found = is_in(&q, &all.at[i]);
	tool_folders_free(&all);
	found = found || is_where_configured(&q);
	if (!found)
		*ret = q.instead;
	return found;
}

void tool_sockets_at(const char *path, struct tool_socket *ret)
{
	struct tool_peer peer;
	const char *name = strrchr(path, '/');

	*ret = (struct tool_socket){.owner = folder_owner(path)};
	snprintf(ret->path, sizeof ret->path, "%s", path);
	ret->named = tool_socket_number(name ? name + 1 : path);
	if (tool_peer_ask(path, &peer) < 0)
		return;
	ret->pid = peer.pid;
	ret->uid = peer.uid;
	ret->known = true;
}
