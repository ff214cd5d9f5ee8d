/* SPDX-License-Identifier: MIT */
/* metric_labels.c - the labels of samples: the program, its runtime and its carrier */
#include "fiberctl/metric_labels.h"

#include <stdio.h>
#include <string.h>

void ctl_label_process(struct ctl_labels *l, const struct ctl_process_stats *p)
{
	memset(l->at, 0, sizeof l->at);
	if (p->pid || !p->path[0])
		snprintf(l->pid, sizeof l->pid, "%d", (int)p->pid);
	else
		snprintf(l->pid, sizeof l->pid, "%s", p->path);
	l->at[CTL_LABEL_PROGRAM] = (struct ctl_label){"program", p->stats.process.name};
	l->at[CTL_LABEL_PID] = (struct ctl_label){"pid", l->pid};
}

void ctl_label_runtime(struct ctl_labels *l, const struct ctl_stats_runtime *r)
{
	snprintf(l->runtime, sizeof l->runtime, "%llu", (unsigned long long)r->is.serial);
	l->at[CTL_LABEL_SERIAL] = (struct ctl_label){"runtime", l->runtime};
}

void ctl_label_carrier(struct ctl_labels *l, const struct fib_wire_carrier *c)
{
	snprintf(l->index, sizeof l->index, "%u", c->index);
	l->at[CTL_LABEL_INDEX] = (struct ctl_label){"carrier", l->index};
}
