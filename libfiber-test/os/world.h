/* SPDX-License-Identifier: MIT */
/*
 * world.h - whether a schedule has used the outside world
 *
 * What happens outside the process comes in real time: the same choices may then lead elsewhere.
 * That is a child process, a thread that is waited for, and a descriptor that another process has.
 */
#ifndef FIB_TEST_OS_WORLD_H
#define FIB_TEST_OS_WORLD_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Start a schedule, whose choices are counted in *made. *used is set to 0, and at the first use to
 * the number of choices made before it, plus 1. End it.
 */
void fib_world_begin(_Atomic uint32_t *used, const _Atomic uint32_t *made);
void fib_world_end(void);

/* The schedule uses it, from here on. Outside a schedule: nothing. */
void fib_world_use(void);

/* Whether a use would be the first one of the schedule. */
bool fib_world_is_unused(void);

#endif
