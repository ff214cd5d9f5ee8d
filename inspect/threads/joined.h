/* SPDX-License-Identifier: MIT */
/* joined.h - which thread a thread of glibc joins */
#ifndef INS_JOINED_H
#define INS_JOINED_H

#include "inspect/threads/sleeper.h"

/*
 * The number of the thread, as the process has it, at whose futex pthread_join() sleeps; value: what it
 * expects in the futex. 0: unknown.
 */
uint64_t ins_joined(const struct ins_sleeper *sleeper, uint64_t address, uint32_t value);

#endif
