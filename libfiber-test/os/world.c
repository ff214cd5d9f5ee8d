/* SPDX-License-Identifier: MIT */
/* world.c - whether a schedule has used the outside world */
#include "os/world.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/types.h>
#include <sys/wait.h>

#include "base/atomic.h"
#include "net/own.h"

static struct {
	_Atomic uint32_t *used; /* NULL: no schedule runs */
	const _Atomic uint32_t *made;
} world;

void fib_world_begin(_Atomic uint32_t *used, const _Atomic uint32_t *made)
{
	world.used = used;
	world.made = made;
	if (used)
		fib_store(used, 0);
}

void fib_world_end(void)
{
	world.used = NULL;
}

bool fib_world_is_unused(void)
{
	return world.used && !fib_load(world.used);
}

void fib_world_use(void)
{
	if (fib_world_is_unused())
		fib_store(world.used, fib_load(world.made) + 1);
}

/* When a thread or a child ends is not known. */
int fib_own_pthread_tryjoin_np(pthread_t thread, void **ret)
{
	fib_world_use();
	return pthread_tryjoin_np(thread, ret);
}

pid_t fib_own_waitpid(pid_t pid, int *ret_status, int options)
{
	fib_world_use();
	return waitpid(pid, ret_status, options);
}
