/* SPDX-License-Identifier: MIT */
/* pagemap.h - how deep a stack of another process has ever been. */
#ifndef INS_PAGEMAP_H
#define INS_PAGEMAP_H

#include <stdint.h>

/* Bytes from the lowest page of the stack that was ever touched to its top, as /proc/PID/pagemap, open as fd, says it;
 * FIB_ROW_UNKNOWN where it does not, or the stack is none. */
uint64_t ins_pagemap_depth(int fd, uint64_t low, uint64_t size);

#endif
