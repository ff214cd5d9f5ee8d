/* SPDX-License-Identifier: MIT */
/*
 * sample.h - one fiber, looked at from inside the process while it may run
 *
 * By any thread, and in a signal handler: nothing here locks, waits or allocates.
 */
#ifndef FIB_SERVICE_SAMPLE_H
#define FIB_SERVICE_SAMPLE_H

#include "layout/row.h"

struct fib_os_pipe;
struct fib_sched;

/* The object that was looked at last: fifty thousand waiters on one mutex cost one look. */
struct fib_sample_object {
	struct fib_row row; /* wait_object 0: none yet */
	int rc;
	struct fib_os_pipe *pipe; /* to read through, NULL: none */
	int pagemap;		  /* with a pipe: /proc/self/pagemap, negative: none */
};

/* Sample record index of the registry; now is fib_os_now(). False when no fiber lives in it. The row
 * knows neither its object nor its high-water mark. */
bool fib_sample_row(uint64_t index, int64_t now, struct fib_row *ret);

/* Record index will be sampled soon: have its memory fetched. It need not exist. */
void fib_sample_prefetch(uint64_t index);

/* The id in record index, 0 when it is free. Cheap. */
uint64_t fib_sample_id(uint64_t index);

/* Fill in the part of a row's details that is wanted (FIB_WIRE_WANT_HIGH_WATER, _LABELS) and has nothing to do with
 * its object. pipe: to read through, NULL: none; pagemap: /proc/self/pagemap, negative: none. 0, or a negative errno. */
int fib_sample_extras(struct fib_row *row, struct fib_os_pipe *pipe, int pagemap, unsigned wanted);

/* What the objects of n rows, at most FIB_SAMPLE_OBJECTS, are called and who holds them, with few system
 * calls. pipe: the caller's, opened here when it is worth that. ret_rcs[i]: 0, or a negative errno when that of
 * rows[i] could not be read. */
#define FIB_SAMPLE_OBJECTS 64
void fib_sample_objects(struct fib_row rows[], unsigned n, struct fib_os_pipe *pipe, int ret_rcs[]);

/* Fill in what the row's object is called and who holds it, and the extras that are wanted. last is the caller's and
 * starts zeroed. 0, or a negative errno when the object or the labels could not be read. */
int fib_sample_details(struct fib_row *row, struct fib_sample_object *last, unsigned wanted);

/*
 * A row with its details, all of one moment: for a fiber that has moved on meanwhile it looks again, and in the end
 * says nothing of the object. last as above. False when no fiber lives in record index; *ret_rc is what
 * fib_sample_details() said, 0 when that does not matter.
 */
bool fib_sample_fiber(uint64_t index, int64_t now, struct fib_sample_object *last,
		      struct fib_row *ret, int *ret_rc);

/* The scheduler of the row's fiber, NULL while it has none or when the fiber has ended meanwhile. */
const struct fib_sched *fib_sample_sched(const struct fib_row *row);

/* Whether the fiber has neither run nor been woken since row was taken: what was read meanwhile, its
 * wait object, belongs to the row. */
bool fib_sample_current(const struct fib_row *row);

/* Nothing is known of the object but its address. */
void fib_sample_forget_object(struct fib_row *row);

/*
 * Sample record index together with its stack: at most size bytes from its stack pointer upwards,
 * of the same moment as the row. pipe: to read it through, NULL: none. False when no fiber lives in it. *ret_size bytes were
 * copied, and *ret_flags says why they are not all of them (FIB_WIRE_STACK_*).
 */
bool fib_sample_stack(uint64_t index, int64_t now, struct fib_os_pipe *pipe, struct fib_row *row,
		      void *buf, size_t size, uint32_t *ret_size, uint32_t *ret_flags);

#endif
