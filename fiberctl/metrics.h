/* SPDX-License-Identifier: MIT */
/* metrics.h - write the counters of many programs as metric families */
#ifndef FIBERCTL_METRICS_H
#define FIBERCTL_METRICS_H

#include <stdbool.h>

#include "fiberctl/exposition.h"
#include "fiberctl/stats.h"

/* One program that was asked. */
struct ctl_process_stats {
	pid_t pid;	/* 0: not visible in our pid namespace */
	char path[108]; /* of its socket, its name in that case; "" for a snapshot */
	bool answered;	/* false: the rest is invalid */
	struct ctl_stats stats;
};

/* Write all families with the samples of all programs. Nonzero pids are distinct. */
void ctl_metrics_write(struct ctl_sink *out, const struct ctl_process_stats *all, size_t n);

#endif
