/* SPDX-License-Identifier: MIT */
/*
 * byte_order.h - convert what a program of another byte order publishes about its fibers
 *
 * The layout says which bytes of a record and of an object are numbers. No function changes any
 * bytes if the byte order is this machine's.
 */
#ifndef INS_BYTE_ORDER_H
#define INS_BYTE_ORDER_H

#include "inspect/model/source.h"

/* Convert a layout that was read from memory. */
void ins_byte_order_layout(struct ins_machine machine, struct fib_layout *layout);

/* Convert a record, whose numbers its layout describes. */
void ins_byte_order_record(const struct ins_source *source, void *record);

/* fib_row_resolve() and fib_row_labels() with the source's memory. */
int ins_byte_order_resolve(struct ins_source *source, struct fib_row *row);
int ins_byte_order_labels(struct ins_source *source, struct fib_row *row);

/* Read a number of 8 bytes from the source's memory. Returns 0 or a negative errno. */
int ins_byte_order_word(struct ins_source *source, uint64_t address, uint64_t *ret);

#endif
