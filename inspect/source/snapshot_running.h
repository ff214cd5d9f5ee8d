/* SPDX-License-Identifier: MIT */
/* snapshot_running.h - what a running fiber in a snapshot did */
#ifndef INS_SNAPSHOT_RUNNING_H
#define INS_SNAPSHOT_RUNNING_H

#include "inspect/model/running.h"

struct ins_snapshot;

/* The function of struct ins_source_ops, for the source of this snapshot. */
int ins_snapshot_running(const struct ins_snapshot *snapshot, struct ins_running *ret);

/* The same for one frame. Returns 1: its thread ran the fiber; 0: it did not; or -ENOMEM. */
int ins_snapshot_running_take(const void *payload, size_t length, struct ins_running *ret);

#endif
