/* SPDX-License-Identifier: MIT */
/*
 * render_folded.c - write folded stacks for flame graphs
 *
 * A line is a stack, "outermost;...;innermost count". Readers split it at semicolons and at the
 * last blank. Function names may contain both ("operator;", "f(int, char)"). So a semicolon becomes
 * a colon and a blank becomes an underscore.
 *
 * Stacks with the same names are one line (two calls in one function, two states at one place). The
 * count is the more important value: of a profile, its time in ns.
 */
#include "inspect/render/render_flames.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static void put_name(FILE *out, const char *name)
{
	for (; *name; name++)
		fputc(*name == ';' ? ':' : *name == ' ' ? '_' : *name, out);
}

static int add(struct ins_texts *lines, const struct ins_flames *flames,
	       const struct ins_flame *flame)
{
	char *text = NULL;
	size_t i, size = 0;
	FILE *out = open_memstream(&text, &size);
	int rc = 0;

	if (!out)
		return -ENOMEM;
	for (i = 0; i < flame->depth; i++) {
		if (i)
			fputc(';', out);
		put_name(out, ins_flames_function(flames, flame->calls[i].function)->name);
	}
	if (fclose(out) != 0 ||
	    !ins_texts_add(lines, text,
			   ins_flames_kind(flames)->by_time ? flame->time : flame->number))
		rc = -ENOMEM;
	free(text);
	return rc;
}

int ins_folded_put(FILE *out, const struct ins_flames *flames)
{
	struct ins_texts *lines;
	int rc = ins_texts_new(&lines);
	size_t i;

	for (i = 0; rc == 0 && i < ins_flames_count(flames); i++)
		rc = add(lines, flames, ins_flames_at(flames, i));
	if (rc == 0)
		ins_texts_sort(lines);
	for (i = 0; rc == 0 && i < ins_texts_count(lines); i++)
		fprintf(out, "%s %" PRIu64 "\n", ins_texts_at(lines, i)->text,
			ins_texts_at(lines, i)->count);
	ins_texts_free(lines);
	return rc;
}
