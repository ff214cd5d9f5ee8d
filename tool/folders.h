/* SPDX-License-Identifier: MIT */
/* folders.h - the folders that control sockets are put into, in the order in which they are looked at. See folders.c. */
#ifndef TOOL_FOLDERS_H
#define TOOL_FOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tool_folder {
	char *path; /* it need not exist */
	uid_t user; /* whose programs put their sockets there */
};

/* Zeroed is empty. */
struct tool_folders {
	struct tool_folder *at;
	size_t count, room;
};

/* Find the folders of this user; for root then root's other ones and those of every user, in the order of their numbers. */
void tool_folders_find(struct tool_folders *ret);
void tool_folders_free(struct tool_folders *folders);

enum tool_folder_is {
	TOOL_FOLDER_ABSENT,
	TOOL_FOLDER_TRUSTED, /* only its user, we, or root can have put something there */
	TOOL_FOLDER_ODD,
};

/* *ret_owner: who owns it, when it is trusted. */
enum tool_folder_is tool_folder_look(const struct tool_folder *folder, uid_t *ret_owner);

#endif
