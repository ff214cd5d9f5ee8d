/* SPDX-License-Identifier: MIT */
/*
 * main.c - fiberize: run a program with its threads as fibers
 *
 * The program takes this process's place. libfiber-posix/entry/start.c goes on from there.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fiberize/environment.h"
#include "fiberize/find.h"
#include "fiberize/options.h"
#include "fiberize/refusal.h"

static int status_of(int error)
{
	return error == ENOENT || error == ENOTDIR ? FIBERIZE_NOT_FOUND : FIBERIZE_REFUSED;
}

static void check(const char *name)
{
	static char path[PATH_MAX], of[PATH_MAX], what[2 * PATH_MAX + 32];
	const int rc = fiberize_find(name, path);
	const char *why;

	if (rc < 0)
		fiberize_refuse(status_of(-rc), name, strerror(-rc));
	why = fiberize_refusal(path, of);
	if (!why)
		return;
	snprintf(what, sizeof what, "%s%s%s", name, strcmp(path, of) ? ": its interpreter " : "",
		 strcmp(path, of) ? of : "");
	fiberize_refuse(FIBERIZE_REFUSED, what, why);
}

int main(int argc, char *argv[])
{
	struct fiberize_options options;

	argv[0] = (char *)(uintptr_t) "fiberize"; /* in the messages of getopt */
	fiberize_options(argc, argv, &options);
	check(options.program[0]);
	fiberize_environment(&options);
	execvp(options.program[0], options.program);
	fiberize_refuse(status_of(errno), options.program[0], strerror(errno));
}
