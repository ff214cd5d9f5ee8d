/* SPDX-License-Identifier: MIT */
/*
 * sockets.c - finding control sockets
 *
 * A program puts its socket into a folder of its user (libfiber/service/place.c), and we look where such
 * folders are. Anybody can make a folder in /tmp under another user's number, so a folder counts only when it
 * is a real directory that belongs to the user it is named for: else a stranger's program would be shown as ours.
 */
#include "tool/sockets.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/frames.h"
#include "tool/tool.h"
#include "inspect/text/slurp.h"
#include "wire/client.h"

#define FOLDERS 256

struct folder {
	char path[TOOL_PATH];
	uid_t owner; /* who must own it */
};

struct folders {
	size_t count;
	struct folder at[FOLDERS];
};

static void add_folder(struct folders *all, const char *path, uid_t owner)
{
	size_t i;

	for (i = 0; i < all->count; i++)
		if (strcmp(all->at[i].path, path) == 0)
			return;
	if (all->count == FOLDERS || strlen(path) >= TOOL_PATH)
		return;
	strcpy(all->at[all->count].path, path);
	all->at[all->count++].owner = owner;
}

static void add_user(struct folders *all, uid_t uid)
{
	char path[TOOL_PATH];

	snprintf(path, sizeof path, "/run/user/%u/fiber", (unsigned)uid);
	add_folder(all, path, uid);
	if (fib_wire_folder(path, sizeof path, NULL, uid) > 0)
		add_folder(all, path, uid);
}

/* The users whose folders exist: the number in each path that matches. */
static void add_users(struct folders *all, const char *pattern, const char *before)
{
	glob_t found;
	size_t i;

	if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
		return;
	for (i = 0; i < found.gl_pathc; i++)
		add_user(all, (uid_t)strtoul(found.gl_pathv[i] + strlen(before), NULL, 10));
	globfree(&found);
}

static void find_folders(struct folders *all)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");
	char path[TOOL_PATH];

	all->count = 0;
	if (dir && dir[0] == '/' && fib_wire_folder(path, sizeof path, dir, geteuid()) > 0)
		add_folder(all, path, geteuid());
	add_user(all, geteuid());
	if (geteuid() != 0)
		return;
	add_users(all, "/run/user/[0-9]*/fiber", "/run/user/");
	add_users(all, "/tmp/fiber-[0-9]*", "/tmp/fiber-");
}

/* Whether what is in a folder was put there by its user. Says so when not; silent when it is not there. */
static bool trusted(const struct folder *f)
{
	struct stat st;

	if (lstat(f->path, &st) < 0)
		return false;
	if (S_ISDIR(st.st_mode) && (st.st_uid == f->owner || st.st_uid == geteuid()) &&
	    !(st.st_mode & 022))
		return true;
	tool_cannot("%s: passed over: it is not a directory of user %u alone", f->path,
		    (unsigned)f->owner);
	return false;
}

static int look_into(const struct folder *f, tool_socket_fn *fn, void *context)
{
	struct tool_socket s = {.owner = f->owner};
	struct dirent *entry;
	int rc = 0;
	DIR *dir;

	if (!trusted(f))
		return 0;
	dir = opendir(f->path);
	if (!dir)
		return 0;
	while (rc == 0 && (entry = readdir(dir))) {
		char *end;
		long pid = strtol(entry->d_name, &end, 10);

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || pid > INT32_MAX ||
		    strcmp(end, ".sock") != 0)
			continue;
		s.pid = (pid_t)pid;
		if ((size_t)snprintf(s.path, sizeof s.path, "%s/%s", f->path, entry->d_name) <
		    sizeof s.path)
			rc = fn(context, &s);
	}
	closedir(dir);
	return rc;
}

int tool_sockets_each(tool_socket_fn *fn, void *context)
{
	static struct folders all;
	size_t i;
	int rc = 0;

	find_folders(&all);
	for (i = 0; rc == 0 && i < all.count; i++)
		rc = look_into(&all.at[i], fn, context);
	return rc;
}

const char *tool_sockets_places(char *buf, size_t size)
{
	static struct folders all;
	size_t i, used = 0;

	find_folders(&all);
	buf[0] = 0;
	for (i = 0; i < all.count && used < size; i++)
		used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? ", " : "",
					 all.at[i].path);
	return buf;
}

static bool is_socket(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

/* A setting in the environment that process pid was started with; NULL when it has none or may not be
 * read. The caller's to free. */
static char *setting_of(pid_t pid, const char *name)
{
	char path[64], *text, *found = NULL;
	size_t size, at, n = strlen(name);

	snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
	if (ins_slurp(path, &text, &size) < 0)
		return NULL;
	for (at = 0; !found && at < size; at += strlen(text + at) + 1)
		if (strncmp(text + at, name, n) == 0 && text[at + n] == '=')
			found = strdup(text + at + n + 1);
	free(text);
	return found;
}

/* Where the program was told to put it. */
static bool told(pid_t pid, struct tool_socket *ret)
{
	char *given = setting_of(pid, "FIBER_CONTROL_PATH");
	char *dir = setting_of(pid, "XDG_RUNTIME_DIR");
	bool found = false;

	if (given && given[0] == '/') {
		snprintf(ret->path, sizeof ret->path, "%s", given);
		found = is_socket(ret->path);
	}
	if (!found && dir && dir[0] == '/') {
		snprintf(ret->path, sizeof ret->path, "%s/fiber/%d.sock", dir, (int)pid);
		found = is_socket(ret->path);
	}
	free(given);
	free(dir);
	return found;
}

bool tool_sockets_of(pid_t pid, struct tool_socket *ret)
{
	static struct folders all;
	size_t i;

	ret->pid = pid;
	find_folders(&all);
	for (i = 0; i < all.count; i++) {
		int n = snprintf(ret->path, sizeof ret->path, "%s/%d.sock", all.at[i].path,
				 (int)pid);

		ret->owner = all.at[i].owner;
		if ((size_t)n < sizeof ret->path && is_socket(ret->path) && trusted(&all.at[i]))
			return true;
	}
	ret->owner = geteuid();
	return told(pid, ret);
}

int tool_hello(const char *path, int64_t timeout_ns, struct fib_wire_process *ret)
{
	struct fib_wire_client client;
	int rc = fib_wire_connect(&client, path, timeout_ns);

	if (rc == 0)
		rc = tool_frames_hello(&client, ret);
	fib_wire_disconnect(&client);
	return rc;
}

bool tool_sockets_tidy(const struct tool_socket *socket)
{
	return socket->owner == geteuid() && kill(socket->pid, 0) < 0 && errno == ESRCH &&
	       unlink(socket->path) == 0;
}
