/* SPDX-License-Identifier: MIT */
/* account_rows.c - add times without overflow */
#include "inspect/recording/account_rows.h"

void ins_add_ns(int64_t *to, int64_t ns)
{
	if (__builtin_add_overflow(*to, ns, to))
		*to = INT64_MAX;
}

int64_t ins_slice_length(const struct ins_slice *s)
{
	int64_t ns;

	return __builtin_sub_overflow(s->to, s->from, &ns) ? INT64_MAX : ns;
}
