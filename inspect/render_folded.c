/* SPDX-License-Identifier: MIT */
/*
 * render_folded.c - for flame graphs
 *
 * A line is a stack, "outermost;...;innermost count", and whoever reads it splits it at semicolons and at the last blank.
 * Names of functions have both ("operator;", "f(int, char)"), and those of a hostile program have newlines. So a
 * semicolon becomes a colon, a blank an underscore, and the rest is made plain as for a terminal.
 *
 * Groups that have the same names (two calls in one function, two states of one place) are one line.
 */
#include "inspect/render.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/plain.h"

static int put_name(FILE *out, const char *name)
{
	size_t i, size = strlen(name) * 4 + 1; /* a byte may become \xNN */
	char *plain = malloc(size);

	if (!plain)
		return -ENOMEM;
	ins_plain(name, plain, size);
	for (i = 0; plain[i]; i++)
		fputc(plain[i] == ';' ? ':' : plain[i] == ' ' ? '_' : plain[i], out);
	free(plain);
	return 0;
}

static int put_frame(FILE *out, const struct ins_frame *f)
{
	const char *module = ins_frame_module(f);
	int rc = 0;

	if (f->function)
		return put_name(out, f->function);
	if (!module || !f->has_offset)
		return fprintf(out, "0x%" PRIx64, f->pc) < 0 ? -ENOMEM : 0;
	rc = put_name(out, module);
	fprintf(out, "+0x%" PRIx64, f->offset);
	return rc;
}

static int put_frames(FILE *out, const struct ins_walk *walk, struct ins_symbols *symbols)
{
	unsigned i = walk->count;
	size_t k, count;
	int rc = 0;

	while (rc == 0 && i-- > 0) {
		const struct ins_frame *f = ins_symbols_at(symbols, walk->pc[i], i > 0, &count);

		for (k = count; rc == 0 && k-- > 0;) {
			rc = put_frame(out, &f[k]);
			if (i || k)
				fputc(';', out);
		}
	}
	return rc;
}

static int put_group(FILE *out, const struct fib_layout *layout, const struct ins_group *group,
		     bool keyed, struct ins_symbols *symbols)
{
	const struct ins_walk *walk = group->walk;
	int rc = 0;

	if (keyed) {
		rc = put_name(out, group->key ? group->key->text : "[none]");
		fputc(';', out);
	}
	if (walk->truncated)
		fputs(walk->count ? "[truncated];" : "[truncated]", out);
	if (rc == 0 && !walk->count && !walk->truncated) {
		fputc('[', out);
		rc = put_name(out, ins_words_state(layout, group->fiber.row.state));
		fputc(']', out);
	}
	return rc < 0 ? rc : put_frames(out, walk, symbols);
}

int ins_folded_group(struct ins_texts *lines, const struct fib_layout *layout,
		     const struct ins_group *group, bool keyed, struct ins_symbols *symbols)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int rc;

	if (!out)
		return -ENOMEM;
	rc = put_group(out, layout, group, keyed, symbols);
	if (fclose(out) != 0)
		rc = -ENOMEM;
	if (rc == 0 && !ins_texts_add(lines, text, group->count))
		rc = -ENOMEM;
	free(text);
	return rc;
}

void ins_folded_put(FILE *out, struct ins_texts *lines)
{
	size_t i;

	ins_texts_sort(lines);
	for (i = 0; i < ins_texts_count(lines); i++)
		fprintf(out, "%s %" PRIu64 "\n", ins_texts_at(lines, i)->text,
			ins_texts_at(lines, i)->count);
}
