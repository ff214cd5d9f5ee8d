/* SPDX-License-Identifier: MIT */
/* mutex_object.h - a mutex or a read-write lock of the C library: which thread holds it */
#ifndef INS_MUTEX_OBJECT_H
#define INS_MUTEX_OBJECT_H

#include "inspect/threads/lock_function.h"

/*
 * Find the mutex whose futex is at address. Returns its address; *ret_holder: the thread that holds
 * it, or 0: unknown.
 */
uint64_t ins_mutex_object(const struct ins_sleeper *sleeper, enum ins_libc libc, uint64_t address,
			  uint64_t *ret_holder);

/*
 * Whether only the thread that took the mutex can release it: it checks who does. false also if the
 * mutex cannot be read.
 */
bool ins_mutex_checks_owner(const struct ins_sleeper *sleeper, enum ins_libc libc,
			    uint64_t address);

/*
 * Whether the futex at address, in which a thread of musl expects value, is that of a mutex with an
 * owner: for a thread whose function is unknown.
 */
bool ins_mutex_of_musl(const struct ins_sleeper *sleeper, uint64_t address, uint32_t value,
		       uint64_t *ret_object, uint64_t *ret_holder);

/*
 * ins_mutex_object() for a read-write lock. value: what the thread expects in the futex. Only a thread that
 * writes is known as holder.
 */
uint64_t ins_rwlock_object(const struct ins_sleeper *sleeper, enum ins_libc libc, uint64_t address,
			   uint32_t value, uint64_t *ret_holder);

#endif
