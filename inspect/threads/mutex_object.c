/* SPDX-License-Identifier: MIT */
/*
 * mutex_object.c - a mutex or a read-write lock of the C library: which thread holds it
 *
 * glibc: the futex of a mutex is its first word. __owner is the tid of the thread that holds the
 * mutex. The owner writes it after it has taken the lock, and clears it before it releases the
 * lock. So an owner that is not 0 holds the mutex, and 0 means unknown. In a robust mutex, and in
 * one with priority inheritance, the futex itself has the owner's tid, by agreement with the
 * kernel. A read-write lock has only its writer's tid.
 *
 * musl: the futex of a mutex is its second word. It has the owner's tid except in a mutex of the
 * normal type, which has no owner. Its read-write lock is one counter without a tid. Distributors
 * build musl without unwind information, so the function that a thread sleeps in is not known.
 * A mutex with an owner is known all the same: no other object of musl has a type, a tid with the
 * flag of waiters that is what the thread expects, a count of waiters and links of a list.
 *
 * The layouts are those of x86-64; glibc's have not changed since version 2.25.
 */
#include "inspect/threads/mutex_object.h"

#include <elf.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>

#include "inspect/elf/image.h"

#define KIND_TYPE    3
#define KIND_ROBUST  0x10
#define KIND_INHERIT 0x20
#define KIND_KNOWN   0x3ff

#define MUSL_NORMAL	  0
#define MUSL_TYPE	  15u	/* robust and inheritance too: such a mutex has an owner */
#define MUSL_TYPES	  0x8fu /* and shared */
#define MUSL_TID	  0x3fffffffu
#define MUSL_DIED	  0x40000000u
#define MUSL_WAITERS	  0x80000000u
#define MUSL_WAITERS_MOST 4194304u /* Linux has no more threads */

struct musl_mutex {
	uint32_t type, lock, waiters, count;
	uint64_t unused;
	uint64_t previous,
		next; /* in the owner's list of mutexes, whose head is `previous` of the first */
};

#define READERS_WAIT 4 /* flag of __readers, set by each thread that waits for it */

/* The layouts in this tool's headers are those of its own machine. */
static bool known_layout(void)
{
	return ins_machine_self() == EM_X86_64;
}

static uint64_t glibc_owner(const struct __pthread_mutex_s *m)
{
	const uint32_t word = (uint32_t)m->__lock;

	if (m->__kind & ~KIND_KNOWN)
		return 0;
	if (!word || m->__owner <= 0)
		return 0;
	if (m->__kind & (KIND_ROBUST | KIND_INHERIT))
		return word & FUTEX_OWNER_DIED || (word & FUTEX_TID_MASK) != (uint32_t)m->__owner
			       ? 0
			       : word & FUTEX_TID_MASK;
	return (uint64_t)m->__owner;
}

static uint64_t glibc_mutex(const struct ins_sleeper *s, uint64_t address, uint64_t *ret_holder)
{
	struct __pthread_mutex_s m;

	if (known_layout() && ins_sleeper_read(s, address, &m, sizeof m))
		*ret_holder = glibc_owner(&m);
	return address;
}

bool ins_mutex_checks_owner(const struct ins_sleeper *sleeper, enum ins_libc libc, uint64_t address)
{
	struct __pthread_mutex_s m;
	int type;

	/* In musl a mutex has an owner only if it checks it. */
	if (libc != INS_LIBC_GLIBC)
		return libc == INS_LIBC_MUSL;
	if (!known_layout() || !ins_sleeper_read(sleeper, address, &m, sizeof m))
		return false;
	type = m.__kind & KIND_TYPE;
	return m.__kind & (KIND_ROBUST | KIND_INHERIT) || type == PTHREAD_MUTEX_RECURSIVE ||
	       type == PTHREAD_MUTEX_ERRORCHECK;
}

/* The owner in a mutex of musl; 0: unknown. */
static uint64_t musl_owner(uint32_t type, uint32_t word)
{
	return (type & MUSL_TYPE) == MUSL_NORMAL || word & MUSL_DIED ? 0 : word & MUSL_TID;
}

static uint64_t musl_mutex(const struct ins_sleeper *s, uint64_t address, uint64_t *ret_holder)
{
	uint32_t word[2]; /* type, lock */

	address -= sizeof word[0];
	if (known_layout() && ins_sleeper_read(s, address, word, sizeof word))
		*ret_holder = musl_owner(word[0], word[1]);
	return address;
}

bool ins_mutex_of_musl(const struct ins_sleeper *sleeper, uint64_t address, uint32_t value,
		       uint64_t *ret_object, uint64_t *ret_holder)
{
	struct musl_mutex m;
	uint64_t owner;
	const uint64_t start = address - offsetof(struct musl_mutex, lock);

	if (!known_layout() || start % 8 || !ins_sleeper_read(sleeper, start, &m, sizeof m))
		return false;
	if (m.lock != value || !(value & MUSL_WAITERS) || m.type & ~MUSL_TYPES || !m.waiters ||
	    m.waiters > MUSL_WAITERS_MOST || !m.previous || m.previous % 8 || m.next % 8)
		return false;
	owner = musl_owner(m.type, m.lock);
	if (!owner)
		return false;
	*ret_holder = owner;
	*ret_object = start;
	return true;
}

uint64_t ins_mutex_object(const struct ins_sleeper *sleeper, enum ins_libc libc, uint64_t address,
			  uint64_t *ret_holder)
{
	*ret_holder = 0;
	if (libc == INS_LIBC_GLIBC)
		return glibc_mutex(sleeper, address, ret_holder);
	return libc == INS_LIBC_MUSL ? musl_mutex(sleeper, address, ret_holder) : address;
}

/*
 * The lock is aligned to 8 bytes. Three of its words are waited for: 12 is the only offset that is
 * no multiple of 8; of the other two, 8 has the values 0 to 3, and 0 has READERS_WAIT.
 */
static uint64_t rwlock_start(uint64_t address, uint32_t value)
{
	if (address % 8)
		return address - offsetof(struct __pthread_rwlock_arch_t, __writers_futex);
	return value & READERS_WAIT
		       ? address
		       : address - offsetof(struct __pthread_rwlock_arch_t, __wrphase_futex);
}

uint64_t ins_rwlock_object(const struct ins_sleeper *sleeper, enum ins_libc libc, uint64_t address,
			   uint32_t value, uint64_t *ret_holder)
{
	struct __pthread_rwlock_arch_t lock;
	uint64_t start;

	*ret_holder = 0;
	if (libc != INS_LIBC_GLIBC || !known_layout())
		return address;
	start = rwlock_start(address, value);
	if (ins_sleeper_read(sleeper, start, &lock, sizeof lock) && lock.__cur_writer > 0)
		*ret_holder = (uint64_t)lock.__cur_writer;
	return start;
}
