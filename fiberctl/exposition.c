/* SPDX-License-Identifier: MIT */
/* exposition.c - numbers in the text format that Prometheus reads. */
#include "fiberctl/exposition.h"

#include <inttypes.h>
#include <stdbool.h>

#include "inspect/plain.h"

#define SECOND UINT64_C(1000000000)

void ctl_family(FILE *out, const char *name, enum ctl_family_type type, const char *help)
{
	static const char *const types[] = {
		[CTL_COUNTER] = "counter",
		[CTL_GAUGE] = "gauge",
		[CTL_HISTOGRAM] = "histogram",
	};

	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, types[type]);
}

/* A character that may stand neither in a file that is UTF-8 nor on a terminal. */
static bool is_bad(const char *at, size_t n)
{
	const unsigned char first = (unsigned char)at[0];

	if (!n || first < 0x20 || first == 0x7f)
		return true;
	return n == 2 && first == 0xc2 && (unsigned char)at[1] < 0xa0;
}

static void put_value(FILE *out, const char *text)
{
	while (*text) {
		const size_t n = ins_plain_utf8(text);

		if (*text == '\n')
			fputs("\\n", out);
		else if (is_bad(text, n))
			fputs("\xef\xbf\xbd", out);
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

void ctl_sample(FILE *out, const char *name, const char *suffix, const struct ctl_label *labels,
		uint64_t value)
{
	put_series(out, name, suffix, labels);
	fprintf(out, "%" PRIu64 "\n", value);
}

void ctl_sample_seconds(FILE *out, const char *name, const char *suffix,
			const struct ctl_label *labels, uint64_t ns)
{
	put_series(out, name, suffix, labels);
	fprintf(out, "%" PRIu64 ".%09" PRIu64 "\n", ns / SECOND, ns % SECOND);
}
