/* SPDX-License-Identifier: MIT */
/* entries.h - how many descriptors and threads this process has. */
#ifndef HARNESS_ENTRIES_H
#define HARNESS_ENTRIES_H

/* Some more than it has, by which two moments can be compared. Need a descriptor; abort without one. */
unsigned harness_descriptors(void);
unsigned harness_thread_count(void);

#endif
