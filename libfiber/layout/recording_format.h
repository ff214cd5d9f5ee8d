/* SPDX-License-Identifier: MIT */
/*
 * recording_format.h - the file of a recording
 *
 * The file has a head, then sections until its end. A section is a type, a size and that many
 * bytes. A reader skips unknown types. Numbers are in the byte order of the machine that recorded; a reader with
 * another one converts them.
 */
#ifndef FIB_LAYOUT_RECORDING_FORMAT_H
#define FIB_LAYOUT_RECORDING_FORMAT_H

#include <stdint.h>

#define FIB_RECORDING_MAGIC   "fibrrec\n"
#define FIB_RECORDING_VERSION 1u
#define FIB_RECORDING_MAX     ((uint64_t)4 << 30) /* largest file that is read */

struct fib_recording_head {
	char magic[8];
	uint32_t version;
	uint32_t order; /* FIB_RECORDING_ORDER in the writer's byte order */
	int32_t pid;
	uint32_t ring_events; /* capacity of a ring */
	int64_t wall;	      /* ns of CLOCK_REALTIME at the end */
	int64_t began, ended; /* ns of CLOCK_MONOTONIC; ended 0: the file is incomplete */
	char name[64];	      /* of the program */
	char host[64];
};
#define FIB_RECORDING_ORDER 0x01020304u

/* A section of texts has any number of struct fib_recording_text, each followed by its text. */
enum fib_recording_section {
	FIB_RECORDING_CLOCKS = 1, /* struct fib_recording_clock... */
	FIB_RECORDING_EVENTS = 2, /* struct fib_recording_events, then events */
	FIB_RECORDING_FIBERS = 3, /* struct fib_recording_fiber...: the fibers at the start */
	FIB_RECORDING_LAST = 4,	  /* struct fib_recording_fiber...: the fibers at the end */
	FIB_RECORDING_PLACES = 5, /* texts: names of functions, by address */
	FIB_RECORDING_STACKS =
		6, /* texts of older writers: stacks of fibers that waited at the end */
	FIB_RECORDING_WORDS = 7,    /* texts: 0..: wait kinds; 256..: states */
	FIB_RECORDING_OBJECTS = 8,  /* texts: names of objects that were waited for, by address */
	FIB_RECORDING_SHAPES = 9,   /* texts: stacks by a number from 1, outermost first */
	FIB_RECORDING_SAMPLES = 10, /* struct fib_recording_sample...: where fibers waited */
	FIB_RECORDING_LOOKS = 11,   /* struct fib_recording_look...: when stacks were sampled */
};

struct fib_recording_part {
	uint32_t type; /* enum fib_recording_section */
	uint32_t unused;
	uint64_t size; /* of the contents */
};

struct fib_recording_clock {
	uint64_t time; /* ticks */
	int64_t ns;    /* CLOCK_MONOTONIC at that moment */
};

struct fib_recording_events {
	uint64_t runtime;
	uint32_t carrier; /* FIB_EVENT_OUTSIDE: the ring of all other threads */
	uint32_t count;
	uint64_t lost; /* events lost before these, since the last ones of this ring */
};

struct fib_recording_fiber {
	uint64_t id, entry, wait_object, wait_arg, parent;
	int64_t since; /* ns of CLOCK_MONOTONIC */
	int64_t seen;  /* ns of CLOCK_MONOTONIC: a moment before the fiber was read */
	uint8_t state, wait_kind;
	uint16_t carrier;
	uint32_t unused;
	char name[32];
	char object_name[32];
};

/*
 * At some moment between from and to the fiber was in this wait, with this stack. Times are ns of
 * CLOCK_MONOTONIC.
 */
struct fib_recording_sample {
	uint64_t fiber;
	uint64_t stack; /* its number */
	uint64_t wait_object, wait_arg;
	int64_t since; /* of the coarse clock: the wait did not start earlier */
	int64_t from, to;
	uint8_t wait_kind;
	uint8_t unused[7];
};

/* One round of sampling: all its stacks were read in this time. */
struct fib_recording_look {
	int64_t from, to;
	uint64_t fibers; /* that existed */
	uint64_t stacks; /* that were kept; the others ran, ... */
	uint64_t left;	 /* ... or the file had no room for them */
};

struct fib_recording_text {
	uint64_t key; /* an address, a fiber's id, a number */
	uint32_t size;
	uint32_t unused;
};

#endif
