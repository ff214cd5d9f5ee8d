/* SPDX-License-Identifier: MIT */
/*
 * exposition.h - write metric families in the text format of Prometheus or as rows of JSON
 *
 * A family has one name, one meaning and one type. Its samples follow its head and have distinct
 * labels. The caller provides valid names; label values may have any bytes and are escaped. Both
 * forms have the same numbers.
 */
#ifndef FIBERCTL_EXPOSITION_H
#define FIBERCTL_EXPOSITION_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

struct ins_json;

/*
 * The output: {.out = ...} writes text; {.json = ...} is an answer whose rows are families, {name,
 * help, type, samples: [{labels, suffix, value}]}. The caller owns both.
 */
struct ctl_sink {
	FILE *out;
	struct ins_json *json;
	json_t *samples; /* of the open family; owned by ... */
	json_t *family;	 /* ... this object, until it is a row */
};

enum ctl_family_type { CTL_COUNTER, CTL_GAUGE, CTL_HISTOGRAM };

void ctl_family(struct ctl_sink *sink, const char *name, enum ctl_family_type type,
		const char *help);

/* The labels of a sample; the last one has no name. */
struct ctl_label {
	const char *name, *value;
};

/* The name of the sample is name, the family's, and suffix ("", "_bucket"). */
void ctl_sample(struct ctl_sink *sink, const char *name, const char *suffix,
		const struct ctl_label *labels, uint64_t value);
/* Write a length of time, given in ns, in seconds. */
void ctl_sample_seconds(struct ctl_sink *sink, const char *name, const char *suffix,
			const struct ctl_label *labels, uint64_t ns);

/* Call it after the last family. */
void ctl_families_end(struct ctl_sink *sink);

#endif
