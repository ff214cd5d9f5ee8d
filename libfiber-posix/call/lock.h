/* SPDX-License-Identifier: MIT */
/* lock.h - wait for what the system does not report, by trying again */
#ifndef FPX_CALL_LOCK_H
#define FPX_CALL_LOCK_H

#include <stdint.h>

/*
 * Park between two tries: for 1 ms at first, then for twice as long each time, up to 8 ms. *rest is
 * 0 before the first call. Returns 0, or -ECANCELED.
 */
int fpx_rest(int64_t *rest);

#endif
