/* SPDX-License-Identifier: MIT */
/* render_flames.h - stacks in the formats of those who draw them. Each is a whole file; 0 or -ENOMEM, errors of out are the caller's. */
#ifndef INS_RENDER_FLAMES_H
#define INS_RENDER_FLAMES_H

#include <stdio.h>

#include "inspect/render/flames.h"

/*
 * Folded stacks, render_folded.c: names with semicolons between, a blank, the number of fibers; the most frequent line first.
 * No name has a semicolon or a blank.
 */
int ins_folded_put(FILE *out, const struct ins_flames *flames);

/* A flame graph that a browser shows, render_svg.c. title: of the program, any bytes. */
int ins_svg_put(FILE *out, const struct ins_flames *flames, const char *title);

/* The file format of speedscope, render_speedscope.c: two profiles, fibers and their ages. */
int ins_speedscope_put(FILE *out, const struct ins_flames *flames, const char *title);

/* profile.proto of pprof, compressed, render_pprof.c: values are fibers and the sum of their ages. */
int ins_pprof_put(FILE *out, const struct ins_flames *flames, const char *title);

#endif
