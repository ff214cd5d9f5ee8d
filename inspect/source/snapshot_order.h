/* SPDX-License-Identifier: MIT */
/* snapshot_order.h - convert a snapshot from the other byte order */
#ifndef INS_SNAPSHOT_ORDER_H
#define INS_SNAPSHOT_ORDER_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the bytes begin like a snapshot of a machine with the other byte order. */
bool ins_snapshot_order_other(const void *bytes, size_t size);

/*
 * Map a converted copy of a snapshot, for munmap(2). Each checksum in it is right if it was right before. The
 * bytes of stacks and of the vdso stay as they are. Of a damaged file the part before the damage is converted:
 * what checks a snapshot finds the rest. Returns 0, or a negative errno.
 */
int ins_snapshot_order_convert(const void *bytes, size_t size, void **ret_copy);

#endif
