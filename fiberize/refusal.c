/* SPDX-License-Identifier: MIT */
/*
 * refusal.c - why a program cannot run in fibers
 *
 * The loader preloads nothing into a program that has no loader or gains rights, and only a warning
 * says so for a library of another kind. Such a program would run on threads without a word, so it is
 * refused. A script is run by its interpreter, which is checked in its place.
 */
#include "fiberize/refusal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "fiberize/elf_head.h"

#define SHELL	  "/bin/sh" /* execvp(3) gives it what the system cannot run */
#define SCRIPTS	  5	    /* one in the other: more are refused by the system */
#define LINE_SIZE 256	    /* bytes of a script's first line that the system reads */

static bool gains_rights(int fd)
{
	struct stat st;

	return (fstat(fd, &st) == 0 && (st.st_mode & (S_ISUID | S_ISGID))) ||
	       fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

/* The headers of this program. */
static bool read_own(struct fiberize_elf *ret)
{
	const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const bool well = fd >= 0 && fiberize_elf_read(fd, ret) == 0 && ret->loader[0];

	if (fd >= 0)
		close(fd);
	return well;
}

/* musl's loader, for example, cannot load a library that needs the C library of GNU. */
static bool same_loader(const char *one, const char *other)
{
	return strcmp(basename(one), basename(other)) == 0;
}

static const char *refusal_of_elf(int fd, const struct fiberize_elf *elf)
{
	static struct fiberize_elf own;
	const bool known = read_own(&own);

	if (!elf->readable || (known && elf->machine != own.machine))
		return "it is for another kind of machine than fiberize";
	if (!elf->loader[0])
		return "it is linked statically, so nothing can be preloaded into it";
	if (known && !same_loader(elf->loader, own.loader))
		return "it uses another C library than fiberize";
	if (gains_rights(fd))
		return "it gains rights when it starts (set-uid, set-gid or capabilities), so "
		       "nothing can be preloaded into it";
	return NULL;
}

/* Whether it is a script; then its interpreter is in ret. */
static bool read_interpreter(int fd, char ret[PATH_MAX])
{
	char line[LINE_SIZE + 1], *start;
	const ssize_t n = pread(fd, line, LINE_SIZE, 0);

	if (n < 2 || line[0] != '#' || line[1] != '!')
		return false;
	line[n] = 0;
	start = line + 2 + strspn(line + 2, " \t");
	start[strcspn(start, " \t\n")] = 0;
	snprintf(ret, PATH_MAX, "%s", *start ? start : SHELL);
	return true;
}

/* Check one file. Returns a reason or NULL; ret_next is the interpreter that must be checked, or "". */
static const char *check(const char *path, char ret_next[PATH_MAX])
{
	static struct fiberize_elf elf;
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *why = NULL;
	int rc;

	ret_next[0] = 0;
	/* The system runs programs that it does not let us read. */
	if (fd < 0)
		return NULL;
	if (!read_interpreter(fd, ret_next)) {
		rc = fiberize_elf_read(fd, &elf);
		if (rc < 0)
			why = rc == -ENOEXEC ? "it is damaged (ELF headers)" : strerror(-rc);
		else if (elf.elf)
			why = refusal_of_elf(fd, &elf);
		else
			strcpy(ret_next, SHELL);
	}
	close(fd);
	return why;
}

const char *fiberize_refusal(const char *path, char ret_of[PATH_MAX])
{
	char next[PATH_MAX];
	const char *why;

	snprintf(ret_of, PATH_MAX, "%s", path);
	for (int i = 0; i <= SCRIPTS; i++) {
		why = check(ret_of, next);
		if (why || !next[0])
			return why;
		if (access(next, X_OK) < 0)
			why = strerror(errno);
		memcpy(ret_of, next, PATH_MAX);
		if (why)
			return why;
	}
	return strerror(ELOOP);
}
