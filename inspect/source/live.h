/* SPDX-License-Identifier: MIT */
/*
 * live.h - the private data of a live source: source_live.c walks the records, live_copy.c copies a
 * fiber, live_many.c copies many records at once
 */
#ifndef INS_LIVE_H
#define INS_LIVE_H

#include "inspect/model/source.h"
#include "inspect/process/memory.h"
#include "inspect/process/present.h"
#include "inspect/process/runner.h"
#include "inspect/source/reading.h"

struct ins_live {
	struct ins_source source;
	struct ins_memory memory;
	struct ins_present *present;
	int pagemap; /* -1: cannot be opened */
	unsigned char *record;
	unsigned char *stack;
	size_t stack_room;
	struct ins_live_many *many;  /* NULL: not used yet */
	struct ins_runners *runners; /* NULL: no thread is stopped */
	struct ins_reading reading;  /* stacks_left: counts long stacks only */
};

/* The source's memory function. */
int ins_live_memory(void *source, uint64_t address, void *buf, size_t size);

void ins_live_free_stack(struct ins_live *l);

/* Set limits on what the next read may copy. */
void ins_live_limit(struct ins_live *l);

/*
 * Copy the fiber that fiber->row described a moment ago, with its stack if the request asks for it.
 * False: the fiber has exited, or its record can no longer be read.
 */
bool ins_live_copy(struct ins_live *l, struct ins_fiber *fiber);

/* -- live_many.c -- */

/*
 * Copy the fiber whose record is at address, without its stack, from a copy of many records that is
 * renewed if it does not have the record. False: it moved during that copy, has exited, or cannot be
 * read so; ins_live_copy() may still do.
 */
bool ins_live_many(struct ins_live *l, uint64_t address, struct ins_fiber *fiber);
/* Forget that copy: a new reading begins. */
void ins_live_many_begin(struct ins_live *l);
void ins_live_many_free(struct ins_live *l);

#endif
