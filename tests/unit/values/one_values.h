/* SPDX-License-Identifier: MIT */
/* one_values.h - one fixture with known variables for all tests of a program */
#ifndef TEST_INSPECT_ONE_VALUES_H
#define TEST_INSPECT_ONE_VALUES_H

#include "values.h"

static struct values *values;

/* Set up the group; the arguments are those of values_begin(). */
static inline int one_values(const char *name, const char *argument)
{
	values = values_begin(name, argument);
	return values ? 0 : -1;
}

/* Tear down the group. */
static inline int one_values_end(void **state)
{
	(void)state;
	values_end(values);
	return 0;
}

#endif
