/* SPDX-License-Identifier: MIT */
/* render_events.h - print events and the places where they happened, as text or JSON */
#ifndef INS_RENDER_EVENTS_H
#define INS_RENDER_EVENTS_H

#include "inspect/text/timestamp.h"
#include "inspect/render/render.h"
#include "inspect/recording/sites.h"

/* A line: time, duration, fiber, action, place. */
void ins_text_event(FILE *out, const struct fib_layout *layout, struct ins_symbols *symbols,
		    const struct ins_event *event, const struct ins_walk *walk);

/* A header line and the frames. */
void ins_text_site_events(FILE *out, const struct fib_layout *layout, struct ins_symbols *symbols,
			  const struct ins_site *site);

/* The event object, without frames, and the site object. NULL: no memory. */
json_t *ins_json_event(const struct fib_layout *layout, struct ins_symbols *symbols,
		       const struct ins_event *event, const struct ins_walk *walk);
json_t *ins_json_site(const struct fib_layout *layout, struct ins_symbols *symbols,
		      const struct ins_site *site);

#endif
