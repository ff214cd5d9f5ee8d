/* SPDX-License-Identifier: MIT */
/* flames.c - write stacks to files for --svg, --speedscope, --pprof */
#include "tool/cmd/flames.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tool/atomic_file.h"
#include "tool/report.h"
#include "inspect/text/atomic_file.h"
#include "inspect/text/escape.h"
#include "inspect/render/render_flames.h"

static const struct {
	enum tool_option_id option;
	int (*put)(FILE *out, const struct ins_flames *flames, const char *title);
} formats[] = {
	{TOOL_OPT_SVG, ins_svg_put},
	{TOOL_OPT_SPEEDSCOPE, ins_speedscope_put},
	{TOOL_OPT_PPROF, ins_pprof_put},
};

int tool_flames_write(const struct tool_arguments *arguments, const struct ins_flames *flames,
		      const struct ins_source *source)
{
	char title[2 * sizeof source->name], name[4 * sizeof source->name], plain[4096];
	size_t i;

	snprintf(title, sizeof title, "%s (%s, process %d), %" PRIu64 " fiber%s",
		 ins_escape(source->name, name, sizeof source->name), source->kind,
		 (int)source->pid, ins_flames_fibers(flames),
		 ins_flames_fibers(flames) == 1 ? "" : "s");
	tool_atomic_file_guard();
	for (i = 0; i < sizeof formats / sizeof formats[0]; i++) {
		const char *path = arguments->option[formats[i].option];
		const bool force = arguments->option[TOOL_OPT_FORCE] != NULL;
		struct ins_error error = {""};
		struct ins_atomic_file atomic_file;
		int rc;

		if (!path)
			continue;
		rc = ins_atomic_file_begin(&atomic_file, path, force, &error);
		if (rc == 0) {
			rc = formats[i].put(atomic_file.out, flames, title);
			rc = ins_atomic_file_end(&atomic_file, rc, &error);
		}
		if (rc < 0)
			return tool_cannot("%s", error.text[0] ? error.text : strerror(-rc));
		printf("%s: %" PRIu64 " fiber%s, %zu stack%s\n",
		       ins_escape(path, plain, sizeof plain), ins_flames_fibers(flames),
		       ins_flames_fibers(flames) == 1 ? "" : "s", ins_flames_count(flames),
		       ins_flames_count(flames) == 1 ? "" : "s");
	}
	return TOOL_WELL;
}
