/* SPDX-License-Identifier: MIT */
/* recording_order.h - convert a recording from the other byte order */
#ifndef INS_RECORDING_ORDER_H
#define INS_RECORDING_ORDER_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the bytes begin like a recording of a machine with the other byte order. */
bool ins_recording_order_other(const void *bytes, size_t size);

/* Convert its numbers in place, up to the first section that is not whole. */
void ins_recording_order_convert(void *bytes, size_t size);

#endif
