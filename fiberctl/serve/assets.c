/* SPDX-License-Identifier: MIT */
/*
 * assets.c - the files of the page, which are inside the tool
 *
 * scripts/embed.sh makes a table of the files in share/, of d3 where it was found at build time, and of
 * openapi.json with the schemas that it refers to.
 * The page of a report has its script inside; here it is a file of its own.
 */
#include "fiberctl/serve/assets.h"

#include <string.h>

struct file {
	const char *name, *begin, *end;
};

extern const struct file serve_files[]; /* the last one has no name */

#define FILES_MOST 128
static struct serve_answer *made[FILES_MOST];

static const struct {
	const char *suffix, *type;
} types[] = {
	{".html", "text/html; charset=utf-8"},
	{".css", "text/css; charset=utf-8"},
	{".js", "text/javascript; charset=utf-8"},
	{".svg", "image/svg+xml"},
	{".json", SERVE_JSON},
};

static const char *type_of(const char *name)
{
	const char *dot = strrchr(name, '.');
	size_t i;

	for (i = 0; dot && i < sizeof types / sizeof types[0]; i++)
		if (strcmp(dot, types[i].suffix) == 0)
			return types[i].type;
	return SERVE_TEXT;
}

/* The last script in the page of a report. */
static void find_script(struct file *ret)
{
	static const char script[] = "<script>\n", end[] = "</script>";
	const char *at = ret->begin, *next;

	while ((next = memmem(at, (size_t)(ret->end - at), script, sizeof script - 1)))
		at = next + sizeof script - 1;
	ret->begin = at;
	next = memmem(at, (size_t)(ret->end - at), end, sizeof end - 1);
	ret->end = next ? next : at;
}

struct serve_answer *serve_asset(const char *path)
{
	const char *name = strcmp(path, "/") == 0 ? "page.html" : path + (*path == '/');
	const bool script = strcmp(name, "report.js") == 0;
	const char *wanted = script ? "report.html" : name;
	struct file file;
	size_t i;

	for (i = 0; serve_files[i].name && strcmp(serve_files[i].name, wanted) != 0; i++)
		;
	/* The page of a report is of no use without its data. */
	if (!serve_files[i].name || i >= FILES_MOST || strcmp(name, "report.html") == 0)
		return NULL;
	if (!made[i]) {
		file = serve_files[i];
		if (script)
			find_script(&file);
		made[i] = serve_answer_static(type_of(name), file.begin,
					      (size_t)(file.end - file.begin));
	}
	return made[i];
}

void serve_assets_end(void)
{
	size_t i;

	for (i = 0; i < FILES_MOST; i++) {
		serve_answer_drop(made[i]);
		made[i] = NULL;
	}
}
