/* SPDX-License-Identifier: MIT */
/*
 * top_layout.c - divide the rows of the screen between the parts of `fiberctl top`
 *
 * From the top: totals, carriers, groups, fibers, keys, and a line for messages. The fibers get the
 * remaining rows: most of a high screen, and nearly all of a low one.
 */
#include "fiberctl/top_layout.h"

#define LOW  16 /* rows: below that there is no room for carriers and groups */
#define HIGH 40 /* from that on there is for all kinds of wait */

static unsigned least(size_t a, unsigned b)
{
	return a < b ? (unsigned)a : b;
}

struct ctl_top_layout ctl_top_layout(unsigned rows, const size_t head[CTL_TOP_HEAD],
				     size_t carriers, size_t groups)
{
	struct ctl_top_layout l = {.keys = rows >= LOW};
	const unsigned last = l.keys ? 2 : 1; /* rows */
	const unsigned most = rows >= LOW ? (rows - LOW) / 4 + 2 : 0;
	unsigned i;

	l.head[0] = least(head[0], rows < 8 ? 1 : 2);
	for (i = 1; i < CTL_TOP_HEAD && rows >= LOW; i++)
		l.head[i] = least(head[i], rows < HIGH ? 2 : 5);
	l.carriers = least(carriers, most);
	l.groups = least(groups, most);
	for (i = 0; i < CTL_TOP_HEAD; i++)
		l.first += l.head[i];
	l.first += l.carriers + (l.carriers > 0) + l.groups + (l.groups > 0);
	l.end = rows > last ? rows - last : 0;
	return l;
}
