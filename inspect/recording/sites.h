/* SPDX-License-Identifier: MIT */
/*
 * sites.h - count events by place
 *
 * A place is the program's own innermost frame and its callers. The frames below it, in the C
 * library or in libfiber, are not part of it. A computing loop is one place, regardless of the
 * instruction.
 */
#ifndef INS_SITES_H
#define INS_SITES_H

#include "inspect/model/event.h"
#include "inspect/symbols/symbolize.h"
#include "inspect/unwind/unwind.h"
#include "inspect/text/sample.h"
#include "inspect/text/distribution.h"

struct ins_site {
	uint64_t count, lasting;
	struct ins_sample ids;	/* of fibers, from the latest events */
	struct ins_event event; /* the latest one, without its stack */
	struct ins_walk walk;	/* its frames */
	unsigned frame;		/* index of the program's innermost frame */
	struct ins_site_time {
		int64_t began, ago, wall; /* see struct ins_event */
	} first, last;
	int64_t total; /* ns */
	struct ins_distribution durations;
};

struct ins_sites;

int ins_sites_new(struct ins_sites **ret); /* -ENOMEM */
void ins_sites_free(struct ins_sites *sites);

/* Add an event to its site. Both are copied. -ENOMEM. */
int ins_sites_add(struct ins_sites *sites, struct ins_symbols *symbols,
		  const struct ins_event *event, const struct ins_walk *walk);

/* Sort by total time, the longest first, and compute the medians. */
void ins_sites_sort(struct ins_sites *sites);

size_t ins_sites_count(const struct ins_sites *sites);
const struct ins_site *ins_sites_at(const struct ins_sites *sites, size_t i);

#endif
