/* SPDX-License-Identifier: MIT */
/*
 * lock_function.c - find the function of the C library in which a thread sleeps
 *
 * A stripped C library has only the names of its public functions. So frames without a name are
 * passed, and so are its known internal functions. The public function may have jumped to an
 * internal one and be on the stack no more; then the program's call instruction tells its name.
 *
 * Any other function with a name ends the search. malloc(), for instance, sleeps for a lock of its
 * own, whatever function called it.
 */
#include "inspect/threads/lock_function.h"

#include <string.h>

#include "inspect/unwind/call_target.h"

#define FRAMES_MAX 8 /* from the system call to the public function */

static const struct {
	const char *name; /* without leading underscores */
	enum ins_lock_function function;
} functions[] = {
	{"pthread_mutex_lock", INS_LOCK_FUNCTION_MUTEX},
	{"pthread_mutex_lock_full", INS_LOCK_FUNCTION_MUTEX},
	{"pthread_mutex_cond_lock", INS_LOCK_FUNCTION_MUTEX},
	{"pthread_mutex_cond_lock_full", INS_LOCK_FUNCTION_MUTEX},
	{"pthread_mutex_timedlock", INS_LOCK_FUNCTION_MUTEX},
	{"pthread_mutex_clocklock", INS_LOCK_FUNCTION_MUTEX},
	{"pthread_mutex_clocklock_common", INS_LOCK_FUNCTION_MUTEX},
	{"mtx_lock", INS_LOCK_FUNCTION_MUTEX},
	{"mtx_timedlock", INS_LOCK_FUNCTION_MUTEX},
	{"pthread_rwlock_rdlock", INS_LOCK_FUNCTION_RWLOCK_READ},
	{"pthread_rwlock_rdlock_full64", INS_LOCK_FUNCTION_RWLOCK_READ},
	{"pthread_rwlock_timedrdlock", INS_LOCK_FUNCTION_RWLOCK_READ},
	{"pthread_rwlock_clockrdlock", INS_LOCK_FUNCTION_RWLOCK_READ},
	{"pthread_rwlock_wrlock", INS_LOCK_FUNCTION_RWLOCK_WRITE},
	{"pthread_rwlock_wrlock_full64", INS_LOCK_FUNCTION_RWLOCK_WRITE},
	{"pthread_rwlock_timedwrlock", INS_LOCK_FUNCTION_RWLOCK_WRITE},
	{"pthread_rwlock_clockwrlock", INS_LOCK_FUNCTION_RWLOCK_WRITE},
	{"pthread_cond_wait", INS_LOCK_FUNCTION_COND},
	{"pthread_cond_wait_common", INS_LOCK_FUNCTION_COND},
	{"pthread_cond_timedwait", INS_LOCK_FUNCTION_COND},
	{"pthread_cond_clockwait", INS_LOCK_FUNCTION_COND},
	{"cnd_wait", INS_LOCK_FUNCTION_COND},
	{"cnd_timedwait", INS_LOCK_FUNCTION_COND},
	{"sem_wait", INS_LOCK_FUNCTION_SEM},
	{"sem_timedwait", INS_LOCK_FUNCTION_SEM},
	{"sem_clockwait", INS_LOCK_FUNCTION_SEM},
	{"new_sem_wait", INS_LOCK_FUNCTION_SEM},
	{"new_sem_wait_slow", INS_LOCK_FUNCTION_SEM},
	{"new_sem_wait_slow64", INS_LOCK_FUNCTION_SEM},
	{"pthread_join", INS_LOCK_FUNCTION_JOIN},
	{"pthread_timedjoin_np", INS_LOCK_FUNCTION_JOIN},
	{"pthread_clockjoin_np", INS_LOCK_FUNCTION_JOIN},
	{"pthread_clockjoin_ex", INS_LOCK_FUNCTION_JOIN},
	{"thrd_join", INS_LOCK_FUNCTION_JOIN},
	{"pthread_barrier_wait", INS_LOCK_FUNCTION_BARRIER},
	{"pthread_once", INS_LOCK_FUNCTION_ONCE},
	{"pthread_once_slow", INS_LOCK_FUNCTION_ONCE},
	{"call_once", INS_LOCK_FUNCTION_ONCE},
};

/* Internal functions between the system call and the public one. */
static const struct {
	const char *name;
	bool begins; /* also every longer name that begins with it */
} internals[] = {
	{"futex", true},	 {"lll_", true},
	{"do_futex_wait", true}, {"timedwait", true},
	{"wait", false},	 {"syscall_cancel", true},
	{"syscall_cp", true},	 {"internal_syscall_cancel", true},
};

