/* SPDX-License-Identifier: MIT */
/*
 * sites.h - events that happened in the same place, counted
 *
 * A place is where the program's own code was, and how it got there; what went on below, in the C library or in libfiber, is
 * not part of it. A loop that computes is one place whichever instruction was met.
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
	struct ins_sample ids;	/* of fibers, those of the latest events */
	struct ins_event event; /* the latest one, without its stack */
	struct ins_walk walk;	/* its frames */
	unsigned frame;		/* the program's innermost in it */
	struct ins_site_time {
		int64_t began, ago, wall; /* see struct ins_event */
	} first, last;
	int64_t total; /* ns */
	struct ins_distribution durations;
};

struct ins_sites;

int ins_sites_new(struct ins_sites **ret); /* -ENOMEM */
void ins_sites_free(struct ins_sites *sites);

/* Put an event to its equals. Both are copied. -ENOMEM. */
int ins_sites_add(struct ins_sites *sites, struct ins_symbols *symbols,
		  const struct ins_event *event, const struct ins_walk *walk);

/* The longest time in all first. Medians are found. */
void ins_sites_sort(struct ins_sites *sites);

size_t ins_sites_count(const struct ins_sites *sites);
const struct ins_site *ins_sites_at(const struct ins_sites *sites, size_t i);

#endif
