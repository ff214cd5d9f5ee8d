/* SPDX-License-Identifier: MIT */
/* recording_inside.h - what a recording keeps for itself: recording.c reads, recording_texts.c finds. */
#ifndef INS_RECORDING_INSIDE_H
#define INS_RECORDING_INSIDE_H

#include "inspect/recording/recording.h"

enum {
	INS_TEXTS_PLACES,
	INS_TEXTS_STACKS,
	INS_TEXTS_WORDS,
	INS_TEXTS_NAMES,
	INS_TEXTS_OBJECTS,
	INS_TEXTS_SHAPES,
	INS_TEXTS_COUNT
};

struct ins_keyed {
	uint64_t key;
	char *text;
	const char *same; /* the text of all that have the same one; NULL: its own */
};

struct ins_keyed_list {
	struct ins_keyed *at;
	size_t count, room;
	bool sorted;
};

/* Where the reading of a ring has come to. */
struct ins_ring_end {
	int64_t latest; /* event so far, ns */
	uint64_t lost;	/* events behind that */
};

struct ins_recording_inside {
	struct ins_recording_clock *clock;
	size_t clocks;
	struct ins_ring_end *ring_end;
	uint32_t *sorted; /* the rings, by runtime and carrier */
	struct ins_keyed_list texts[INS_TEXTS_COUNT];
	int rc; /* of what cannot say so itself */
};

/* Append size bytes of elements of `each` bytes to *array. -ENOMEM, -EINVAL. */
int ins_recording_grow(void **array, size_t *count, size_t each, const void *bytes, size_t size);

/* A section of texts; a piece of a name; everything that has a name. */
int ins_recording_take_texts(struct ins_recording_inside *in, int which, const unsigned char *at,
			     size_t size);
void ins_recording_take_name(struct ins_recording_inside *in, const struct fib_event *e);
int ins_recording_name_all(struct ins_recording *r, struct ins_recording_inside *in);
const char *ins_recording_find_text(const struct ins_recording *r, int which, uint64_t key);

/* Put the samples in order, after everything was read; an older recording's stacks become some. -ENOMEM. */
int ins_recording_sort_samples(struct ins_recording *r);

#endif
