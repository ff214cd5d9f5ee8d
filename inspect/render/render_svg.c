/* SPDX-License-Identifier: MIT */
/*
 * render_svg.c - write a flame graph as one SVG file
 *
 * Stacks that start with the same functions share their frames. Sorted by names, they are adjacent,
 * and a frame is as wide as its number of fibers, or its time. The graph is complete without the script, which
 * only zooms, searches and shortens names to fit.
 *
 * Names come from the program. They are escaped for terminals already; XML's special characters are
 * escaped here. No name is in the script, which sees names as text only.
 */
#include "inspect/render/render_flames.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/text/escape.h"
#include "inspect/render/render.h"
#include "inspect/text/duration.h"

#define WIDTH  1180.0 /* of all fibers; there is a margin of 10 on both sides */
#define MARGIN 10.0
#define TOP    54  /* above the highest frame */
#define ROW    17  /* the height of a frame and the gap below it */
#define GLYPH  7.0 /* the width of a character */

static const char script[] =
	"\"use strict\";\n"
	"const W = 1180, M = 10, GLYPH = 7, root = document.documentElement;\n"
	"const frames = Array.from(root.querySelectorAll(\"g.f\")).map(g => ({g: g, at: "
	"+g.dataset.at, n: +g.dataset.n,\n"
	"\td: +g.dataset.d, name: g.querySelector(\"title\").textContent.replace(/ \\([^(]*$/, "
	"\"\"),\n"
	"\trect: g.querySelector(\"rect\"), text: g.querySelector(\"text\")}));\n"
	"const all = frames[0];\n"
	"function zoom(to) {\n"
	"\tfor (const f of frames) {\n"
	"\t\tconst from = Math.max(f.at, to.at), end = Math.min(f.at + f.n, to.at + to.n);\n"
	"\t\tconst shown = end > from && (f.d > to.d || f === to || f.at + f.n >= to.at + to.n && "
	"f.at <= to.at);\n"
	"\t\tconst x = M + (from - to.at) / to.n * W, w = (end - from) / to.n * W, fit = "
	"Math.floor((w - 6) / GLYPH);\n"
	"\t\tf.g.style.display = shown ? \"\" : \"none\";\n"
	"\t\tif (!shown) continue;\n"
	"\t\tf.rect.setAttribute(\"x\", x);\n"
	"\t\tf.rect.setAttribute(\"width\", w);\n"
	"\t\tf.text.setAttribute(\"x\", x + 3);\n"
	"\t\tf.text.textContent = fit < 3 ? \"\" : f.name.length <= fit ? f.name : f.name.slice(0, "
	"fit - 2) + \"..\";\n"
	"\t}\n"
	"\tdocument.getElementById(\"reset\").style.display = to === all ? \"none\" : \"\";\n"
	"}\n"
	"function search() {\n"
	"\tconst what = prompt(\"Functions that match (a regular expression; nothing ends the "
	"search):\", \"\");\n"
	"\tlet re = null, hits = 0, end = -1;\n"
	"\tif (what === null) return;\n"
	"\ttry { re = what ? new RegExp(what) : null; } catch (e) { alert(e.message); return; }\n"
	"\tfor (const f of frames) {\n"
	"\t\tconst hit = re !== null && f !== all && re.test(f.name);\n"
	"\t\tf.g.classList.toggle(\"hit\", hit);\n"
	"\t\tif (hit && f.at >= end) { hits += f.n; end = f.at + f.n; }\n"
	"\t}\n"
	"\tdocument.getElementById(\"matched\").textContent = re === null ? \"\" :\n"
	"\t\t\"matched: \" + (root.dataset.unit ? hits + \" of \" + all.n + \" \" + "
	"root.dataset.unit :\n"
	"\t\t(hits / all.n * 100).toFixed(2) + \"%\");\n"
	"}\n"
	"for (const f of frames) f.g.addEventListener(\"click\", () => zoom(f));\n"
	"document.getElementById(\"reset\").addEventListener(\"click\", () => zoom(all));\n"
	"document.getElementById(\"search\").addEventListener(\"click\", search);\n"
	"zoom(all);\n";

