/* SPDX-License-Identifier: MIT */
/* three.h - what is explored: three fibers that lock a mutex twice, about 15 choices */
#ifndef BENCH_EXPLORED_THREE_H
#define BENCH_EXPLORED_THREE_H

#include <fiber.h>

static inline void *lock_twice(void *arg)
{
	struct fiber_mutex *m = arg;

	for (int i = 0; i < 2; i++) {
		fiber_mutex_lock(m, FIBER_FOREVER);
		fiber_mutex_unlock(m);
	}
	return NULL;
}

static inline void *three_fibers(void *arg)
{
	struct fiber_mutex m = {0};
	struct fiber *f[3];

	for (int i = 0; i < 3; i++)
		fiber_spawn(lock_twice, &m, &f[i]);
	for (int i = 0; i < 3; i++)
		fiber_join(f[i], NULL, FIBER_FOREVER);
	return arg;
}

#endif
