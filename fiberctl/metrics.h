/* SPDX-License-Identifier: MIT */
/* metrics.h - what many programs have done so far, as families of numbers, for Prometheus above all. */
#ifndef FIBERCTL_METRICS_H
#define FIBERCTL_METRICS_H

#include <stdbool.h>

#include "fiberctl/exposition.h"
#include "fiberctl/stats.h"

/* One program that was asked. */
struct ctl_process_stats {
	pid_t pid;	/* 0: it cannot be seen from our pid namespace */
	char path[108]; /* of its socket: what it is called then; "" of a snapshot */
	bool answered;	/* else the rest means nothing */
	struct ctl_stats stats;
};

/* Write every family with the samples of all of them. No two have the same pid, but 0. */
void ctl_metrics_write(struct ctl_sink *out, const struct ctl_process_stats *all, size_t n);

#endif
