/* SPDX-License-Identifier: MIT */
/* render_why.h - print what is wrong with a program */
#ifndef INS_RENDER_WHY_H
#define INS_RENDER_WHY_H

#include <jansson.h>
#include <stdio.h>

#include "inspect/why/finding.h"
#include "inspect/why/look.h"

#define INS_WHY_SCREEN 6 /* findings that fit on a screen */

/*
 * Print the first findings, and what all other fibers do. tool and who: the words of the command that
 * is named for more.
 */
void ins_text_why(FILE *out, const struct ins_look *look, const struct ins_findings *findings,
		  const char *tool, const char *who);

/* A finding as an object. NULL: no memory. */
json_t *ins_json_finding(const struct ins_finding *finding);

#endif
