/* SPDX-License-Identifier: MIT */
/*
 * slow.c - calls that can only block, and calls that make a child process
 *
 * A call that can only block is made off the carrier. What it sets errno to goes with it, there and back:
 * syslog(3) prints it for %m.
 *
 * A child process inherits the mask of the thread that makes it. A carrier blocks all signals, as do
 * the threads that stand in for it. So the thread, or the attributes of posix_spawn(3), get the mask of
 * the fiber for the call.
 *
 * In the shared library alone, as pthreads.c.
 */
#include <errno.h>
#include <pthread.h>

#include "call/off_carrier.h"
#include "call/park.h"
#include "entry/entry.h"
#include "system/native.h"
#include "threads/thread.h"

/* The first member of each call's struct. */
struct away {
	void (*make)(void *call);
	int error;
	sigset_t mask;
};

static void *make_there(void *arg)
{
	struct away *c = arg;
	sigset_t before;

	fpx_native.pthread_sigmask(SIG_SETMASK, &c->mask, &before);
	errno = c->error;
	c->make(arg);
	c->error = errno;
	fpx_native.pthread_sigmask(SIG_SETMASK, &before, NULL);
	return NULL;
}

/* Returns false if the call was not made: it is made here then. */
static bool make(struct away *c, void (*there)(void *))
{
	c->make = there;
	c->error = errno;
	fpx_child_mask(&c->mask);
	if (!fpx_parks() || fpx_off_carrier(make_there, c) < 0)
		return false;
	errno = c->error;
	return true;
}

/* members: the parameters as members of a struct x; from: the arguments of the entry. */
#define SLOW(result, name, parameters, members, from, arguments)                   \
	struct call_##name {                                                       \
		struct away away;                                                  \
		result rc;                                                         \
		members                                                            \
	};                                                                         \
	static void make_##name(void *arg)                                         \
	{                                                                          \
		struct call_##name *x = arg;                                       \
                                                                                   \
		x->rc = fpx_native.name arguments;                                 \
	}                                                                          \
	FPX_ENTRY result name parameters                                           \
	{                                                                          \
		struct call_##name call = {{NULL, 0, {{0}}}, 0, from}, *x = &call; \
                                                                                   \
		if (!fpx_enters(FPX_CALLER) || !make(&x->away, make_##name))       \
			x->rc = fpx_native.name arguments;                         \
		return x->rc;                                                      \
	}

#define MEMBERS(...) __VA_ARGS__

/* clang-format off */
SLOW(int, system, (const char *a), MEMBERS(const char *a;), MEMBERS(a), (x->a))
SLOW(FILE *, popen, (const char *a, const char *b), MEMBERS(const char *a, *b;), MEMBERS(a, b), (x->a, x->b))
SLOW(pid_t, wait3, (int *a, int b, struct rusage *c), MEMBERS(int *a; int b; struct rusage *c;),
	MEMBERS(a, b, c), (x->a, x->b, x->c))
SLOW(pid_t, wait4, (pid_t a, int *b, int c, struct rusage *d), MEMBERS(pid_t a; int *b; int c; struct rusage *d;),
	MEMBERS(a, b, c, d), (x->a, x->b, x->c, x->d))
SLOW(int, waitid, (idtype_t a, id_t b, siginfo_t *c, int d), MEMBERS(idtype_t a; id_t b; siginfo_t *c; int d;),
	MEMBERS(a, b, c, d), (x->a, x->b, x->c, x->d))
#define SLOW_LOOKUP(name, key, type)                                                                         \
	SLOW(int, name, (key a, type *b, char *c, size_t d, type **e), MEMBERS(key a; type *b; char *c; size_t d; \
		type **e;), MEMBERS(a, b, c, d, e), (x->a, x->b, x->c, x->d, x->e))
SLOW_LOOKUP(getpwnam_r, const char *, struct passwd)
SLOW_LOOKUP(getpwuid_r, uid_t, struct passwd)
SLOW_LOOKUP(getgrnam_r, const char *, struct group)
SLOW_LOOKUP(getgrgid_r, gid_t, struct group)
/* clang-format on */

/* -- syslog(3) -- */

struct logging {
	struct away away;
	int priority, flag; /* flag -1: not the checking call */
	const char *format;
	va_list args;
};

static void log_there(void *arg)
{
	struct logging *l = arg;

	if (l->flag < 0)
		fpx_native.vsyslog(l->priority, l->format, l->args);
	else
		fpx_native.__vsyslog_chk(l->priority, l->flag, l->format, l->args);
}

static void write_log(bool enters, int priority, int flag, const char *format, va_list args)
{
	struct logging l = {.priority = priority, .flag = flag, .format = format};

	va_copy(l.args, args);
	if (!enters || !make(&l.away, log_there))
		log_there(&l);
	va_end(l.args);
}

FPX_ENTRY void vsyslog(int priority, const char *format, va_list args)
{
	write_log(fpx_enters(FPX_CALLER), priority, -1, format, args);
}

FPX_ENTRY void __vsyslog_chk(int priority, int flag, const char *format, va_list args)
{
	write_log(fpx_enters(FPX_CALLER), priority, flag, format, args);
}

FPX_ENTRY void syslog(int priority, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_log(fpx_enters(FPX_CALLER), priority, -1, format, args);
	va_end(args);
}

void __syslog_chk(int priority, int flag, const char *format, ...);

FPX_ENTRY void __syslog_chk(int priority, int flag, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_log(fpx_enters(FPX_CALLER), priority, flag, format, args);
	va_end(args);
}

/* -- posix_spawn(3) -- */

typedef int spawn_fn(pid_t *, const char *, const posix_spawn_file_actions_t *,
		     const posix_spawnattr_t *, char *const *, char *const *);

static int spawn(spawn_fn *native, pid_t *ret, const char *path,
		 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr,
		 char *const *argv, char *const *envp)
{
	posix_spawnattr_t own;
	short flags = 0;
	sigset_t mask;

	posix_spawnattr_init(&own);
	if (attr)
		own = *attr; /* the structure has no pointers */
	posix_spawnattr_getflags(&own, &flags);
	if (!(flags & POSIX_SPAWN_SETSIGMASK)) {
		fpx_child_mask(&mask);
		posix_spawnattr_setsigmask(&own, &mask);
		posix_spawnattr_setflags(&own, (short)(flags | POSIX_SPAWN_SETSIGMASK));
	}
	return native(ret, path, actions, &own, argv, envp);
}

FPX_ENTRY int posix_spawn(pid_t *ret, const char *path, const posix_spawn_file_actions_t *actions,
			  const posix_spawnattr_t *attr, char *const *argv, char *const *envp)
{
	return fpx_enters(FPX_CALLER)
		       ? spawn(fpx_native.posix_spawn, ret, path, actions, attr, argv, envp)
		       : fpx_native.posix_spawn(ret, path, actions, attr, argv, envp);
}

FPX_ENTRY int posix_spawnp(pid_t *ret, const char *file, const posix_spawn_file_actions_t *actions,
			   const posix_spawnattr_t *attr, char *const *argv, char *const *envp)
{
	return fpx_enters(FPX_CALLER)
		       ? spawn(fpx_native.posix_spawnp, ret, file, actions, attr, argv, envp)
		       : fpx_native.posix_spawnp(ret, file, actions, attr, argv, envp);
}
