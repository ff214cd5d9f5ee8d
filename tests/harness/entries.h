/* SPDX-License-Identifier: MIT */
/* entries.h - count the descriptors and threads of this process */
#ifndef HARNESS_ENTRIES_H
#define HARNESS_ENTRIES_H

/* Slightly more than the real numbers, by a constant: use them to compare two moments. Need a
 * descriptor; abort without one. */
unsigned harness_descriptors(void);
unsigned harness_thread_count(void);

#endif
