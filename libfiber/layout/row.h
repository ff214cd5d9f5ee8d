/* SPDX-License-Identifier: MIT */
/*
 * row.h - one fiber as a plain record, decoded from the bytes of its registry record
 *
 * The service thread inside the process and the readers outside it do the same: copy the record's
 * bytes, decode them with the layout, and read the wait object through a function that cannot
 * fault. So both give the same answer by construction.
 */
#ifndef FIB_LAYOUT_ROW_H
#define FIB_LAYOUT_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "layout/layout.h"

#define FIB_ROW_CARRIER_NONE 0xffffu
/* In flags: those of the fiber, ... */
#define FIB_ROW_OWN    0x1fu
#define FIB_ROW_FAILED 0x20u /* it has exited with an error, and was not only cancelled */
#define FIB_ROW_FORGOTTEN \
	0x40u /* it waits for an object that has no waiter: a moment before it is woken, or for ever */
#define FIB_ROW_MASKED	0x80u	   /* cancellations do not end its waits now */
#define FIB_ROW_UNKNOWN UINT64_MAX /* unknown value */
#define FIB_ROW_READS	3u

/* Sent over the control socket in this form: natural alignment, no holes; new fields at the end. */
struct fib_row {
	uint64_t id;
	uint64_t parent;
	uint64_t record; /* address of the record in the process */
	uint64_t seq;
	uint64_t sp, fp, pc;
	uint64_t wait_object; /* address; 0: the kind has none */
	uint64_t wait_arg;    /* see FIB_FIELD_WAIT_ARG */
	uint64_t holder;      /* fiber id, FIB_HOLDER_THREAD | tid, 0: none or unknown */
	int64_t deadline;     /* absolute ns, INT64_MAX: none */
	int64_t age;	      /* ns in its state */
	uint64_t switches;
	uint64_t cpu;
	uint64_t stack_low;
	uint64_t stack_size;
	uint64_t stack_used;	   /* 0 while it runs */
	uint64_t stack_high_water; /* FIB_ROW_UNKNOWN if unknown */
	uint64_t spawn_pc;
	uint64_t entry;
	uint8_t state;	   /* enum fiber_state */
	uint8_t wait_kind; /* FIB_WAIT_NONE when it does not wait */
	uint8_t flags;	   /* FIBER_DETACHED ..., FIB_ROW_FAILED, _FORGOTTEN, _MASKED */
	uint8_t cancelled; /* 1: asked to exit; 0 also where the program does not report it */
	uint16_t carrier;  /* FIB_ROW_CARRIER_NONE when it does not run */
	uint16_t pins;
	char name[32];
	char object_name[32];
	uint64_t runnable; /* ns in a run queue; FIB_ROW_UNKNOWN: not counted, as in the next two */
	uint64_t waited;   /* ns suspended */
	uint64_t lived;	   /* ns from submission to exit: cpu + runnable + waited */
	uint64_t labels;   /* address of the block in the process, 0: none */
	char label[FIB_LAYOUT_LABELS]; /* key NUL value NUL ...; fib_row_labels() fills it in */
	uint64_t readers; /* FIB_READERS_* of the rwlock that it waits for; 0: none, or unknown */
	uint64_t reads[FIB_ROW_READS]; /* rwlocks that it holds for reading; 0: a free slot */
	uint32_t reading; /* how many it holds for reading; 0 also where that is not recorded */
	uint32_t toucher; /* of what it waits for: FIB_TOUCHER_SEVERAL; 0: none, or unknown */
	uint64_t held;	  /* FIB_FIELD_HELD; 0 also where that is not recorded, or not sent */
	uint64_t held_at; /* FIB_FIELD_HELD_AT */
	uint64_t runtime; /* FIB_FIELD_RUNTIME; 0 also where that is not recorded, or not sent */
	uint32_t pinned_waits; /* FIB_FIELD_PINNED_WAITS; 0 also without such a wait */
	uint32_t bound;	       /* of a runnable fiber: 1 + the only carrier that runs it; else 0 */
	uint64_t polled;       /* FIB_FIELD_POLLED; 0 also without such a wait, or not sent */
};

