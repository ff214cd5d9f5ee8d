/* SPDX-License-Identifier: MIT */
/*
 * render_speedscope.c - write the file format of speedscope
 *
 * Format: https://www.speedscope.app/file-format-schema.json
 *
 * Two profiles of the same samples, one for each value: fibers at a place, and the sum of their ages.
 */
#include "inspect/render/render_flames.h"

#include <inttypes.h>

#include "inspect/text/json_put.h"

static void put_functions(FILE *out, const struct ins_flames *flames)
{
	size_t i;

	fputs("\"shared\":{\"frames\":[", out);
	for (i = 0; i < ins_flames_functions(flames); i++) {
		const struct ins_flame_function *f = ins_flames_function(flames, i);

		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
		ins_json_put_text(out, f->name);
		if (f->file) {
			fputs(",\"file\":", out);
			ins_json_put_text(out, f->file);
		}
		fputc('}', out);
	}
	fputs("]},\n", out);
}

static void put_samples(FILE *out, const struct ins_flames *flames)
{
	size_t i, k;

	fputs("\"samples\":[", out);
	for (i = 0; i < ins_flames_count(flames); i++) {
		const struct ins_flame *f = ins_flames_at(flames, i);

		fputs(i ? ",\n" : "\n", out);
		for (k = 0; k < f->depth; k++)
			fprintf(out, "%c%zu", k ? ',' : '[', f->calls[k].function);
		fputc(']', out);
	}
	fputs("],\n", out);
}

static void put_profile(FILE *out, const struct ins_flames *flames, bool time)
{
	const struct ins_flame_kind *kind = ins_flames_kind(flames);
	size_t i;

	fprintf(out,
		"{\"type\":\"sampled\",\"name\":\"%s\",\"unit\":\"%s\",\"startValue\":0,"
		"\"endValue\":%" PRIu64 ",\n",
		time ? kind->time.title : kind->number.title, time ? "nanoseconds" : "none",
		time ? ins_flames_time(flames) : ins_flames_number(flames));
	put_samples(out, flames);
	fputs("\"weights\":[", out);
	for (i = 0; i < ins_flames_count(flames); i++)
		fprintf(out, "%s%" PRIu64, i ? "," : "",
			time ? ins_flames_at(flames, i)->time : ins_flames_at(flames, i)->number);
	fputs("]}", out);
}

int ins_speedscope_put(FILE *out, const struct ins_flames *flames, const char *title)
{
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
	      "\"exporter\":\"libfiber " FIBER_VERSION "\",\n",
	      out);
	fprintf(out, "\"activeProfileIndex\":%d,\n\"name\":", ins_flames_kind(flames)->by_time);
	ins_json_put_text(out, title);
	fputs(",\n", out);
	put_functions(out, flames);
	fputs("\"profiles\":[\n", out);
	put_profile(out, flames, false);
	fputs(",\n", out);
	put_profile(out, flames, true);
	fputs("]}\n", out);
	return 0;
}
