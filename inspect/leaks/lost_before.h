/* SPDX-License-Identifier: MIT */
/* lost_before.h - what an earlier reading of the same process says about the fibers of a core */
#ifndef INS_LOST_BEFORE_H
#define INS_LOST_BEFORE_H

#include <stdbool.h>
#include <stdint.h>

#include "inspect/query/table.h"

/*
 * Whether a fiber that waits now was in this very wait in the earlier reading: the same fiber, object
 * and kind of wait, and it has not run in between.
 */
bool ins_lost_before_waited(struct ins_table *before, const struct ins_fiber *now);

/*
 * Whether `before` is younger than `core`, as far as the two tell. written: when the core was written, ns
 * of CLOCK_REALTIME; 0: unknown.
 */
bool ins_lost_before_is_younger(struct ins_table *before, struct ins_table *core, int64_t written);

#endif
