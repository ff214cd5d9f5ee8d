/* SPDX-License-Identifier: MIT */
/* metric_labels.h - the labels of samples: the program, its runtime and its carrier */
#ifndef FIBERCTL_METRIC_LABELS_H
#define FIBERCTL_METRIC_LABELS_H

#include "fiberctl/exposition.h"
#include "fiberctl/fleet.h"

/* Places of labels. Those of a kind of sample follow the ones of what it belongs to. */
enum {
	CTL_LABEL_PROGRAM,
	CTL_LABEL_PID,
	CTL_LABEL_SERIAL,
	CTL_LABEL_INDEX,
	CTL_LABEL_FREE = CTL_LABEL_SERIAL,
	CTL_LABELS = 6
};

/* The labels of a sample, and their texts. After the last one is one without a name. */
struct ctl_labels {
	char pid[sizeof(((struct ctl_process_stats *)0)->path)], runtime[24], index[16];
	struct ctl_label at[CTL_LABELS];
};

/* Set the labels of a program. Clears all others. */
void ctl_label_process(struct ctl_labels *l, const struct ctl_process_stats *p);

/* Add those of one of its runtimes, and of one of the runtime's carriers. */
void ctl_label_runtime(struct ctl_labels *l, const struct ctl_stats_runtime *r);
void ctl_label_carrier(struct ctl_labels *l, const struct fib_wire_carrier *c);

#endif