/* Copy size bytes at address in the program to buf. Returns 0 or a negative errno; never faults. */
typedef int fib_read_fn(void *reader, uint64_t address, void *buf, size_t size);

/*
 * Decode one record. bytes holds layout->record_size bytes copied from address; layout has passed
 * fib_layout_check(); now is the clock that ages are measured against. Returns false for a free
 * record. Does not read the wait object or the stack's high-water mark (stays FIB_ROW_UNKNOWN).
 */
bool fib_row_decode(const struct fib_layout *layout, const void *bytes, uint64_t address,
		    int64_t now, struct fib_row *ret);

/* Return whether a fiber in that state waits in the way that its record says. running: its sequence
 * number is odd, whatever the state field says; pins: the nesting depth of its pins. */
bool fib_row_waits(uint8_t state, uint8_t wait_kind, bool running, uint16_t pins);

/* How many descriptors a wait is for that is for these alone, as in poll(2); 0: it is another one. */
static inline uint32_t fib_row_polled(const struct fib_row *row)
{
	const uint32_t descriptors = (uint32_t)(row->wait_arg >> 32);

	return row->wait_kind == FIB_WAIT_SELECT && row->wait_arg != FIB_ROW_UNKNOWN &&
			       descriptors == (uint32_t)row->wait_arg
		       ? descriptors
		       : 0;
}

/* Return whether there is something to read about what it waits for. */
static inline bool fib_row_has_object(const struct fib_row *row)
{
	return row->wait_object || row->polled;
}

/* Return whether other fibers may hold for reading what a wait of that kind is for. */
bool fib_row_may_be_read(uint8_t wait_kind);

/* Write "read", "write", "read|priority" ... for the bits of poll(2) that a caller asks for; size: 32 is
 * enough for all. Returns false, and "", if none of them is set. */
bool fib_row_events(unsigned events, char *buf, size_t size);

#define FIB_ROW_POLLED 3u /* so many of the descriptors of a wait are named */

/* Fill in object_name, holder, readers, toucher and FIB_ROW_FORGOTTEN by reading the wait object.
 * The name of a wait for descriptors alone is "25 read, 26 write".
 * Returns 0, or the read function's error when the object cannot be read (it may have been freed
 * meanwhile). */
int fib_row_resolve(const struct fib_layout *layout, struct fib_row *row, fib_read_fn *read,
		    void *reader);

/* Fill in label from the block in the process. Returns 0, the read function's error, or -EAGAIN
 * when the fiber changes its labels faster than they can be read; then the row has none. */
int fib_row_labels(struct fib_row *row, fib_read_fn *read, void *reader);

/* Get the label at *at in a row's labels, or in a copy of them, and advance *at, which starts at 0.
 * Returns false after the last. The last two bytes must be 0. */
bool fib_label_next(const char label[FIB_LAYOUT_LABELS], size_t *at, const char **ret_key,
		    const char **ret_value);

/* fib_label_next() for a row. */
bool fib_row_label(const struct fib_row *row, size_t *at, const char **ret_key,
		   const char **ret_value);

/* Terminate label, so that any contents can be read safely. */
void fib_row_end_labels(struct fib_row *row);

/* Return whether the row's stack can be walked: it exists and the fiber does not run. */
bool fib_row_walkable(const struct fib_row *row);

/* Return whether the saved stack pointer is outside the stack: a frame was larger than the guard,
 * or the fiber waits on a stack that the library did not give it. Then the contents of its stack
 * are unknown. */
bool fib_row_astray(const struct fib_row *row);

/* Return whether the fiber has not started: it has no stack yet, and will start at row->entry. */
bool fib_row_not_started(const struct fib_row *row);

#endif
