/* SPDX-License-Identifier: MIT */
/* group.h - a member of a group has exited */
#ifndef FIB_SYNC_GROUP_H
#define FIB_SYNC_GROUP_H

struct fiber;

/* Called while the fiber still has its record. */
void fib_group_member_ended(struct fiber *fiber);

#endif
