/* SPDX-License-Identifier: MIT */
/* link.h - how the library was linked into the program */
#ifndef FPX_SYSTEM_LINK_H
#define FPX_SYSTEM_LINK_H

#include <stdbool.h>

/* I: whether calls by name reach this library. False: only the functions fiber_posix_* park. */
extern bool fpx_linked;

#endif
