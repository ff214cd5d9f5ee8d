/* SPDX-License-Identifier: MIT */
/* metrics_findings.h - write the findings of programs as metric families */
#ifndef FIBERCTL_METRICS_FINDINGS_H
#define FIBERCTL_METRICS_FINDINGS_H

#include "fiberctl/exposition.h"
#include "fiberctl/fleet.h"

/* Write the families with the samples of all programs that were to be looked at. */
void ctl_metrics_findings(struct ctl_sink *out, const struct ctl_process_stats *all, size_t n);

#endif
