/* SPDX-License-Identifier: MIT */
/* stats.h - what a program's runtimes and carriers have done so far, read from its socket into memory. */
#ifndef FIBERCTL_STATS_H
#define FIBERCTL_STATS_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "inspect/render/render.h"
#include "layout/layout.h"
#include "tool/frames.h"
#include "wire/client.h"

struct ctl_stats_runtime {
	struct fib_wire_runtime is; /* poller and note end with a NUL */
	struct fib_wire_carrier *carriers;
	uint32_t count; /* of carriers; all that it has, unless the answer was cut */
};

/* Zeroed is empty. */
struct ctl_stats {
	struct fib_wire_process process; /* name ends with a NUL; with `counted` */
	struct fib_layout layout;	 /* with `counted` */
	struct fib_wire_counters counters;
	bool counted; /* the program is new enough to tell those */
	struct ctl_stats_runtime *runtimes;
	size_t count;
	struct ins_summary summary; /* of carriers */
};

/* Read all of it over a connection; what a newer program says besides is skipped, and what an older one does not say is
 * 0. ret is empty before, and to be freed also after an error: a negative errno, and in why, which may stay
 * empty, what the program says about it. */
int ctl_stats_read(struct fib_wire_client *client, struct ctl_stats *ret, char *why, size_t size);

/* The two questions that it consists of, for who asks many at once (tool/round.h). An error of the second that says -EOPNOTSUPP is
 * none: it is an older program. */
void ctl_stats_questions(struct ctl_stats *ret, struct tool_request questions[2]);

/* The same of the carriers alone: that costs a program with many fibers no more than one with few. */
int ctl_stats_read_carriers(struct fib_wire_client *client, struct ctl_stats *ret, char *why,
			    size_t size);
void ctl_stats_free(struct ctl_stats *stats);

/* The same runtime and carrier in an earlier reading, or NULL: the runtime has come since. */
const struct fib_wire_runtime *ctl_stats_runtime(const struct ctl_stats *stats, uint64_t serial);
const struct fib_wire_carrier *ctl_stats_carrier(const struct ctl_stats *stats, uint64_t serial,
						 uint32_t index);

struct ctl_stats_rates {
	double switches; /* a second */
	double cpu;	 /* of one processor */
};

/* What a carrier of a later reading has done since an earlier one; -1: unknown. */
struct ctl_stats_rates ctl_stats_rates(const struct ctl_stats *before,
				       const struct fib_wire_runtime *runtime,
				       const struct fib_wire_carrier *carrier);

/* The share of one processor that the service thread had between them; -1: unknown. */
double ctl_stats_service(const struct ctl_stats *before, const struct ctl_stats *now);

/* "polling", "idle", "searching", "running"; "unknown". */
const char *ctl_stats_state(uint32_t state);

/* Stacks that the carriers keep, and those that neither they nor the pool has. */
uint64_t ctl_stats_stacks_cached(const struct ctl_stats *stats);
uint64_t ctl_stats_stacks_used(const struct ctl_stats *stats);

/* -- stats_json.c -- */

/* A carrier as an object, with its rates as above. */
json_t *ctl_stats_json(const struct ctl_stats *before, const struct fib_wire_runtime *runtime,
		       const struct fib_wire_carrier *c);

#endif
