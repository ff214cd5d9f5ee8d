/* SPDX-License-Identifier: MIT */
/* frame_order.h - convert frames of the control protocol from the other byte order */
#ifndef INS_FRAME_ORDER_H
#define INS_FRAME_ORDER_H

#include <stddef.h>

/*
 * Convert the frames in `size` bytes, up to the first one that is no frame or not whole. Texts and the
 * bytes of stacks stay as they are. Lengths in payloads are checked, because nothing in them is trusted.
 */
void ins_frame_order_convert(void *frames, size_t size);

#endif
