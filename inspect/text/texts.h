/* SPDX-License-Identifier: MIT */
/* texts.h - different texts, each kept once and counted. */
#ifndef INS_TEXTS_H
#define INS_TEXTS_H

#include <stddef.h>
#include <stdint.h>

struct ins_text_kept {
	uint64_t count;
	size_t number; /* how many others were kept before it */
	char text[];
};

struct ins_texts;

int ins_texts_new(struct ins_texts **ret);    /* -ENOMEM */
void ins_texts_free(struct ins_texts *texts); /* NULL: nothing */

/* Count n more of text. What is returned stays where it is until the texts is freed; NULL without memory. */
const struct ins_text_kept *ins_texts_add(struct ins_texts *texts, const char *text, uint64_t n);

/* The most frequent first, then by the texts' bytes. After the last add. */
void ins_texts_sort(struct ins_texts *texts);

size_t ins_texts_count(const struct ins_texts *texts);
const struct ins_text_kept *ins_texts_at(const struct ins_texts *texts, size_t i);

#endif
