/* SPDX-License-Identifier: MIT */
/* recording_texts.h - the texts of a recording by their keys */
#ifndef INS_RECORDING_TEXTS_H
#define INS_RECORDING_TEXTS_H

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
	const char *same; /* the shared pointer of all equal texts; NULL: its own */
};

struct ins_keyed_list {
	struct ins_keyed *at;
	size_t count, room;
};

/* Empty when zero-initialised; on the heap. */
struct ins_recording_texts {
	struct ins_keyed_list list[INS_TEXTS_COUNT];
	int rc; /* an error of ins_recording_take_name() */
};

/* Add a section of texts. -EINVAL: it is damaged; -ENOMEM. */
int ins_recording_take_texts(struct ins_recording_texts *texts, int which, const unsigned char *at,
			     size_t size);

/*
 * Add a part of a fiber's name, in the order of its ring. Errors are returned by
 * ins_recording_name_all().
 */
void ins_recording_take_name(struct ins_recording_texts *texts, const struct fib_event *e);

/*
 * After the last add: take the names of the lists of fibers too, and sort. Lookups work only after
 * this.
 */
int ins_recording_name_all(struct ins_recording *r);

/* NULL: no such text. */
const char *ins_recording_find_text(const struct ins_recording *r, int which, uint64_t key);

void ins_recording_free_texts(struct ins_recording_texts *texts);

#endif
