/* SPDX-License-Identifier: MIT */
/*
 * profile_ring.h - a ring of samples of variable length, the oldest of which are overwritten
 *
 * One thread at a time uses a ring.
 */
#ifndef FIB_WATCH_PROFILE_RING_H
#define FIB_WATCH_PROFILE_RING_H

#include <stddef.h>
#include <stdint.h>

/* One look at a carrier that used its CPU. The bytes of its fiber's stack follow, from sp upwards. */
struct fib_profile_sample {
	uint64_t number; /* counts from 0 */
	uint64_t fiber;	 /* 0: the carrier ran none */
	int64_t at;	 /* ns */
	int64_t cpu;	 /* CPU time of the carrier since its previous sample, ns */
	uint64_t entry;	 /* the fiber's function */
	uint64_t sp, fp, pc;
	uint64_t stack_all; /* bytes of the stack in use */
	uint32_t stack_size;
	uint32_t carrier;
	uint32_t lack; /* enum fib_longrun_lack */
	uint32_t unused;
	char name[32];
};

struct fib_profile_ring {
	unsigned char *at; /* NULL: not open */
	size_t mapped;	   /* bytes, with the index */
	size_t room;	   /* bytes for samples */
	size_t end;	   /* where the next sample begins, if it fits */
	uint32_t *index;   /* sample n is at at + index[n % slots] */
	uint64_t slots;
	uint64_t first; /* number of the oldest sample */
	uint64_t next;	/* of the next one, which is kept while the ring is closed */
};

/* Map room for `size` bytes of samples, at least 64 KiB. Returns 0 or -ENOMEM. */
int fib_profile_ring_open(struct fib_profile_ring *ring, size_t size);

/* Unmap it. The numbers go on when it is opened again. */
void fib_profile_ring_close(struct fib_profile_ring *ring);

/*
 * Add a copy of a sample and its stack; sets the number. stack_size: at most FIB_LONGRUN_STACK; 0:
 * stack may be NULL.
 */
void fib_profile_ring_add(struct fib_profile_ring *ring, const struct fib_profile_sample *sample,
			  const void *stack);

/* Sample `number`, valid until the next one is added; NULL: it is not in the ring. */
const struct fib_profile_sample *fib_profile_ring_at(const struct fib_profile_ring *ring,
						     uint64_t number);

#endif
