/* SPDX-License-Identifier: MIT */
/*
 * sole.h - no locked instructions while one carrier is the only thread that uses shared objects
 *
 * A locked instruction costs as much as a switch. A program with one carrier, whose other threads
 * use none of the library's objects, needs none of them to lock a queue, take a mutex or claim a
 * wait. See sole.c for the argument.
 *
 * fib_sole_enter() begins a section in which the caller is alone with all queues, mutexes and
 * parkers, or returns 0. A section must be short; it must not wait, switch or make a system call.
 */
#ifndef FIB_CORE_SOLE_H
#define FIB_CORE_SOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "core_sole.h"
#include "os/spin.h"

enum {
	FIB_SOLE_UNUSED, /* no thread has used an object */
	FIB_SOLE_SHARED, /* several threads use objects; final */
	FIB_SOLE_ENDING, /* the sole thread must not enter a section any more */
			 /* else: fib_sole_thread() of the sole thread */
};

/* For sections that are not counted. */
struct fib_sole_mark {
	_Atomic uint32_t alone;	 /* A: its thread is the sole user: sole.gap */
	_Atomic uint32_t inside; /* its thread writes, A reads: 1 in fib_sole_swap64() */
};

struct fib_sole {
	/* Alone in its cache line: where objects are shared, every use reads it. */
	_Atomic uint64_t user fib_aligned(FIB_CACHE_LINE); /* A: sole.gap; see above */
	_Atomic uint64_t thread;   /* A: the sole thread, also when it ends to be that; 0: none */
	_Atomic uint32_t inside;   /* the sole thread writes, A reads: depth of its sections */
	struct fib_sole_mark mark; /* the sole thread's */
};

extern struct fib_sole fib_sole;

/*
 * The calling thread becomes the sole user, if no other thread has used an object. A carrier that is
 * alone. Returns the mark to use until fib_sole_finish(), which is never freed; NULL: it is not sole.
 */
struct fib_sole_mark *fib_sole_begin(void);

/* The sole thread is about to exit. */
void fib_sole_finish(void);

/* In a forked child: its thread is no carrier. */
void fib_sole_forget(void);

/*
 * The calling thread is about to use an object. If another thread is the sole user, end that: wait
 * until it has left its section. Async-signal-safe.
 */
void fib_sole_share(void);

/* Leave the section. */
static inline void fib_sole_leave(uint32_t section)
{
	/* pairs: sole.left */
	fib_store_release(&fib_sole.inside, section - 1);
}

/* Before an access that is not in a section. */
static inline void fib_sole_check(void)
{
	/* pairs: sole.shared */
	if (fib_unlikely(fib_load_acquire(&fib_sole.user) != FIB_SOLE_SHARED))
		fib_sole_share();
}

/*
 * Enter a section. Returns its number, for fib_sole_leave(); 0: other threads use objects too, and
 * locked instructions are needed.
 */
static inline uint32_t fib_sole_enter(void)
{
	/* pairs: sole.shared -- what the sole thread did before is visible. */
	const uint64_t me = fib_sole_thread(), user = fib_load_acquire(&fib_sole.user);

	if (user == me) {
		/* A signal handler may enter within a section. */
		const uint32_t section = fib_load(&fib_sole.inside) + 1;

		fib_store(&fib_sole.inside, section);
		/* pairs: sole.gap -- the thread that ends this executes the fence for both. */
		fib_fence_compiler();
		if (fib_likely(fib_load(&fib_sole.user) == me))
			return section;
		fib_sole_leave(section);
	}
	if (fib_unlikely(user != FIB_SOLE_SHARED))
		fib_sole_share();
	return 0;
}

/* Enter a section or, if that cannot be, lock. Returns what fib_sole_unlock() takes. */
static inline uint32_t fib_sole_lock(_Atomic uint32_t *lock)
{
	const uint32_t section = fib_sole_enter();

	if (!section)
		fib_spin_lock(lock);
	return section;
}

static inline void fib_sole_unlock(_Atomic uint32_t *lock, uint32_t section)
{
	if (section)
		fib_sole_leave(section);
	else
		fib_spin_unlock(lock);
}

/* fib_cas() of a word that sections use. section: of the caller; 0: none. */
static inline bool fib_sole_cas32_in(uint32_t section, _Atomic uint32_t *p, uint32_t expected,
				     uint32_t v)
{
	return section ? fib_sole_plain_cas32(p, expected, v) : fib_cas(p, &expected, v);
}

static inline bool fib_sole_cas32(_Atomic uint32_t *p, uint32_t expected, uint32_t v)
{
	const uint32_t section = fib_sole_enter();
	const bool done = fib_sole_cas32_in(section, p, expected, v);

	if (section)
		fib_sole_leave(section);
	return done;
}

/*
 * Compare and swap in a section that is not counted. mark: from fib_sole_begin(). Returns 1: swapped;
 * 0: *p is not expected; -1: the thread is not the sole user. No signal handler may call these or use
 * *p: the swap is several instructions. They call no function, like the next one: a caller need not save
 * registers.
 */
#define FIB_SOLE_SWAP(name, word)                                                           \
	static fib_always_inline int name(struct fib_sole_mark *mark, _Atomic word *p,      \
					  word expected, word v)                            \
	{                                                                                   \
		int done = -1;                                                              \
                                                                                            \
		if (!fib_likely(mark != NULL))                                              \
			return done;                                                        \
		fib_store(&mark->inside, 1);                                                \
		fib_fence_compiler(); /* pairs: sole.gap */                                 \
		if (fib_likely(fib_load(&mark->alone))) {                                   \
			if (fib_likely(fib_load(p) == expected)) {                          \
				fib_store(p, v);                                            \
				fib_store_release(&mark->inside, 0); /* pairs: sole.left */ \
				return 1;                                                   \
			}                                                                   \
			done = 0;                                                           \
		}                                                                           \
		fib_store_release(&mark->inside, 0); /* pairs: sole.left */                 \
		return done;                                                                \
	}

/* Once the use has ended the thread need not enter sections in vain. Called from time to time. */
static inline struct fib_sole_mark *fib_sole_still(struct fib_sole_mark *mark)
{
	return mark && fib_load(&mark->alone) ? mark : NULL;
}

FIB_SOLE_SWAP(fib_sole_swap32, uint32_t)
FIB_SOLE_SWAP(fib_sole_swap64, uint64_t)

/* fib_cas(); false, even if *p == expected, unless the user is FIB_SOLE_SHARED. */
static inline bool fib_sole_cas64_shared(_Atomic uint64_t *p, uint64_t expected, uint64_t v)
{
	/* pairs: sole.shared */
	return fib_load_acquire(&fib_sole.user) == FIB_SOLE_SHARED && fib_cas(p, &expected, v);
}

static inline bool fib_sole_cas64(_Atomic uint64_t *p, uint64_t expected, uint64_t v)
{
	const uint32_t section = fib_sole_enter();
	bool done;

	if (!section)
		return fib_cas(p, &expected, v);
	done = fib_sole_plain_cas64(p, expected, v);
	fib_sole_leave(section);
	return done;
}

#endif
