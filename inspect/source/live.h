/* SPDX-License-Identifier: MIT */
/* live.h - what the source of a live process keeps for itself: source_live.c goes through the records, live_copy.c copies a fiber. */
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
	int pagemap; /* -1: not to be had */
	unsigned char *record;
	unsigned char *stack;
	size_t stack_room;
	struct ins_runners *runners; /* NULL: nobody is stopped */
	struct ins_reading reading;  /* stacks_left: of long stacks only */
};

/* The source's memory function. */
int ins_live_memory(void *source, uint64_t address, void *buf, size_t size);

void ins_live_free_stack(struct ins_live *l);

/* What the next read may cost. */
void ins_live_limit(struct ins_live *l);

/*
 * Copy the fiber that fiber->row saw a moment ago, with its stack where the request asks for it. False: it has ended, or its
 * record cannot be read any more.
 */
bool ins_live_copy(struct ins_live *l, struct ins_fiber *fiber);

#endif
