/* SPDX-License-Identifier: MIT */
/* entries.h - count the descriptors and threads of this process */
#ifndef HARNESS_ENTRIES_H
#define HARNESS_ENTRIES_H

/*
 * Both return the real number plus a small constant: use them to compare two moments. They need a
 * descriptor, and abort without one.
 */
unsigned harness_descriptors(void);
unsigned harness_thread_count(void);

#endif
