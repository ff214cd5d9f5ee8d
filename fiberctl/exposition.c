/* SPDX-License-Identifier: MIT */
/* exposition.c - write metric families in the text format of Prometheus or as rows of JSON */
#include "fiberctl/exposition.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "inspect/text/escape.h"
#include "inspect/render/render.h"

#define SECOND UINT64_C(1000000000)

void ctl_family(struct ctl_sink *sink, const char *name, enum ctl_family_type type,
		const char *help)
{
	static const char *const types[] = {
		[CTL_COUNTER] = "counter",
		[CTL_GAUGE] = "gauge",
		[CTL_HISTOGRAM] = "histogram",
	};

	if (!sink->json) {
		fprintf(sink->out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, types[type]);
		return;
	}
	ctl_families_end(sink);
	sink->samples = json_array();
	sink->family = json_pack("{s:s, s:s, s:s, s:o}", "name", name, "help", help, "type",
				 types[type], "samples", sink->samples);
	if (!sink->family) {
		sink->samples = NULL;
		sink->json->failed = true;
	}
}

void ctl_families_end(struct ctl_sink *sink)
{
	if (sink->family)
		ins_json_row(sink->json, sink->family);
	sink->family = sink->samples = NULL;
}

/*
 * The format has three escapes: for a backslash, a quote and a newline. Other unprintable bytes
 * (escape.h) become \xNN as in all texts of the tools, and the backslash of that is escaped.
 */
static void put_value(FILE *out, const char *text)
{
	while (*text) {
		const size_t n = ins_utf8_printable(text);

		if (*text == '\n')
			fputs("\\n", out);
		else if (!n)
			fprintf(out, "\\\\x%02x", (unsigned char)*text);
		else if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else
			fwrite(text, 1, n, out);
		text += n ? n : 1;
	}
}

static void put_series(FILE *out, const char *name, const char *suffix,
		       const struct ctl_label *labels)
{
	const char *before = "{";

	fprintf(out, "%s%s", name, suffix);
	for (; labels->name; labels++) {
		fprintf(out, "%s%s=\"", before, labels->name);
		put_value(out, labels->value);
		putc('"', out);
		before = ",";
	}
	fputs(*before == ',' ? "} " : " ", out);
}

/* Takes over value. */
static void add_sample(struct ctl_sink *sink, const char *suffix, const struct ctl_label *labels,
		       json_t *value)
{
	json_t *object = json_object();

	for (; labels->name; labels++)
		if (json_object_set_new(object, labels->name, ins_json_text(labels->value)) < 0)
			sink->json->failed = true;
	if (json_array_append_new(sink->samples, json_pack("{s:o, s:s, s:o}", "labels", object,
							   "suffix", suffix, "value", value)) < 0)
		sink->json->failed = true;
}

void ctl_sample(struct ctl_sink *sink, const char *name, const char *suffix,
		const struct ctl_label *labels, uint64_t value)
{
	if (sink->json) {
		add_sample(sink, suffix, labels, json_integer((json_int_t)value));
		return;
	}
	put_series(sink->out, name, suffix, labels);
	fprintf(sink->out, "%" PRIu64 "\n", value);
}

void ctl_sample_seconds(struct ctl_sink *sink, const char *name, const char *suffix,
			const struct ctl_label *labels, uint64_t ns)
{
	char text[32];

	snprintf(text, sizeof text, "%" PRIu64 ".%09" PRIu64, ns / SECOND, ns % SECOND);
	if (sink->json) {
		add_sample(sink, suffix, labels, json_real(strtod(text, NULL)));
		return;
	}
	put_series(sink->out, name, suffix, labels);
	fprintf(sink->out, "%s\n", text);
}
