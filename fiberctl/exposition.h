/* SPDX-License-Identifier: MIT */
/*
 * exposition.h - numbers in the text format that Prometheus reads
 *
 * A family is what has one name, one meaning and one type; its samples follow its head, each with labels that no other
 * has. Names are those of whoever calls; values of labels may be anything, and are made valid.
 */
#ifndef FIBERCTL_EXPOSITION_H
#define FIBERCTL_EXPOSITION_H

#include <stdint.h>
#include <stdio.h>

enum ctl_family_type { CTL_COUNTER, CTL_GAUGE, CTL_HISTOGRAM };

void ctl_family(FILE *out, const char *name, enum ctl_family_type type, const char *help);

/* The labels of a sample, up to one without a name. */
struct ctl_label {
	const char *name, *value;
};

/* name and suffix ("", "_bucket") are put together. */
void ctl_sample(FILE *out, const char *name, const char *suffix, const struct ctl_label *labels,
		uint64_t value);
/* The same of a length of time, which is in ns and is written in seconds. */
void ctl_sample_seconds(FILE *out, const char *name, const char *suffix,
			const struct ctl_label *labels, uint64_t ns);

#endif
