/* SPDX-License-Identifier: MIT */
/*
 * folders.c - the folders of control sockets
 *
 * A program puts its socket into a folder of its user (libfiber/service/socket_path.c). Any user
 * can create a folder in /tmp with another user's number. So a folder counts only if it is a real
 * directory owned by the user of its name; otherwise programs of another user would be shown as
 * that user's.
 *
 * Root searches the folders of all users. There may be thousands, and a search is limited. So
 * root's own folders come first, then the others in the order of user numbers, which no user can
 * change.
 */
#include "tool/folders.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/sockets.h"
#include "wire/wire.h"

/* Without memory the folder is left out. */
static void add_folder(struct tool_folders *all, const char *path, uid_t user)
{
	struct tool_folder *more;
	size_t i;

	/* A path occurs twice only if XDG_RUNTIME_DIR names it, and then among the first two. */
	for (i = 0; i < all->count && i < 2; i++)
		if (strcmp(all->at[i].path, path) == 0)
			return;
	if (all->count == all->room) {
		more = realloc(all->at, (2 * all->room + 8) * sizeof *more);
		if (!more)
			return;
		all->at = more;
		all->room = 2 * all->room + 8;
	}
	all->at[all->count] = (struct tool_folder){strdup(path), user};
	all->count += all->at[all->count].path != NULL;
}

static void add_user(struct tool_folders *all, uid_t uid)
{
	char path[TOOL_PATH];

	snprintf(path, sizeof path, "/run/user/%u/fiber", (unsigned)uid);
	add_folder(all, path, uid);
	if (fib_wire_folder(path, sizeof path, NULL, uid) > 0)
		add_folder(all, path, uid);
}

/*
 * Same rule as in the program (libfiber/service/socket_path.c): root with a user's environment does
 * not use that user's folder.
 */
static void add_own(struct tool_folders *all)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");
	char path[TOOL_PATH];
	struct stat st;

	if (dir && dir[0] == '/' && (lstat(dir, &st) < 0 || st.st_uid == geteuid()) &&
	    fib_wire_folder(path, sizeof path, dir, geteuid()) > 0)
		add_folder(all, path, geteuid());
	add_user(all, geteuid());
}

struct users {
	uid_t *at;
	size_t count, room;
};

static void add_number(struct users *all, uid_t uid)
{
	uid_t *more;

	if (all->count == all->room) {
		more = realloc(all->at, (2 * all->room + 64) * sizeof *more);
		if (!more)
			return;
		all->at = more;
		all->room = 2 * all->room + 64;
	}
	all->at[all->count++] = uid;
}

/* Add the users whose numbers follow `before` in the names of folders. */
static void add_numbers(struct users *all, const char *in, const char *before)
{
	const size_t n = strlen(before);
	struct dirent *entry;
	DIR *dir = opendir(in);

	while (dir && (entry = readdir(dir))) {
		const char *digits = entry->d_name + n;
		unsigned long long uid;
		char *end;

		if (strncmp(entry->d_name, before, n) != 0 || digits[0] < '0' || digits[0] > '9' ||
		    (digits[0] == '0' && digits[1]))
			continue;
		uid = strtoull(digits, &end, 10);
		if (!*end && uid < UINT32_MAX)
			add_number(all, (uid_t)uid);
	}
	if (dir)
		closedir(dir);
}

static int by_number(const void *a, const void *b)
{
	const uid_t x = *(const uid_t *)a, y = *(const uid_t *)b;

	return x < y ? -1 : x > y;
}

void tool_folders_find(struct tool_folders *ret)
{
	struct users users = {NULL, 0, 0};
	size_t i;

	*ret = (struct tool_folders){NULL, 0, 0};
	add_own(ret);
	if (geteuid() != 0)
		return;
	add_numbers(&users, "/run/user", "");
	add_numbers(&users, "/tmp", "fiber-");
	if (users.count)
		qsort(users.at, users.count, sizeof *users.at, by_number);
	for (i = 0; i < users.count; i++)
		if (users.at[i] != geteuid() && (!i || users.at[i] != users.at[i - 1]))
			add_user(ret, users.at[i]);
	free(users.at);
}

void tool_folders_free(struct tool_folders *folders)
{
	size_t i;

	for (i = 0; i < folders->count; i++)
		free(folders->at[i].path);
	free(folders->at);
	*folders = (struct tool_folders){NULL, 0, 0};
}

enum tool_folder_is tool_folder_look(const struct tool_folder *folder, uid_t *ret_owner)
{
	struct stat st;

	if (lstat(folder->path, &st) < 0)
		return TOOL_FOLDER_ABSENT;
	*ret_owner = st.st_uid;
	return S_ISDIR(st.st_mode) && (st.st_uid == folder->user || st.st_uid == geteuid()) &&
			       !(st.st_mode & 022)
		       ? TOOL_FOLDER_TRUSTED
		       : TOOL_FOLDER_ODD;
}
