/* SPDX-License-Identifier: MIT */
/* pagemap.h - find how deep a stack of another process was ever used */
#ifndef INS_PAGEMAP_H
#define INS_PAGEMAP_H

#include <stdint.h>

/*
 * Bytes from the lowest page of the stack that was ever touched to its top, according to
 * /proc/PID/pagemap, open as fd. FIB_ROW_UNKNOWN if pagemap cannot be read or there is no stack.
 */
uint64_t ins_pagemap_depth(int fd, uint64_t low, uint64_t size);

#endif
