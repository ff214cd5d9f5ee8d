/* SPDX-License-Identifier: MIT */
/*
 * exposition.h - families of numbers, in the text format that Prometheus reads or as rows of JSON
 *
 * A family is what has one name, one meaning and one type; its samples follow its head, each with labels that no other
 * has. Names are those of whoever calls; values of labels may be anything, and are made valid. The numbers are the same
 * in both forms.
 */
#ifndef FIBERCTL_EXPOSITION_H
#define FIBERCTL_EXPOSITION_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

struct ins_json;

/* Where they go: {.out = ...} is text; {.json = ...} is an answer whose rows are families, {name, help, type, samples: [{labels,
 * suffix, value}]}. Both are the caller's. */
struct ctl_sink {
	FILE *out;
	struct ins_json *json;
	json_t *samples; /* of the family that is open; it is owned by ... */
	json_t *family;	 /* ... this, until it is a row */
};

enum ctl_family_type { CTL_COUNTER, CTL_GAUGE, CTL_HISTOGRAM };

void ctl_family(struct ctl_sink *sink, const char *name, enum ctl_family_type type,
		const char *help);

/* The labels of a sample, up to one without a name. */
struct ctl_label {
	const char *name, *value;
};

/* name, which is that of the family, and suffix ("", "_bucket") are put together. */
void ctl_sample(struct ctl_sink *sink, const char *name, const char *suffix,
		const struct ctl_label *labels, uint64_t value);
/* The same of a length of time, which is in ns and is written in seconds. */
void ctl_sample_seconds(struct ctl_sink *sink, const char *name, const char *suffix,
			const struct ctl_label *labels, uint64_t ns);

/* There is no other family. */
void ctl_families_end(struct ctl_sink *sink);

#endif
