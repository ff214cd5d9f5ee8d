/* SPDX-License-Identifier: MIT */
/*
 * find.c - the file of a program, by its name
 *
 * A file in PATH that may not be executed is passed over. If no other is found, the answer is -EACCES.
 */
#include "fiberize/find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int executable(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) && access(path, X_OK) == 0 ? 0 : -EACCES;
}

/* The place in PATH that ends at `end`; an empty one is the working folder. */
static int in_folder(const char *folder, const char *end, const char *name, char ret_path[PATH_MAX])
{
	const int n = snprintf(ret_path, PATH_MAX, "%.*s%s%s", (int)(end - folder), folder,
			       end > folder ? "/" : "./", name);

	return n < PATH_MAX ? executable(ret_path) : -ENAMETOOLONG;
}

int fiberize_find(const char *name, char ret_path[PATH_MAX])
{
	const char *at = getenv("PATH"), *end;
	int rc, result = -ENOENT;

	if (strchr(name, '/'))
		return snprintf(ret_path, PATH_MAX, "%s", name) < PATH_MAX ? executable(name)
									   : -ENAMETOOLONG;
	for (at = at ? at : "/bin:/usr/bin"; *name; at = end + 1) {
		end = strchrnul(at, ':');
		rc = in_folder(at, end, name, ret_path);
		if (rc == 0)
			return 0;
		if (rc == -EACCES)
			result = rc;
		if (!*end)
			break;
	}
	return result;
}
