/* SPDX-License-Identifier: MIT */
/*
 * order.h - sort fibers by one field, or keep the first few in that order
 *
 * To find twenty of a million fibers, only about a hundred are kept at any time.
 */
#ifndef INS_ORDER_H
#define INS_ORDER_H

#include "inspect/query/fields.h"

struct ins_order;

/* Sort by field; backwards: the largest first; limit 0: all. The sort is stable. -ENOMEM. */
int ins_order_new(const struct ins_field *field, bool backwards, size_t limit,
		  struct ins_order **ret);
void ins_order_free(struct ins_order *order); /* NULL: nothing */

/* Add the fiber of sight; it is copied without its stack. -ENOMEM. */
int ins_order_add(struct ins_order *order, struct ins_sight *sight);

/* Call fn with each fiber, in order. A nonzero result of fn stops and is returned. */
int ins_order_each(struct ins_order *order, ins_fiber_fn *fn, void *context);

#endif