/* The name without underscores before it and a suffix of the compiler or of a version after it. */
static size_t plain_name(const char **name)
{
	*name += strspn(*name, "_");
	if (strncmp(*name, "GI_", 3) == 0) /* glibc's name for calls from inside */
		*name += 3 + strspn(*name + 3, "_");
	return strcspn(*name, ".@");
}

static enum ins_lock_function find(const char *name)
{
	const size_t size = plain_name(&name);
	size_t i;

	for (i = 0; i < sizeof functions / sizeof functions[0]; i++)
		if (strncmp(functions[i].name, name, size) == 0 && !functions[i].name[size])
			return functions[i].function;
	return INS_LOCK_FUNCTION_UNKNOWN;
}

static bool is_internal(const char *name)
{
	const size_t size = plain_name(&name);
	size_t i, n;

	for (i = 0; i < sizeof internals / sizeof internals[0]; i++) {
		n = strlen(internals[i].name);
		if (strncmp(name, internals[i].name, n) == 0 && (n == size || internals[i].begins))
			return true;
	}
	return false;
}

static enum ins_libc libc_of(const struct ins_frame *f)
{
	const char *module = ins_frame_module(f);

	if (!module)
		return INS_LIBC_UNKNOWN;
	if (strncmp(module, "libc.so.6", 9) == 0 || strncmp(module, "libc-2.", 7) == 0 ||
	    strncmp(module, "libpthread.so.0", 15) == 0 ||
	    strncmp(module, "libpthread-2.", 13) == 0)
		return INS_LIBC_GLIBC;
	return strncmp(module, "ld-musl", 7) == 0 || strncmp(module, "libc.musl", 9) == 0 ||
			       (strcmp(module, "libc.so") == 0 && strstr(f->module, "musl"))
		       ? INS_LIBC_MUSL
		       : INS_LIBC_UNKNOWN;
}

/* A statically linked C library is part of the program. Only one of the two has a function of this name. */
static enum ins_libc libc_by_name(const char *name, enum ins_libc found)
{
	if (found != INS_LIBC_UNKNOWN || !name)
		return found;
	plain_name(&name);
	if (strncmp(name, "syscall_cp", 10) == 0)
		return INS_LIBC_MUSL;
	return strncmp(name, "lll_lock_wait", 13) == 0 ||
			       strncmp(name, "futex_abstimed_wait", 19) == 0
		       ? INS_LIBC_GLIBC
		       : found;
}

/* The public function that the program called, if it is on the stack no more. */
static enum ins_lock_function called(const struct ins_sleeper *s, uint64_t back)
{
	const uint64_t function = ins_call_target_function(s->source, back);
	const struct ins_frame *f;
	size_t count;

	if (!function)
		return INS_LOCK_FUNCTION_UNKNOWN;
	f = ins_symbols_at(s->symbols, function, false, &count);
	f += count - 1;
	return f->function && !f->offset ? find(f->function) : INS_LOCK_FUNCTION_UNKNOWN;
}

enum ins_lock_function ins_lock_function(const struct ins_sleeper *sleeper, enum ins_libc *ret)
{
	enum ins_lock_function found;
	const char *inner = NULL;
	unsigned i;

	*ret = INS_LIBC_UNKNOWN;
	for (i = 0; i < sleeper->walk->count && i < FRAMES_MAX; i++) {
		size_t count, k;
		const struct ins_frame *f =
			ins_symbols_at(sleeper->symbols, sleeper->walk->pc[i],
				       ins_walk_returned(sleeper->walk, i), &count);
		const char *module = f[count - 1].module;

		if (!i) {
			inner = module;
			*ret = libc_of(&f[count - 1]);
		}
		/* The stack has left the C library. */
		if (!module || !inner || strcmp(module, inner) != 0)
			return i ? called(sleeper, sleeper->walk->pc[i])
				 : INS_LOCK_FUNCTION_UNKNOWN;
		for (k = 0; k < count; k++) {
			*ret = libc_by_name(f[k].function, *ret);
			if (!f[k].function)
				continue;
			found = find(f[k].function);
			if (found != INS_LOCK_FUNCTION_UNKNOWN)
				return found;
			if (!is_internal(f[k].function))
				return INS_LOCK_FUNCTION_UNKNOWN;
		}
	}
	return INS_LOCK_FUNCTION_UNKNOWN;
}
