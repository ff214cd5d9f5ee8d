/* SPDX-License-Identifier: MIT */
/*
 * paths.c - find the build's files and the test's own folder
 *
 * A test program is BUILD/tests/<suite>/<folder>/test_x, so the build folder is the part of its own
 * path before "/tests/". The test's folder has a short name, because it is part of the path of a
 * Unix socket, which holds 107 bytes.
 */
#include <errno.h>
#include <ftw.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/paths.h"

static char build[HARNESS_PATH - 128];
static char folder[64];
static pid_t folder_owner;
static pthread_once_t build_once = PTHREAD_ONCE_INIT, folder_once = PTHREAD_ONCE_INIT;

static void give_up(const char *what)
{
	fprintf(stderr, "# harness: %s: %s\n", what, strerror(errno));
	abort();
}

static void find_build(void)
{
	const char *const given = getenv("FIBER_BUILD");
	char self[sizeof(build)], *tests = NULL;

	if (given && *given) {
		char *const whole = realpath(given, NULL);

		if (!whole || strlen(whole) >= sizeof(build))
			give_up(given);
		strcpy(build, whole);
		free(whole);
		return;
	}
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		give_up("/proc/self/exe");
	self[n] = '\0';
	for (char *at = strstr(self, "/tests/"); at; at = strstr(at + 1, "/tests/"))
		tests = at;
	if (!tests) {
		errno = ENOENT;
		give_up("FIBER_BUILD is not set and the program is not below a folder tests");
	}
	*tests = '\0';
	strcpy(build, self);
}

const char *harness_build(void)
{
	pthread_once(&build_once, find_build);
	return build;
}

const char *harness_program(char *buf, const char *name)
{
	snprintf(buf, HARNESS_PATH, "%s/bin/%s", harness_build(), name);
	return buf;
}

const char *harness_plain(char *buf, const char *name)
{
	snprintf(buf, HARNESS_PATH, "%s/%sbin/%s", harness_build(),
		 *harness_sanitizer() ? "plain/" : "", name);
	return buf;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void remove_folder(void)
{
	if (getpid() == folder_owner)
		nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void make_folder(void)
{
	const char *const parent = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%s/fib-XXXXXX",
		 parent && strlen(parent) < 32 ? parent : "/tmp");
	if (!mkdtemp(folder))
		give_up(folder);
	folder_owner = getpid();
	atexit(remove_folder);
}

const char *harness_folder(void)
{
	pthread_once(&folder_once, make_folder);
	return folder;
}

const char *harness_file(char *buf, const char *name)
{
	snprintf(buf, HARNESS_PATH, "%s/%s", harness_folder(), name);
	return buf;
}

const char *harness_sanitizer(void)
{
	const char *const san = getenv("FIBER_SAN");

	return san ? san : "";
}
