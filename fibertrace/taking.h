/* SPDX-License-Identifier: MIT */
/*
 * taking.h - the state of a running recording
 *
 * take.c starts and ends it. take_rings.c reads events, take_names.c finds names, take_stacks.c
 * samples stacks, take_fibers.c lists the fibers.
 */
#ifndef FIBERTRACE_TAKING_H
#define FIBERTRACE_TAKING_H

#include <stddef.h>

#include "fibertrace/take.h"
#include "inspect/text/pairs.h"
#include "inspect/recording/recording_write.h"
#include "inspect/model/source.h"
#include "inspect/symbols/symbolize.h"
#include "inspect/unwind/unwind.h"
#include "wire/record.h"
#include "wire/client.h"

#define TRACE_ENTRIES 4096
#define TRACE_SAMPLES 2000000 /* that are kept at most: 128 MB */
#define TRACE_SHAPES  100000  /* different stacks that are kept at most */
#define TRACE_RINGS   4096

struct trace_ring {
	uint64_t runtime, lost;
	uint32_t carrier;
};

struct trace_taking {
	const struct trace_take *how;
	struct trace_taken *taken;
	struct ins_error *error;
	struct fib_wire_client client;
	struct ins_recording_writer *writer;
	struct fib_recording_head head;
	struct fib_wire_record_is is;
	struct trace_ring ring[TRACE_RINGS];
	size_t rings;
	uint64_t reading; /* events in this reading */
	uint64_t entry[TRACE_ENTRIES], last_entry;
	size_t entries;
	uint64_t object[TRACE_ENTRIES]; /* objects whose names are in the file */
	size_t objects;
	int64_t looked_at, look_every; /* last look for names and its interval; ns */
	struct ins_source *source;
	struct ins_unwinder *unwinder;
	struct ins_symbols *symbols;
	struct ins_walk walk;
	struct ins_pairs shapes; /* hash of the walk to number of the shape - 1 */
	struct trace_shape {
		size_t count;
		uint64_t *pc;
	} * shape;
	size_t shape_room, samples, untaken;
	struct fib_recording_look look; /* the current look */
	int64_t stacks_at;		/* time of the next look; ns */
	int64_t read_at;		/* time of the last reading of the rings */
	enum fib_recording_section list;
	bool reads; /* the recording is running */
	bool over;  /* the process has ended */
};

/* -- take_rings.c -- */

#define TRACE_READ_EVERY INT64_C(20000000) /* ns between two readings of the rings */

int64_t trace_now(void); /* ns, CLOCK_MONOTONIC */

/*
 * Send one request on the rings and take the answer. Returns 0, or a negative errno with t->error
 * set. The end of the process during a READ is no error and sets t->over.
 */
int trace_ask_rings(struct trace_taking *t, enum fib_wire_record_what what);

/* Set t->error for rc, a negative errno. why: the process' own words, may be NULL. Returns rc. */
int trace_refused(struct trace_taking *t, int rc, const char *why);

/* Read the rings, unless they were just read. Long operations call this repeatedly. */
int trace_read_rings(struct trace_taking *t);

/* -- take_names.c -- */

/* Note a function whose name is needed. */
void trace_note_entry(struct trace_taking *t, uint64_t entry);

/* Note the name of the object that the fiber waits for, if any. */
int trace_note_name(struct trace_taking *t, const struct fib_row *row);

/* Read the names of objects from time to time, but not if that would take long. */
int trace_look_for_names(struct trace_taking *t, int64_t now);

/* Write the names of states, kinds of wait and functions. */
int trace_take_words(struct trace_taking *t);

/* -- take_stacks.c -- */

/* Sample all stacks if it is time. */
int trace_look_at_stacks(struct trace_taking *t);

/* Begin a look, add a fiber with its stack, end the look. */
void trace_begin_look(struct trace_taking *t);
int trace_put_sample(struct trace_taking *t, const struct ins_fiber *fiber);
int trace_end_look(struct trace_taking *t);
void trace_drop_shapes(struct trace_taking *t);

/* -- take_fibers.c -- */

/* Write the list of fibers into that section; LAST includes their stacks. */
int trace_take_fibers(struct trace_taking *t, enum fib_recording_section where);

#endif