struct svg {
	FILE *out;
	const struct ins_flames *flames;
	const struct ins_flame **sorted;
	size_t count, depth; /* of stacks; of the deepest stack */
	uint64_t width;	     /* of all stacks together */
};

/*
 * Remaining frames of one level: the stacks from `at` to `end`; stack `at` starts at `left`, in the
 * unit of widths.
 */
struct level {
	size_t at, end;
	uint64_t left;
};

static const char *name_at(const struct ins_flames *flames, const struct ins_flame *f, size_t depth)
{
	return ins_flames_function(flames, f->calls[depth].function)->name;
}

static int by_names(const void *a, const void *b, void *context)
{
	const struct ins_flame *x = *(const struct ins_flame *const *)a;
	const struct ins_flame *y = *(const struct ins_flame *const *)b;
	size_t i;
	int order = 0;

	for (i = 0; order == 0 && i < x->depth && i < y->depth; i++)
		if (x->calls[i].function != y->calls[i].function)
			order = strcmp(name_at(context, x, i), name_at(context, y, i));
	return order ? order : x->depth < y->depth ? -1 : x->depth > y->depth;
}

/* Print at most `most` characters; a longer text ends in two dots. */
static void put_text(FILE *out, const char *text, size_t most)
{
	size_t i, n, length = 0;

	for (i = 0; text[i]; i++)
		length += ((unsigned char)text[i] & 0xc0) != 0x80;
	for (i = 0; *text && (length <= most || i + 2 < most); i++, text += n ? n : 1) {
		n = ins_utf8_length(text);
		if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if (*text == '"')
			fputs("&quot;", out);
		else if (!n || !memcmp(text, "\xef\xbf\xbe", n) || !memcmp(text, "\xef\xbf\xbf", n))
			fputs("\xef\xbf\xbd", out); /* not allowed in XML */
		else
			fwrite(text, 1, n, out);
	}
	if (*text)
		fputs("..", out);
}

/* The width of values: fibers, or ns. */
static uint64_t width_of(const struct svg *s, uint64_t number, uint64_t time)
{
	return ins_flames_kind(s->flames)->by_time ? time : number;
}

