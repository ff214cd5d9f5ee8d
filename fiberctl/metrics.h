/* SPDX-License-Identifier: MIT */
/* metrics.h - write the counters of many programs as metric families */
#ifndef FIBERCTL_METRICS_H
#define FIBERCTL_METRICS_H

#include "fiberctl/exposition.h"
#include "fiberctl/fleet.h"

/* Write all families with the samples of all programs. Nonzero pids are distinct. */
void ctl_metrics_write(struct ctl_sink *out, const struct ctl_process_stats *all, size_t n);

#endif
