/* SPDX-License-Identifier: MIT */
/* top_where.c - the condition of `fiberctl top`: from --where, or typed on its screen */
#include <errno.h>
#include <string.h>

#include "fiberctl/top.h"

int ctl_top_where(struct ctl_top *top, const char *text, struct ins_error *error)
{
	struct ins_select *select = NULL;
	int rc;

	if (strlen(text) >= sizeof top->where)
		return ins_error_set(error, -EINVAL, "--where: longer than %zu bytes",
				     sizeof top->where - 1);
	if (text[strspn(text, " ")]) {
		rc = ins_select_parse(text, &select, error);
		if (rc < 0)
			return rc;
	}
	ins_select_free(top->select);
	top->wish.select = top->select = select;
	strcpy(top->where, select ? text : "");
	return 0;
}
