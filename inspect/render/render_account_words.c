/* SPDX-License-Identifier: MIT */
/* render_account_words.c - the name of a row of waits, for text and JSON */
#include <inttypes.h>
#include <string.h>

#include "inspect/text/escape.h"
#include "inspect/render/render_account.h"

const char *ins_account_ways(unsigned ways, char *buf, size_t size)
{
	const char *read = ways & FIB_EVENT_READ ? "read" : "",
		   *write = ways & FIB_EVENT_WRITE ? "write" : "";

	snprintf(buf, size, "%s%s%s", read, *read && *write ? "|" : "", write);
	return buf;
}

static const char *objects_of(unsigned kind)
{
	return kind == FIB_WAIT_FD ? "descriptors" : kind == FIB_WAIT_JOIN ? "fibers" : "objects";
}

const char *ins_account_for(const struct ins_recording *r, const struct ins_waited *w, char *buf,
			    size_t size)
{
	char word[64], ways[32], what[256];

	ins_account_ways(w->ways, ways, sizeof ways);
	if (w->objects > 1)
		snprintf(buf, size, "%s%s%s, %" PRIu64 " %s",
			 ins_escape(ins_recording_kind(r, w->kind), word, sizeof word),
			 *ways ? " " : "", ways, w->objects, objects_of(w->kind));
	else
		snprintf(buf, size, "%s%s%s",
			 ins_recording_wait(r, w->kind, w->object, w->arg, what, sizeof what),
			 *ways ? " " : "", ways);
	return buf;
}
