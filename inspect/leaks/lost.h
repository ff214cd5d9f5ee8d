/* SPDX-License-Identifier: MIT */
/* lost.h - find the lost fibers of a source */
#ifndef INS_LOST_H
#define INS_LOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "inspect/model/source.h"
#include "inspect/query/table.h"

struct ins_lost {
	struct ins_table *table; /* the fibers, of the last reading; bare (model/source.h) */
	size_t *at;		 /* indices of the lost ones, ascending */
	size_t count;
	bool certain; /* false: those in `at` seem lost; a pointer could be in what a core lacks */
	/*
	 * Fibers that seem lost, but not for certain; a problem of the source says why. Those of a core
	 * are in `at`. Others are not: a register or memory that could not be read may have a pointer.
	 */
	size_t unsure;
	/* Lost ones that could be cancelled: something alive has their handle or group. Not in `at`. */
	size_t cancellable;
	/* Fibers in fiber_park() without a deadline whose handle nothing alive has. Not lost. */
	size_t parked;
	/* Left out of a core: they seem lost, but were not in the same wait in the earlier reading. */
	size_t moved;
	unsigned looks;
	uint64_t bytes;	 /* of memory that was read in the last look */
	int64_t took_ns; /* all looks */
};

/* Whether the source can be searched. If not, error says why. 0 or -EOPNOTSUPP. */
int ins_lost_possible(const struct ins_source *source, struct ins_error *error);

/*
 * Find the fibers that nothing alive can wake. stop: a live process is stopped, and looked at once;
 * else it runs on, and what is found in the first look must be found again. Returns 0 or a negative
 * errno with error set. Drop *ret in both cases.
 */
int ins_lost_find(struct ins_source *source, bool stop, struct ins_lost *ret,
		  struct ins_error *error);

/*
 * The same for a core, confirmed by an earlier reading of its process: only fibers count that were in the
 * same wait then. The caller has checked that `before` is of that process, and older.
 */
int ins_lost_find_since(struct ins_source *core, struct ins_table *before, struct ins_lost *ret,
			struct ins_error *error);
void ins_lost_drop(struct ins_lost *lost); /* zeroed: nothing */

#endif
