/* SPDX-License-Identifier: MIT */
/* lot.h - wait for and wake by an address: inside libfiber */
#ifndef FIB_SYNC_LOT_H
#define FIB_SYNC_LOT_H

#include "layout/lot.h"

/* Empty the lot, in a child process. */
void fib_lot_forget(void);

#endif
