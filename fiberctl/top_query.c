/* SPDX-License-Identifier: MIT */
/* top_query.c - what `fiberctl top` shows: from its options or from the keyboard */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fiberctl/top.h"

int ctl_top_query(struct ctl_top *top, const struct ins_query_words *words, struct ins_error *error)
{
	const char *where = words->where ? words->where : "";
	const bool all = !where[strspn(where, " ")];
	struct ins_query_words meant = *words;
	char sort[sizeof top->sort];
	struct ins_query query;
	int rc;

	if (strlen(where) >= sizeof top->where)
		return ins_error_set(error, -EINVAL, "--where: longer than %zu bytes",
				     sizeof top->where - 1);
	if (all)
		meant.where = NULL;
	rc = ins_query_parse(&meant, &query, error);
	if (rc < 0)
		return rc;
	ins_query_drop(&top->query);
	top->query = query;
	/* The words may point into top itself. No field name is longer than its buffer. */
	snprintf(sort, sizeof sort, "%s", words->sort);
	memcpy(top->sort, sort, sizeof sort);
	top->group_by = words->group_by;
	memmove(top->where, all ? "" : where, all ? 1 : strlen(where) + 1);
	return 0;
}

struct ins_query_words ctl_top_words(const struct ctl_top *top)
{
	return (struct ins_query_words){
		.where = top->where,
		.sort = top->sort,
		.group_by = top->group_by,
		.limit = INS_QUERY_ALL,
	};
}
