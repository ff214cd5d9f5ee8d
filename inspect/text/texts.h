/* SPDX-License-Identifier: MIT */
/* texts.h - a set of texts with counts */
#ifndef INS_TEXTS_H
#define INS_TEXTS_H

#include <stddef.h>
#include <stdint.h>

struct ins_text_kept {
	uint64_t count;
	size_t number; /* how many other texts were added before it */
	char text[];
};

struct ins_texts;

int ins_texts_new(struct ins_texts **ret);    /* -ENOMEM */
void ins_texts_free(struct ins_texts *texts); /* NULL: no effect */

/*
 * Add n to the count of text. The result does not move until the set is freed; NULL: out of memory.
 */
const struct ins_text_kept *ins_texts_add(struct ins_texts *texts, const char *text, uint64_t n);

/* Sort by count, the highest first, then by the bytes of the texts. Call it after the last add. */
void ins_texts_sort(struct ins_texts *texts);

size_t ins_texts_count(const struct ins_texts *texts);
const struct ins_text_kept *ins_texts_at(const struct ins_texts *texts, size_t i);

#endif
