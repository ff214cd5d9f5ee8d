/* SPDX-License-Identifier: MIT */
/*
 * order.h - fibers by one of their fields, or the first few of that order
 *
 * Of a million fibers of which twenty are wanted, no more than some hundred are kept at any time.
 */
#ifndef INS_ORDER_H
#define INS_ORDER_H

#include "inspect/query/fields.h"

struct ins_order;

/* By field, the largest first when backwards; limit 0: all. Fibers that are equal stay in the order they come in. -ENOMEM. */
int ins_order_new(const struct ins_field *field, bool backwards, size_t limit,
		  struct ins_order **ret);
void ins_order_free(struct ins_order *order); /* NULL: nothing */

/* Put the fiber that sight looks at into it; copied, without its stack. -ENOMEM. */
int ins_order_add(struct ins_order *order, struct ins_sight *sight);

/* Call fn with each, in order. What fn returns, if that is not 0, ends it and is returned. */
int ins_order_each(struct ins_order *order, ins_fiber_fn *fn, void *context);

#endif
