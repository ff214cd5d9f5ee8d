/* SPDX-License-Identifier: MIT */
/*
 * sample.h - sample one fiber from inside the process while it may run
 *
 * For any thread and signal handlers: nothing here locks, waits or allocates.
 */
#ifndef FIB_SERVICE_SAMPLE_H
#define FIB_SERVICE_SAMPLE_H

#include "layout/row.h"

struct fib_os_pipe;
struct fib_sched;

/* A cache of the last object: 50,000 waiters on one mutex cost one look. */
struct fib_sample_object {
	struct fib_row row; /* wait_object 0: none yet */
	int rc;
	struct fib_os_pipe *pipe; /* for reading memory, NULL: none */
	int pagemap;		  /* with a pipe: /proc/self/pagemap, negative: none */
};

/*
 * Sample record `index` of the registry; now: fib_os_now(). False: no fiber has this record. The
 * row gets neither the data of its object nor its high-water mark.
 */
bool fib_sample_row(uint64_t index, int64_t now, struct fib_row *ret);

/* Prefetch record `index`, which will be sampled soon. It need not exist. */
void fib_sample_prefetch(uint64_t index);

/* The id in record `index`, 0 if it is free. Cheap. */
uint64_t fib_sample_id(uint64_t index);

/*
 * Fill in the wanted extras (FIB_WIRE_WANT_HIGH_WATER, _LABELS), which do not depend on the object.
 * pipe: for reading memory, NULL: none; pagemap: /proc/self/pagemap, negative: none. 0, or a
 * negative errno.
 */
int fib_sample_extras(struct fib_row *row, struct fib_os_pipe *pipe, int pagemap, unsigned wanted);

/*
 * Fill in names and holders of the objects of n rows, at most FIB_SAMPLE_OBJECTS, with few system
 * calls. pipe: the caller's, opened here if that pays. ret_rcs[i]: 0, or a negative errno if the
 * object of rows[i] could not be read.
 */
#define FIB_SAMPLE_OBJECTS 64
void fib_sample_objects(struct fib_row rows[], unsigned n, struct fib_os_pipe *pipe, int ret_rcs[]);

/*
 * Fill in the name and holder of the row's object, and the wanted extras. last: the caller's cache,
 * zeroed at the start. 0, or a negative errno if the object or the labels could not be read.
 */
int fib_sample_details(struct fib_row *row, struct fib_sample_object *last, unsigned wanted);

/*
 * Sample a row with its details, all of one moment. If the fiber has moved on meanwhile, it is
 * sampled again; after some tries the object's data is left empty. last: as above. False: no fiber
 * has record `index`. *ret_rc: the result of fib_sample_details(), or 0 if it does not matter.
 */
bool fib_sample_fiber(uint64_t index, int64_t now, struct fib_sample_object *last,
		      struct fib_row *ret, int *ret_rc);

/* The scheduler of the row's fiber; NULL: it has none yet, or the fiber has exited meanwhile. */
const struct fib_sched *fib_sample_sched(const struct fib_row *row);

/*
 * Whether the fiber has neither run nor been woken since the row was sampled. If so, what was read
 * of its wait object meanwhile belongs to the row.
 */
bool fib_sample_current(const struct fib_row *row);

/* Clear what the row says of its object, except the address. */
void fib_sample_forget_object(struct fib_row *row);

/*
 * Sample record `index` and its stack: at most size bytes from the stack pointer upwards, of the
 * same moment as the row. pipe: for reading memory, NULL: none. False: no fiber has this record.
 * *ret_size: bytes copied; *ret_flags: why they are not all (FIB_WIRE_STACK_*).
 */
bool fib_sample_stack(uint64_t index, int64_t now, struct fib_os_pipe *pipe, struct fib_row *row,
		      void *buf, size_t size, uint32_t *ret_size, uint32_t *ret_flags);

#endif
