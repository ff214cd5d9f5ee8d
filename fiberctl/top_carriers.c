/* SPDX-License-Identifier: MIT */
/* top_carriers.c - read what each carrier does, and keep the previous look */
#include "fiberctl/top.h"
#include "inspect/text/access.h"

int ctl_top_carriers_read(struct ctl_top *top, struct ctl_stats *ret, struct ins_error *error)
{
	char why[INS_ACCESS_EXPLAIN_SIZE];
	int rc = ctl_stats_read_carriers(&top->client, ret, why, sizeof why);

	if (rc == 0)
		return 0;
	if (!why[0])
		ins_access_explain(top->socket.path, INS_ACCESS_CONNECT, rc, why, sizeof why);
	return ins_error_set(error, rc, "%s: %s", top->socket.path, why);
}

void ctl_top_carriers_keep(struct ctl_top *top, const struct ctl_stats *read)
{
	ctl_stats_free(&top->before);
	top->before = top->now;
	top->now = *read;
}

size_t ctl_top_carriers(const struct ctl_top *top)
{
	size_t i, n = 0;

	for (i = 0; i < top->now.count; i++)
		n += top->now.runtimes[i].count;
	return n;
}

struct ctl_top_carrier ctl_top_carrier(const struct ctl_top *top, size_t i)
{
	const struct ctl_stats_runtime *r = top->now.runtimes;

	for (; i >= r->count; r++)
		i -= r->count;
	return (struct ctl_top_carrier){&r->is, &r->carriers[i]};
}
