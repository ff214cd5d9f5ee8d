/* SPDX-License-Identifier: MIT */
/* stats.h - read the counters of a program's runtimes and carriers from its socket */
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
	uint32_t count; /* number of carriers; all of them unless the answer was cut */
};

/* A zeroed struct is empty. */
struct ctl_stats {
	struct fib_wire_process process; /* valid if counted; name ends with a NUL */
	struct fib_layout layout;	 /* valid if counted */
	struct fib_wire_counters counters;
	bool counted; /* the program is new enough to report these */
	struct ctl_stats_runtime *runtimes;
	size_t count;
	struct ins_summary summary; /* of carriers */
};

/*
 * Read all over a connection. Data of a newer program is skipped; data that an older program lacks
 * is 0. ret is empty before and must be freed also after an error. Returns 0 or a negative errno
 * with the program's message in why, perhaps empty.
 */
int ctl_stats_read(struct fib_wire_client *client, struct ctl_stats *ret, char *why, size_t size);

/*
 * The two requests for callers that ask many programs at once (tool/round.h). -EOPNOTSUPP for the
 * second one is no error: the program is older.
 */
void ctl_stats_questions(struct ctl_stats *ret, struct tool_request questions[2]);

/* Read only the carriers; the cost does not depend on the number of fibers. */
int ctl_stats_read_carriers(struct fib_wire_client *client, struct ctl_stats *ret, char *why,
			    size_t size);
void ctl_stats_free(struct ctl_stats *stats);

/* The same runtime or carrier in an earlier reading; NULL: it is newer. */
const struct fib_wire_runtime *ctl_stats_runtime(const struct ctl_stats *stats, uint64_t serial);
const struct fib_wire_carrier *ctl_stats_carrier(const struct ctl_stats *stats, uint64_t serial,
						 uint32_t index);

struct ctl_stats_rates {
	double switches; /* per second */
	double cpu;	 /* share of one processor */
};

/* The rates of a carrier since an earlier reading; -1: unknown. */
struct ctl_stats_rates ctl_stats_rates(const struct ctl_stats *before,
				       const struct fib_wire_runtime *runtime,
				       const struct fib_wire_carrier *carrier);

/* The share of one processor used by the service thread between the readings; -1: unknown. */
double ctl_stats_service(const struct ctl_stats *before, const struct ctl_stats *now);

/* "polling", "idle", "searching", "running"; "unknown". */
const char *ctl_stats_state(uint32_t state);

/* Stacks in the caches of carriers, and stacks that are in neither these caches nor the pool. */
uint64_t ctl_stats_stacks_cached(const struct ctl_stats *stats);
uint64_t ctl_stats_stacks_used(const struct ctl_stats *stats);

/* -- stats_json.c -- */

/* A carrier as an object, with its rates. */
json_t *ctl_stats_json(const struct ctl_stats *before, const struct fib_wire_runtime *runtime,
		       const struct fib_wire_carrier *c);

/* The facilities of the kernel, each an object with name and value (null: not tried yet); null if the
 * program is too old to report them. */
json_t *ctl_stats_features(const struct ctl_stats *stats);

#endif
