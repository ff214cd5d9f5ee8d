/* SPDX-License-Identifier: MIT */
/*
 * render_flames.h - write stacks in the formats of flame graph tools
 *
 * Each function writes a whole file and returns 0 or -ENOMEM. The caller checks out for errors.
 */
#ifndef INS_RENDER_FLAMES_H
#define INS_RENDER_FLAMES_H

#include <stdio.h>

#include "inspect/render/flames.h"

/*
 * render_folded.c: folded stacks. A line is names separated by semicolons, a blank and the more
 * important value; the most frequent stack comes first. No name contains a semicolon or a blank.
 */
int ins_folded_put(FILE *out, const struct ins_flames *flames);

/* render_svg.c: a flame graph for browsers. title: from the program, any bytes. */
int ins_svg_put(FILE *out, const struct ins_flames *flames, const char *title);

/* render_speedscope.c: the file format of speedscope with two profiles, one for each value. */
int ins_speedscope_put(FILE *out, const struct ins_flames *flames, const char *title);

/*
 * render_pprof.c: profile.proto of pprof, compressed, with both values.
 */
int ins_pprof_put(FILE *out, const struct ins_flames *flames, const char *title);

#endif
