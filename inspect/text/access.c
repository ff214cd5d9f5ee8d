/* SPDX-License-Identifier: MIT */
/*
 * access.c - explain why a file may not be used
 *
 * EACCES can refer to the file or to any folder on the way to it. Each of these is checked in turn,
 * and the first one that is refused is named. The remedies differ: a core that root owns, or a home
 * folder that others may not enter.
 */
#include "inspect/text/access.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inspect/text/as_user.h"
#include "inspect/text/escape.h"

static bool allows(const char *path, int mode)
{
	return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0 || errno != EACCES;
}

/* Change path to the path of its folder. */
static void folder_of(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash)
		strcpy(path, ".");
	else
		slash[slash == path] = 0;
}

/* Find the part of path, or path itself, that refuses access with mode, and write it to path. */
static bool find(char path[PATH_MAX], int mode)
{
	const size_t length = strlen(path);
	size_t i;

	for (i = 1; i < length; i++) {
		if (path[i] != '/')
			continue;
		path[i] = 0;
		if (!allows(path, X_OK))
			return true;
		path[i] = '/';
	}
	return !allows(path, mode);
}

/* The state of the process that owns the socket; NULL: rc does not tell. */
static const char *silence(int rc)
{
	switch (rc) {
	case -ETIMEDOUT:
		return "no answer: the process is stopped, or its service thread hangs; try "
		       "fibertrace";
	case -ETIME:
		return "its answer does not end";
	case -EMSGSIZE:
		return "it announces a longer frame than any answer has";
	case -ECONNREFUSED:
		return "no process listens there: the one that made it has ended, or runs "
		       "another program now";
	case -ESTALE:
		return "another process listens there by now: try again";
	case -ECONNRESET:
	case -EPIPE:
		return "the process ended or closed the connection before the answer was whole; a "
		       "seccomp filter may have done that: libfiber(7)";
	case -ENOTSOCK:
		return "is no control socket, and no snapshot";
	default:
		return NULL;
	}
}

const char *ins_access_explain(const char *path, enum ins_access use, int rc, char *buf,
			       size_t size)
{
	char what[PATH_MAX], plain[320];
	const struct passwd *pw;
	char sudo[INS_AS_USER_SIZE];
	const char *it = "it";
	struct stat st;
	const char *silent = use == INS_ACCESS_CONNECT ? silence(rc) : NULL;
	int mode = use == INS_ACCESS_READ ? R_OK : use == INS_ACCESS_CONNECT ? W_OK : W_OK | X_OK;

	snprintf(buf, size, "%s", silent ? silent : strerror(-rc));
	if (rc != -EACCES || (size_t)snprintf(what, sizeof what, "%s", path) >= sizeof what)
		return buf;
	if (use == INS_ACCESS_MAKE)
		folder_of(what);
	if (!find(what, mode) || stat(what, &st) < 0)
		return buf;
	if (strcmp(what, path) != 0)
		it = ins_escape(what, plain, sizeof plain);
	pw = getpwuid(st.st_uid);
	if (st.st_uid == geteuid())
		snprintf(buf, size, "%s: %s is yours, and its mode is %04o: chmod it",
			 strerror(-rc), it, (unsigned)st.st_mode & 07777);
	else
		snprintf(
			buf, size,
			"%s: %s belongs to %s (uid %u), mode %04o, and you are uid %u: run this as "
			"that user (%s) or as root",
			strerror(-rc), it, pw ? pw->pw_name : "another user", (unsigned)st.st_uid,
			(unsigned)st.st_mode & 07777, (unsigned)geteuid(),
			ins_as_user(st.st_uid, sudo));
	return buf;
}
