/* SPDX-License-Identifier: MIT */
/* render_leaks.h - print lost fibers */
#ifndef INS_RENDER_LEAKS_H
#define INS_RENDER_LEAKS_H

#include <jansson.h>
#include <stdio.h>

#include "inspect/leaks/lost_groups.h"
#include "inspect/why/look.h"

#define INS_LEAKS_SCREEN 6 /* groups that fit on a screen */

struct ins_leaks {
	const struct ins_lost *lost;
	const struct ins_lost_groups *groups;
	struct ins_look *look; /* for places: its last table is the lost ones' */
	bool stopped;	       /* the process was stopped for the look */
	const struct ins_summary
		*before; /* of the snapshot that confirms it; NULL: there is none */
};

/* Print the verdict and the first groups. who: the word of the command that is named for more. */
void ins_text_leaks(FILE *out, const struct ins_leaks *leaks, const char *who);

/* Group number i as an object. NULL: no memory. */
json_t *ins_json_leak(const struct ins_leaks *leaks, size_t i);

#endif
