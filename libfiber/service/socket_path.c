/* SPDX-License-Identifier: MIT */
/*
 * socket_path.c - choose the path of the control socket and what its clients may do
 *
 * Three parties decide: the administrator through the environment, the program through its options,
 * and the system through XDG_RUNTIME_DIR. The administrator overrides the others, because an
 * administrator must be able to reach a program written by others, or to keep users out of it.
 *
 * An unknown value of FIBER_CONTROL means off: a restriction was asked for that is not known.
 */
#include "service/socket_path.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/log.h"

#define WITHOUT "going on without a control socket"

static int choose_mode(struct fib_socket_path *socket_path, const char *word)
{
	static const struct {
		const char *word;
		bool wanted;
		enum fib_wire_mode mode;
	} words[] = {
		{"off", false, FIB_WIRE_RO},
		{"ro", true, FIB_WIRE_RO},
		{"rw", true, FIB_WIRE_RW},
		{"admin", true, FIB_WIRE_ADMIN},
	};
	size_t i;

	socket_path->wanted = true;
	socket_path->mode = FIB_WIRE_RW;
	if (!word)
		return 0;
	for (i = 0; i < fib_countof(words); i++) {
		if (strcmp(word, words[i].word) == 0) {
			socket_path->wanted = words[i].wanted;
			socket_path->mode = words[i].mode;
			return 0;
		}
	}
	socket_path->wanted = false;
	fib_log("FIBER_CONTROL=%.40s: not one of off, ro, rw, admin; " WITHOUT, word);
	return -EINVAL;
}

static int too_long(struct fib_socket_path *socket_path, const char *path)
{
	socket_path->wanted = false;
	fib_log("control socket: path longer than %d bytes: %.200s: set FIBER_CONTROL_PATH to a "
		"shorter one; " WITHOUT,
		FIB_OS_LOCAL_MAX, path);
	return -ENAMETOOLONG;
}

/* Use the given path. Its folder is not the library's. */
static int given(struct fib_socket_path *socket_path, const char *path, pid_t pid)
{
	const char *slash = strrchr(path, '/');
	int n = slash ? (int)(slash - path) : 0;
	size_t room = sizeof socket_path->path;
	char folder[512];

	if ((size_t)snprintf(socket_path->path, room, "%s", path) >= room)
		return too_long(socket_path, path);
	if (slash)
		snprintf(folder, sizeof folder, "%.*s/", n, path);
	else
		snprintf(folder, sizeof folder, "./");
	if ((size_t)snprintf(socket_path->draft, room, "%s.%d", folder, (int)pid) >= room)
		return too_long(socket_path, path);
	socket_path->own_folder = false;
	return 0;
}

/*
 * XDG_RUNTIME_DIR, if it is a folder of this user. Root with a user's environment must not
 * make a folder there that the user's own programs cannot use.
 */
static const char *runtime_folder(void)
{
	const char *dir = fib_os_setting("XDG_RUNTIME_DIR");
	struct fib_os_entry entry;

	if (!dir || dir[0] != '/' || fib_os_look(dir, &entry) < 0)
		return NULL;
	return entry.folder && entry.owner == fib_os_uid() ? dir : NULL;
}

static int standard(struct fib_socket_path *socket_path, pid_t pid)
{
	char folder[4096], path[4200];
	size_t room = sizeof socket_path->path;

	if (fib_wire_folder(folder, sizeof folder, runtime_folder(), fib_os_uid()) < 0)
		return too_long(socket_path, "XDG_RUNTIME_DIR");
	snprintf(path, sizeof path, "%s/%d.sock", folder, (int)pid);
	if (strlen(path) >= room)
		return too_long(socket_path, path);
	strcpy(socket_path->path, path);
	strcpy(socket_path->folder, folder);
	snprintf(path, sizeof path, "%s/.%d", folder, (int)pid);
	strcpy(socket_path->draft, path);
	socket_path->own_folder = true;
	return 0;
}

int fib_socket_path_choose(struct fib_socket_path *socket_path, const char *option, pid_t pid)
{
	const char *word = fib_os_setting("FIBER_CONTROL");
	const char *path = fib_os_setting("FIBER_CONTROL_PATH");
	int rc;

	memset(socket_path, 0, sizeof *socket_path);
	rc = choose_mode(socket_path, word);
	if (rc < 0 || !socket_path->wanted)
		return rc;
	if (path && *path)
		return given(socket_path, path, pid);
	if (option && *option)
		return given(socket_path, option, pid);
	/* The program wants no socket, and the environment does not ask for one. */
	if (option && !word) {
		socket_path->wanted = false;
		return 0;
	}
	return standard(socket_path, pid);
}
