/* SPDX-License-Identifier: MIT */
/*
 * environment.c - what tells the libraries to run a program in fibers
 *
 * FIBERIZE is "CARRIERS STACK-BYTES LONG-RUN-NS CARRIERS-MAX TRIM-NS", which
 * libfiber-posix/entry/start.c reads. LD_PRELOAD names both libraries by their paths, because the
 * loader looks for neither beside the program. Both variables stay for the programs that the program
 * starts.
 */
#include "fiberize/environment.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POSIX	"libfiber-posix.so.0"
#define LIBRARY "libfiber.so.0"

/* The library in the folder beside that of fiberize, or where make install puts it. */
static bool beside(const char *name, char ret[PATH_MAX])
{
	static const char *const folders[] = {"../lib", FIBER_LIBDIR};
	char self[PATH_MAX], path[2 * PATH_MAX];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (n < 0)
		return false;
	self[n] = 0;
	strrchr(self, '/')[1] = 0;
	for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
		snprintf(path, sizeof path, "%s%s/%s", folders[i][0] == '/' ? "" : self, folders[i],
			 name);
		if (realpath(path, ret))
			return true;
	}
	return false;
}

/* The library that the loader finds. */
static bool installed(const char *name, char ret[PATH_MAX])
{
	void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
	struct link_map *map;

	return library && dlinfo(library, RTLD_DI_LINKMAP, (void *)&map) == 0 &&
	       realpath(map->l_name, ret) != NULL;
}

static void find(const char *name, char ret[PATH_MAX])
{
	if (!beside(name, ret) && !installed(name, ret))
		fiberize_refuse(FIBERIZE_FAILED, name,
				"not in ../lib beside fiberize, and the loader does not find it");
	if (strpbrk(ret, " :"))
		fiberize_refuse(FIBERIZE_FAILED, ret,
				"the loader preloads no path with a blank or a colon; install it "
				"elsewhere");
}

static void set(const char *name, const char *value)
{
	if (setenv(name, value, 1) < 0)
		fiberize_refuse(FIBERIZE_FAILED, name, strerror(errno));
}

/* Before what is preloaded already, unless a fiberize around this one has done so. */
static void preload(void)
{
	static char posix[PATH_MAX], library[PATH_MAX], ours[2 * PATH_MAX];
	const char *before = getenv("LD_PRELOAD");
	char *list;
	int n;

	find(POSIX, posix);
	find(LIBRARY, library);
	n = snprintf(ours, sizeof ours, "%s:%s", posix, library);
	if (before && strncmp(before, ours, (size_t)n) == 0 && strchr(" :", before[n]))
		return;
	if (asprintf(&list, "%s%s%s", ours, before && *before ? ":" : "", before ? before : "") < 0)
		fiberize_refuse(FIBERIZE_FAILED, "LD_PRELOAD", strerror(ENOMEM));
	set("LD_PRELOAD", list);
	free(list);
}

void fiberize_environment(const struct fiberize_options *options)
{
	char words[80];

	snprintf(words, sizeof words, "%u %zu %lld %u %lld", options->carriers, options->stack,
		 (long long)options->long_run, options->most, (long long)options->trim);
	set("FIBERIZE", words);
	preload();
}
