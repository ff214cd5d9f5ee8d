/* SPDX-License-Identifier: MIT */
/* taking.h - a recording under way: take.c reads events, take_fibers.c who the fibers are. */
#ifndef FIBERTRACE_TAKING_H
#define FIBERTRACE_TAKING_H

#include <stddef.h>

#include "fibertrace/take.h"
#include "inspect/recording.h"
#include "inspect/source.h"
#include "inspect/symbolize.h"
#include "inspect/unwind.h"
#include "wire/record.h"
#include "wire/wire.h"

#define TRACE_ENTRIES 4096
#define TRACE_STACKS  100000 /* that are kept at most */
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
	struct ins_recording_head head;
	struct fib_wire_record_is is;
	struct trace_ring ring[TRACE_RINGS];
	size_t rings;
	uint64_t entry[TRACE_ENTRIES], last_entry;
	size_t entries;
	uint64_t object[TRACE_ENTRIES]; /* those whose names are in the file */
	size_t objects;
	int64_t looked_at, look_every; /* ns */
	struct ins_source *source;
	struct ins_unwinder *unwinder;
	struct ins_symbols *symbols;
	struct ins_walk walk;
	size_t stacks, untaken;
	enum ins_recording_section list;
	bool over; /* the process has ended */
};

/* A function that fibers run: its name is wanted. */
void trace_note_entry(struct trace_taking *t, uint64_t entry);

/* Which fibers there are, into that section; with the stacks of those that wait as they did when it ended. */
int trace_take_fibers(struct trace_taking *t, enum ins_recording_section where, bool stacks);

/* Who waits for something that has a name waits for it now: look, now and then, and not where that would take long. */
int trace_look_for_names(struct trace_taking *t, int64_t now);

/* What addresses and numbers are called. */
int trace_take_words(struct trace_taking *t);

#endif