static void put_frame(const struct svg *s, const char *name, size_t depth, uint64_t at,
		      uint64_t number, uint64_t time)
{
	const uint64_t n = width_of(s, number, time);
	const double x = MARGIN + (double)at / (double)s->width * WIDTH;
	const double w = (double)n / (double)s->width * WIDTH;
	const size_t y = TOP + (s->depth - depth) * ROW;
	unsigned hash = 5381;
	const char *c;
	char words[32];

	for (c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	fprintf(s->out,
		"<g class=\"f\" data-d=\"%zu\" data-at=\"%" PRIu64 "\" data-n=\"%" PRIu64
		"\"><title>",
		depth, at, n);
	put_text(s->out, name, SIZE_MAX);
	fprintf(s->out,
		" (%" PRIu64 " %s%s, %.2f%%, together %s)</title>"
		"<rect x=\"%.3f\" y=\"%zu\" width=\"%.3f\" height=\"%d\" fill=\"rgb(%u,%u,%u)\"/>"
		"<text x=\"%.3f\" y=\"%zu\">",
		number, ins_flames_kind(s->flames)->one, number == 1 ? "" : "s",
		(double)n * 100 / (double)s->width,
		ins_duration_text((int64_t)time, words, sizeof words), x, y, w, ROW - 1,
		205 + hash % 50, 60 + hash / 50 % 150, hash / 7500 % 55, x + 3, y + 12);
	if (w - 6 >= 3 * GLYPH)
		put_text(s->out, name, (size_t)((w - 6) / GLYPH));
	fputs("</text></g>\n", s->out);
}

/*
 * Print the next frame of a level and move level->at past the stacks that share it. Returns where
 * the frame starts.
 */
static uint64_t put_next(const struct svg *s, struct level *level, size_t depth)
{
	const char *name = name_at(s->flames, s->sorted[level->at], depth);
	const uint64_t left = level->left;
	uint64_t number = 0, time = 0;

	for (; level->at < level->end; level->at++) {
		const struct ins_flame *f = s->sorted[level->at];

		if (strcmp(name_at(s->flames, f, depth), name) != 0)
			break;
		number += f->number;
		time = time > INT64_MAX - f->time ? INT64_MAX : time + f->time;
	}
	put_frame(s, name, depth + 1, left, number, time);
	level->left += width_of(s, number, time);
	return left;
}

static void pass(const struct svg *s, struct level *level)
{
	const struct ins_flame *f = s->sorted[level->at++];

	level->left += width_of(s, f->number, f->time);
}

/* Print all frames; the frames on top of a frame follow it. */
static int put_frames(const struct svg *s)
{
	struct level *levels = calloc(s->depth + 1, sizeof *levels), *l;
	size_t depth = 0;

	if (!levels)
		return -ENOMEM;
	levels[0].end = s->count;
	for (;;) {
		l = &levels[depth];
		/* Stacks that end at a lower level come first; the space above them is empty. */
		while (l->at < l->end && s->sorted[l->at]->depth <= depth)
			pass(s, l);
		if (l->at < l->end) {
			struct level above = {.at = l->at};

			above.left = put_next(s, l, depth);
			above.end = l->at;
			levels[++depth] = above;
		} else if (depth-- == 0) {
			break;
		}
	}
	free(levels);
	return 0;
}

static void put_head(const struct svg *s, const char *title)
{
	const size_t height = TOP + (s->depth + 1) * ROW + 10;
	const char *unit = ins_flames_kind(s->flames)->by_time ? "" : " data-unit=\"fibers\"";

	fprintf(s->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1200\" height=\"%zu\" "
		"viewBox=\"0 0 1200 %zu\"%s>\n"
		"<style>text { font: 12px monospace; fill: #000; pointer-events: none }\n"
		".b { fill: #44f; cursor: pointer; pointer-events: all } .f { cursor: pointer }\n"
		".f:hover rect { stroke: #000 } .hit rect { fill: #d6f }</style>\n"
		"<rect width=\"1200\" height=\"%zu\" fill=\"#fff\"/>\n<text x=\"10\" y=\"20\">",
		height, height, unit, height);
	put_text(s->out, title, 120);
	fputs("</text>\n"
	      "<text id=\"search\" class=\"b\" x=\"10\" y=\"40\">search</text>\n"
	      "<text id=\"reset\" class=\"b\" x=\"80\" y=\"40\">all</text>\n"
	      "<text id=\"matched\" x=\"130\" y=\"40\"></text>\n",
	      s->out);
}

int ins_svg_put(FILE *out, const struct ins_flames *flames, const char *title)
{
	struct svg s = {.out = out, .flames = flames, .count = ins_flames_count(flames)};
	size_t i;
	int rc;

	s.sorted = calloc(s.count + 1, sizeof *s.sorted);
	if (!s.sorted)
		return -ENOMEM;
	for (i = 0; i < s.count; i++) {
		s.sorted[i] = ins_flames_at(flames, i);
		if (s.sorted[i]->depth > s.depth)
			s.depth = s.sorted[i]->depth;
	}
	qsort_r(s.sorted, s.count, sizeof *s.sorted, by_names, (void *)flames);
	s.width = width_of(&s, ins_flames_number(flames), ins_flames_time(flames));
	if (!s.width)
		s.width = 1;
	put_head(&s, title);
	put_frame(&s, "all", 0, 0, ins_flames_number(flames), ins_flames_time(flames));
	rc = put_frames(&s);
	fprintf(out, "<script><![CDATA[\n%s]]></script>\n</svg>\n", script);
	free(s.sorted);
	return rc;
}
