/* SPDX-License-Identifier: MIT */
/* folders.h - the folders of control sockets, in search order */
#ifndef TOOL_FOLDERS_H
#define TOOL_FOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tool_folder {
	char *path; /* may not exist */
	uid_t user; /* the user whose programs put sockets there */
};

/* A zeroed struct is empty. */
struct tool_folders {
	struct tool_folder *at;
	size_t count, room;
};

/*
 * Find the folders of this user. For root, add root's other folders, then those of all users in
 * numeric order.
 */
void tool_folders_find(struct tool_folders *ret);
void tool_folders_free(struct tool_folders *folders);

enum tool_folder_is {
	TOOL_FOLDER_ABSENT,
	TOOL_FOLDER_TRUSTED, /* only its user, this user or root can have put files there */
	TOOL_FOLDER_ODD,
};

/* Check a folder. *ret_owner: its owner, if trusted. */
enum tool_folder_is tool_folder_look(const struct tool_folder *folder, uid_t *ret_owner);

#endif
