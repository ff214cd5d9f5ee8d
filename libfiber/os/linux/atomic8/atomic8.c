/* SPDX-License-Identifier: MIT */
/*
 * atomic8.c - atomics of 8 bytes for a CPU that has no instructions for them
 *
 * libatomic takes a mutex for each operation. A signal handler that interrupts the holder and uses
 * an object with the same mutex waits for ever. So does a child of fork(), if another thread held
 * the mutex. libfiber promises calls that a handler may make, and children that go on.
 *
 * Here a change takes a spin lock, which the address of the object selects. The thread blocks all
 * signals before it takes the lock and until it has released it, with two system calls. So no
 * handler runs on a thread that holds a lock.
 *
 * A load takes no lock. A count beside the lock is odd while an object of this lock changes. A load
 * reads the count, the two words and the count again, and repeats this until both counts are the
 * same even number. A change takes two system calls, so a load is seldom repeated. A load is wrong
 * only if exactly 2^31 changes are made between its two looks at the count.
 *
 * fork() takes all locks before, and parent and child release them. The handlers are registered by
 * a constructor. So they run last before the fork and first after it, and the handlers of libfiber
 * and of the program may use these atomics.
 *
 * What remains: a child of clone(2) or _Fork() beside other threads has the locks as they are at
 * that moment. One that is held stays held, and the object may be half changed. Such a child must
 * not use libfiber. A thread with a real-time priority that waits for a lock, or for an even count,
 * yields its CPU only to threads of its own priority: as with every lock of os/spin.h.
 */
#include "os/linux/atomic8/atomic8.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "os/os.h"
#include "os/spin.h"

#define LOOKS 64u /* of a load before it yields its CPU */

/* The object is declared as an atomic of 8 bytes elsewhere. */
typedef _Atomic uint32_t __attribute__((may_alias)) word;

static struct lock {
	_Atomic uint32_t held fib_aligned(FIB_CACHE_LINE);
	_Atomic uint32_t changes; /* A: odd while the holder changes an object */
} locks[32];

/* I under all locks: the mask of the thread that forks. */
static uint64_t mask_of_fork;

static struct lock *lock_of(const volatile void *object)
{
	const uintptr_t address = (uintptr_t)object;

	return &locks[(address >> 3 ^ address >> 8) % fib_countof(locks)];
}

/*
 * The kernel's own call: that of the C library leaves out the signals that the library uses. The
 * kernel's set has 8 bytes.
 */
static uint64_t block_signals(void)
{
	const uint64_t all = UINT64_MAX;
	uint64_t before = 0;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
	return before;
}

static void restore_signals(uint64_t before)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
}

static uint64_t words_of(const volatile void *object)
{
	const volatile word *half = object;
	const uint32_t value[2] = {fib_load(&half[0]), fib_load(&half[1])};
	uint64_t whole;

	__builtin_memcpy(&whole, value, sizeof whole);
	return whole;
}

static void set_words(volatile void *object, uint64_t whole)
{
	volatile word *half = object;
	uint32_t value[2];

	__builtin_memcpy(value, &whole, sizeof value);
	fib_store(&half[0], value[0]);
	fib_store(&half[1], value[1]);
}

/*
 * A fence before each seq_cst operation orders it behind all earlier ones of its thread. That is
 * how compilers translate them for this CPU.
 */
static void begin(int order)
{
	if (order == __ATOMIC_SEQ_CST)
		fib_fence_seq();
}

uint64_t fib_os_atomic8_load(const volatile void *object, int order)
{
	struct lock *l = lock_of(object);
	unsigned looks = 0;

	begin(order);
	for (;;) {
		/* pairs: atomic8.changed -- the words of this count, and what was before them. */
		const uint32_t count = fib_load_acquire(&l->changes);
		const uint64_t value = words_of(object);

		/* pairs: atomic8.changing -- words of a change that began make its count visible.
		 */
		fib_fence_acquire();
		if (!(count & 1) && fib_load(&l->changes) == count)
			return value;
		fib_relax();
		if (++looks % LOOKS == 0)
			fib_os_yield();
	}
}

/* Returns the value that the object has. It does not change until leave(). */
static uint64_t enter(struct lock *l, const volatile void *object, int order, uint64_t *ret_mask)
{
	begin(order);
	*ret_mask = block_signals();
	fib_spin_lock(&l->held);
	return words_of(object);
}

static void leave(struct lock *l, uint64_t mask)
{
	fib_spin_unlock(&l->held);
	restore_signals(mask);
}

/* The caller holds the lock. */
static void change(struct lock *l, volatile void *object, uint64_t value)
{
	const uint32_t count = fib_load(&l->changes);

	fib_store(&l->changes, count + 1);
	/* label: atomic8.changing */
	fib_fence_release();
	set_words(object, value);
	/* label: atomic8.changed */
	fib_store_release(&l->changes, count + 2);
}

uint64_t fib_os_atomic8_swap(volatile void *object, uint64_t value, int order)
{
	struct lock *l = lock_of(object);
	uint64_t mask, before = enter(l, object, order, &mask);

	change(l, object, value);
	leave(l, mask);
	return before;
}

void fib_os_atomic8_store(volatile void *object, uint64_t value, int order)
{
	fib_os_atomic8_swap(object, value, order);
}

bool fib_os_atomic8_cas(volatile void *object, void *expected, uint64_t value, int success,
			int failure)
{
	struct lock *l = lock_of(object);
	uint64_t mask, before, wanted;

	(void)failure; /* never stronger than success */
	__builtin_memcpy(&wanted, expected, sizeof wanted);
	before = enter(l, object, success, &mask);
	if (before == wanted)
		change(l, object, value);
	leave(l, mask);
	__builtin_memcpy(expected, &before, sizeof before);
	return before == wanted;
}

#define FETCH(name, result)                                                              \
	uint64_t fib_os_atomic8_##name(volatile void *object, uint64_t value, int order) \
	{                                                                                \
		struct lock *l = lock_of(object);                                        \
		uint64_t mask, before = enter(l, object, order, &mask);                  \
                                                                                         \
		change(l, object, result);                                               \
		leave(l, mask);                                                          \
		return before;                                                           \
	}

FETCH(add, before + value)
FETCH(sub, before - value)
FETCH(and, before &value)
FETCH(or, before | value)
FETCH(xor, before ^ value)

static void before_fork(void)
{
	const uint64_t mask = block_signals();
	unsigned i;

	for (i = 0; i < fib_countof(locks); i++)
		fib_spin_lock(&locks[i].held);
	mask_of_fork = mask;
}

/* In parent and child. */
static void after_fork(void)
{
	const uint64_t mask = mask_of_fork;
	unsigned i;

	for (i = 0; i < fib_countof(locks); i++)
		fib_spin_unlock(&locks[i].held);
	restore_signals(mask);
}

/*
 * The first priority that a program may use: other constructors register their handlers later.
 * Without memory for these a child may hang; nothing else changes.
 */
__attribute__((constructor(101))) static void watch_forks(void)
{
	pthread_atfork(before_fork, after_fork, after_fork);
}
