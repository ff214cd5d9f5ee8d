/* SPDX-License-Identifier: MIT */
/* copies.h - more than one libfiber in a process */
#ifndef FPX_SYSTEM_COPIES_H
#define FPX_SYSTEM_COPIES_H

#include <stdbool.h>

/* Whether a loaded object contains a libfiber that is not the one that this library calls. */
bool fpx_other_libfiber(void);

#endif
