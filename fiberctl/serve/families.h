/* SPDX-License-Identifier: MIT */
/*
 * families.h - join texts for Prometheus
 *
 * In the text of one program each family has its samples below its HELP and TYPE. In the text of
 * several programs all samples of a family must be together, so the texts cannot just follow each
 * other.
 */
#ifndef SERVE_FAMILIES_H
#define SERVE_FAMILIES_H

#include <stddef.h>

struct serve_families {
	struct serve_family *at;
	size_t count, room;
};

/* Add a whole text. Lines that belong to no family are left out. */
void serve_families_add(struct serve_families *families, const char *text);

/* All families in the order in which they came; allocated. NULL: no memory. */
char *serve_families_text(const struct serve_families *families, size_t *ret_size);

void serve_families_drop(struct serve_families *families);

#endif
