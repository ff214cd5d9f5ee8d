/* SPDX-License-Identifier: MIT */
/*
 * exec.c - calls that execute a program, and vfork(2)
 *
 * A program inherits the mask of the thread that executes it. A carrier blocks all signals, so it gets
 * the mask of the fiber for the call.
 *
 * The child of vfork(2) has the memory of its parent, and so its carriers: a fiber that waits there may
 * go on in the parent. To change a mask is such a wait. So vfork() is fork(), as POSIX allows.
 *
 * In the shared library alone, as pthreads.c.
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include "entry/entry.h"
#include "system/native.h"
#include "threads/thread.h"

/* -- the mask -- */

struct masked {
	bool set;
	sigset_t before;
};

static struct masked mask_begin(bool enters)
{
	struct masked m = {.set = enters};
	sigset_t mask;

	if (enters) {
		fpx_child_mask(&mask);
		fpx_native.pthread_sigmask(SIG_SETMASK, &mask, &m.before);
	}
	return m;
}

/* No program was executed. */
static int mask_end(const struct masked *m, int rc)
{
	const int error = errno;

	if (m->set)
		fpx_native.pthread_sigmask(SIG_SETMASK, &m->before, NULL);
	errno = error;
	return rc;
}

/* -- with an array of arguments -- */

static int execute(bool enters, const char *path, char *const *argv, char *const *envp)
{
	const struct masked m = mask_begin(enters);

	return mask_end(&m, fpx_native.execve(path, argv, envp));
}

static int search(bool enters, const char *file, char *const *argv, char *const *envp)
{
	const struct masked m = mask_begin(enters);

	return mask_end(&m, fpx_native.execvpe(file, argv, envp));
}

FPX_ENTRY int execve(const char *path, char *const *argv, char *const *envp)
{
	return execute(fpx_enters(FPX_CALLER), path, argv, envp);
}

FPX_ENTRY int execv(const char *path, char *const *argv)
{
	return execute(fpx_enters(FPX_CALLER), path, argv, environ);
}

FPX_ENTRY int execvp(const char *file, char *const *argv)
{
	return search(fpx_enters(FPX_CALLER), file, argv, environ);
}

FPX_ENTRY int execvpe(const char *file, char *const *argv, char *const *envp)
{
	return search(fpx_enters(FPX_CALLER), file, argv, envp);
}

FPX_ENTRY int fexecve(int fd, char *const *argv, char *const *envp)
{
	const struct masked m = mask_begin(fpx_enters(FPX_CALLER));

	return mask_end(&m, fpx_native.fexecve(fd, argv, envp));
}

/* -- with the arguments one by one: on the stack, because memory may be short in a child -- */

/* The number of arguments up to the NULL, which is not counted. */
static size_t count(const char *arg, va_list *list)
{
	size_t n = 0;

	for (; arg; arg = va_arg(*list, const char *))
		n++;
	return n;
}

static void collect(const char *arg, va_list list, char **ret)
{
	for (; arg; arg = va_arg(list, const char *))
		*ret++ = (char *)(uintptr_t)arg;
	*ret = NULL;
}

/* An array argv of what follows `arg` in the list, on the stack of the function that uses it. */
#define COLLECT(arg, list, argv)                                                   \
	do {                                                                       \
		va_start(list, arg);                                               \
		argv = __builtin_alloca((count(arg, &(list)) + 1) * sizeof *argv); \
		va_end(list);                                                      \
		va_start(list, arg);                                               \
		collect(arg, list, argv);                                          \
	} while (0)

FPX_ENTRY int execl(const char *path, const char *arg, ...)
{
	va_list list;
	char **argv;

	COLLECT(arg, list, argv);
	va_end(list);
	return execute(fpx_enters(FPX_CALLER), path, argv, environ);
}

FPX_ENTRY int execlp(const char *file, const char *arg, ...)
{
	va_list list;
	char **argv;

	COLLECT(arg, list, argv);
	va_end(list);
	return search(fpx_enters(FPX_CALLER), file, argv, environ);
}

FPX_ENTRY int execle(const char *path, const char *arg, ...)
{
	char **argv, *const *envp;
	va_list list;

	COLLECT(arg, list, argv);
	va_end(list);
	/* The environment comes after the NULL. */
	va_start(list, arg);
	count(arg, &list);
	envp = va_arg(list, char *const *);
	va_end(list);
	return execute(fpx_enters(FPX_CALLER), path, argv, envp);
}

FPX_ENTRY pid_t vfork(void)
{
	return fork();
}
