/* SPDX-License-Identifier: MIT */
/*
 * labels.c - read a fiber's labels from a block that may change during the read
 *
 * The rule is at struct fib_layout_labels: read owner and generation before and after the text. The
 * bytes come from a foreign process, so terminators in them are not trusted.
 */
#include <errno.h>
#include <string.h>

#include "layout/row.h"

#define LABEL_TRIES 16

/* Two terminators: of a value that was cut, and of the list. */
void fib_row_end_labels(struct fib_row *row)
{
	row->label[sizeof row->label - 1] = row->label[sizeof row->label - 2] = 0;
}

int fib_row_labels(struct fib_row *row, fib_read_fn *read, void *reader)
{
	struct {
		uint64_t owner, generation;
	} before, after;
	unsigned i;
	int rc;

	memset(row->label, 0, sizeof row->label);
	if (!row->labels)
		return 0;
	for (i = 0; i < LABEL_TRIES; i++) {
		rc = read(reader, row->labels, &before, sizeof before);
		if (rc < 0)
			return rc;
		if (before.owner != row->id)
			return 0;
		rc = read(reader,
			  row->labels + offsetof(struct fib_layout_labels, text) +
				  (before.generation & 1) * FIB_LAYOUT_LABELS,
			  row->label, sizeof row->label);
		if (rc == 0)
			rc = read(reader, row->labels, &after, sizeof after);
		if (rc == 0 && memcmp(&before, &after, sizeof before) == 0) {
			fib_row_end_labels(row);
			return 0;
		}
		memset(row->label, 0, sizeof row->label);
		if (rc < 0)
			return rc;
	}
	return -EAGAIN;
}

bool fib_label_next(const char label[FIB_LAYOUT_LABELS], size_t *at, const char **ret_key,
		    const char **ret_value)
{
	const char *key = label + *at;

	if (*at >= FIB_LAYOUT_LABELS || !key[0])
		return false;
	/* Both strings end inside: the last two bytes are 0. */
	*ret_key = key;
	*ret_value = key + strlen(key) + 1;
	*at += strlen(key) + 1;
	*at += strlen(*ret_value) + 1;
	return true;
}

bool fib_row_label(const struct fib_row *row, size_t *at, const char **ret_key,
		   const char **ret_value)
{
	return fib_label_next(row->label, at, ret_key, ret_value);
}
