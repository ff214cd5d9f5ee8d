/* SPDX-License-Identifier: MIT */
/* spans.h - what is at an address: a part of memory, or nothing */
#ifndef INS_SPANS_H
#define INS_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ins_span {
	uint64_t start, end;
	uint32_t kind;	/* the caller's */
	uint32_t index; /* the caller's */
	bool marked;	/* the caller's */
};

/* Empty when zeroed. */
struct ins_spans {
	struct ins_span *at;
	size_t count, room;
	size_t last; /* found last */
};

/* Add a span; an empty one is ignored. -ENOMEM. */
int ins_spans_add(struct ins_spans *spans, uint64_t start, uint64_t end, uint32_t kind,
		  uint32_t index);

/*
 * Sort, and cut spans where others lie over them. After that no two overlap, and ins_spans_find()
 * may be called. kinds: one more than the largest kind; of two that overlap, the one of the larger
 * kind stays whole, of two of one kind the one that begins first. -ENOMEM.
 */
int ins_spans_settle(struct ins_spans *spans, uint32_t kinds);

/* The span that has address, or NULL. */
struct ins_span *ins_spans_find(struct ins_spans *spans, uint64_t address);

void ins_spans_drop(struct ins_spans *spans);

#endif
