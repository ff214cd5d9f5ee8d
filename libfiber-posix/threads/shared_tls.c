/* SPDX-License-Identifier: MIT */
/*
 * shared_tls.c - find modules whose thread-local variables are shared by fibers of one carrier
 *
 * Two fibers of a carrier are one thread to a library that keeps something in a thread-local variable:
 * it mixes up what belongs to each. The libraries that do so are not known. A module is reported, once,
 * if it has thread-local variables, and two fibers that live at the same time on one carrier have made
 * calls from it. Only the function that calls is seen, not those that have called it.
 *
 * A place in the program is looked at until it is known to need no further look. That is a call of
 * the loader, and a lock.
 */
#include "threads/shared_tls.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fiber/fiber.h>

#include "system/link.h"
#include "system/native.h"
#include "system/system.h"
#include "threads/owner.h"

#define MODULES	 32u /* further ones are not looked at */
#define CARRIERS 64u

const void *fpx_call_sites[1u << FPX_CALL_SITES_LOG2];

/* The last fiber of a carrier that has called from a module. */
struct caller {
	pthread_t carrier;
	uint64_t fiber; /* 0: it has ended */
};

/* A module with thread-local variables. */
static struct module {
	const void *base;
	bool told;
	struct caller callers[CARRIERS];
} modules[MODULES]; /* L lock */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the C library's */

/* I: not NULL in fibers of callers[]. 0: nothing is looked at. */
static fiber_key_t key;

static void know(const void *pc)
{
	const unsigned at = fpx_hash(pc, FPX_CALL_SITES_LOG2);
	const bool taken = __atomic_load_n(&fpx_call_sites[at], __ATOMIC_RELAXED) != NULL;

	__atomic_store_n(&fpx_call_sites[taken ? at ^ 1 : at], pc, __ATOMIC_RELAXED);
}

/*
 * The C++ library has its exceptions there, which libfiber keeps for each fiber. In a program that
 * contains libfiber, these are among the program's own.
 */
static bool is_known(const Dl_info *info, const char *name)
{
	static const char *const names[] = {"libc.so.", "ld-linux", "libstdc++.so.", "libfiber"};
	Dl_info own;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return dladdr(&fpx_linked, &own) && own.dli_fbase == info->dli_fbase;
}

static const char *short_name(const Dl_info *info)
{
	const char *const slash = strrchr(info->dli_fname, '/');

	return slash ? slash + 1 : info->dli_fname;
}

static bool has_tls(const Dl_info *info)
{
	const char *const base = info->dli_fbase;
	const ElfW(Ehdr) *const file = info->dli_fbase;
	const ElfW(Phdr) *const parts = (const void *)(base + file->e_phoff);

	for (unsigned i = 0; i < file->e_phnum; i++)
		if (parts[i].p_type == PT_TLS && parts[i].p_memsz)
			return !is_known(info, short_name(info));
	return false;
}

/* NULL: there is no room. With the lock. */
static struct module *module_at(const void *base)
{
	for (unsigned i = 0; i < MODULES; i++) {
		if (!modules[i].base)
			modules[i].base = base;
		if (modules[i].base == base)
			return &modules[i];
	}
	return NULL;
}

/* NULL: there is no room. With the lock. */
static struct caller *caller_on(struct module *module, pthread_t carrier)
{
	for (unsigned i = 0; i < CARRIERS; i++) {
		struct caller *c = &module->callers[i];

		if (!c->carrier)
			c->carrier = carrier;
		if (c->carrier == carrier)
			return c;
	}
	return NULL;
}

static void tell(const char *name, uint64_t one, uint64_t other)
{
	char line[400];

	snprintf(line, sizeof line,
		 "libfiber-posix: fibers %llu and %llu of one carrier call from %s and share its "
		 "thread-local variables; FIBER_OWN_TLS gives each fiber its own\n",
		 (unsigned long long)one, (unsigned long long)other, name);
	(void)!fpx_system.write(STDERR_FILENO, line, strlen(line));
}

/* Note the caller. Returns a living fiber of its carrier that has called from the module before, or 0. */
static uint64_t note(struct module *module, uint64_t fiber)
{
	struct caller *const c = caller_on(module, fpx_native.pthread_self());
	const uint64_t before = c && c->fiber != fiber ? c->fiber : 0;

	if (c)
		c->fiber = fiber;
	if (before || !c)
		module->told = true;
	return before;
}

static void look(const void *pc)
{
	const uint64_t fiber = fpx_fiber_id(fiber_self());
	struct module *module;
	uint64_t before = 0;
	Dl_info info;

	if (!dladdr(pc, &info) || !has_tls(&info)) {
		know(pc);
		return;
	}
	fiber_setspecific(key, &key);
	fpx_native.pthread_mutex_lock(&lock);
	module = module_at(info.dli_fbase);
	if (module && !module->told)
		before = note(module, fiber);
	if (!module || module->told)
		know(pc);
	fpx_native.pthread_mutex_unlock(&lock);
	if (before)
		tell(short_name(&info), before, fiber);
}

__attribute__((noinline)) void fpx_shared_tls_look(const void *pc)
{
	const int error = errno;

	if (key)
		look(pc);
	else
		know(pc);
	errno = error;
}

/* The fibers of the parent are not in a child. */
static void begin_again(void)
{
	static const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;

	lock = unlocked;
	for (unsigned i = 0; i < MODULES; i++)
		memset(modules[i].callers, 0, sizeof modules[i].callers);
}

/* A fiber ends. */
static void forget(void *value)
{
	const uint64_t fiber = fpx_fiber_id(fiber_self());

	(void)value;
	fpx_native.pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < MODULES; i++)
		for (unsigned c = 0; c < CARRIERS; c++)
			if (modules[i].callers[c].fiber == fiber)
				modules[i].callers[c].fiber = 0;
	fpx_native.pthread_mutex_unlock(&lock);
}

__attribute__((constructor(102))) static void start(void)
{
	const char *const wish = getenv("FIBER_SHARED_TLS");

	if ((!wish || strcmp(wish, "silent") != 0) && fiber_key_create(&key, forget) == 0)
		pthread_atfork(NULL, NULL, begin_again);
}
