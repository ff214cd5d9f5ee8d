/* SPDX-License-Identifier: MIT */
/* flames.c - write stacks to files for --svg, --speedscope, --pprof, -o */
#include "tool/cmd/flames.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tool/atomic_file.h"
#include "tool/report.h"
#include "inspect/text/duration.h"
#include "inspect/text/atomic_file.h"
#include "inspect/text/escape.h"
#include "inspect/render/render_flames.h"

typedef int put_fn(FILE *out, const struct ins_flames *flames, const char *title);

static const struct {
	enum tool_option_id option;
	put_fn *put;
} formats[] = {
	{TOOL_OPT_SVG, ins_svg_put},
	{TOOL_OPT_SPEEDSCOPE, ins_speedscope_put},
	{TOOL_OPT_PPROF, ins_pprof_put},
	{TOOL_OPT_OUTPUT, ins_pprof_put},
};

/* "12 fibers", "1 sample". Returns buf. */
static const char *say_number(const struct ins_flames *flames, char *buf, size_t size)
{
	const uint64_t n = ins_flames_number(flames);

	snprintf(buf, size, "%" PRIu64 " %s%s", n, ins_flames_kind(flames)->one, n == 1 ? "" : "s");
	return buf;
}

static void say_title(const struct ins_flames *flames, const struct ins_source *source, char *buf,
		      size_t size)
{
	const struct ins_flame_span span = ins_flames_span(flames);
	char name[4 * sizeof source->name], number[64], took[32];

	snprintf(buf, size, "%s (%s, process %d), %s",
		 ins_escape(source->name, name, sizeof source->name), source->kind,
		 (int)source->pid, say_number(flames, number, sizeof number));
	if (span.took)
		snprintf(buf + strlen(buf), size - strlen(buf), " in %s: %s",
			 ins_duration_text(span.took, took, sizeof took),
			 ins_flames_kind(flames)->time.title);
}

static int write_file(const char *path, bool force, put_fn *put, const struct ins_flames *flames,
		      const char *title)
{
	struct ins_error error = {""};
	struct ins_atomic_file atomic_file;
	int rc = ins_atomic_file_begin(&atomic_file, path, force, &error);

	if (rc == 0) {
		rc = put(atomic_file.out, flames, title);
		rc = ins_atomic_file_end(&atomic_file, rc, &error);
	}
	return rc < 0 ? tool_cannot("%s", error.text[0] ? error.text : strerror(-rc)) : TOOL_WELL;
}

static bool is_output(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

int tool_flames_write(const struct tool_arguments *arguments, const struct ins_flames *flames,
		      const struct ins_source *source)
{
	const bool quiet = tool_flames_to_output(arguments) > 0;
	char title[4 * sizeof source->name + 128], plain[4096], number[64];
	size_t i;

	say_title(flames, source, title, sizeof title);
	tool_atomic_file_guard();
	for (i = 0; i < sizeof formats / sizeof formats[0]; i++) {
		const char *path = arguments->option[formats[i].option];
		int code;

		if (!path)
			continue;
		if (is_output(path)) {
			if (formats[i].put(stdout, flames, title) < 0)
				return tool_cannot("out of memory");
			continue;
		}
		code = write_file(path, arguments->option[TOOL_OPT_FORCE] != NULL, formats[i].put,
				  flames, title);
		if (code != TOOL_WELL)
			return code;
		if (!quiet)
			printf("%s: %s, %zu stack%s\n", ins_escape(path, plain, sizeof plain),
			       say_number(flames, number, sizeof number), ins_flames_count(flames),
			       ins_flames_count(flames) == 1 ? "" : "s");
	}
	return TOOL_WELL;
}

unsigned tool_flames_to_output(const struct tool_arguments *arguments)
{
	unsigned count = 0;
	size_t i;

	for (i = 0; i < sizeof formats / sizeof formats[0]; i++)
		count += is_output(arguments->option[formats[i].option]);
	return count;
}
