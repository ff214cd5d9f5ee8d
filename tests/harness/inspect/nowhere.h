/* SPDX-License-Identifier: MIT */
/* nowhere.h - symbols of a process without a file: no address has a name */
#ifndef TEST_INSPECT_NOWHERE_H
#define TEST_INSPECT_NOWHERE_H

#include "inspect/symbols/symbolize.h"

static struct ins_modules *modules;
static struct ins_symbols *symbols;

/* Returns 0, as a setup does. */
static inline int nowhere_begin(void)
{
	static struct ins_problems problems;

	return ins_modules_new(0, NULL, NULL, &problems, &modules) < 0 ||
	       ins_symbols_new(modules, &symbols) < 0;
}

static inline int nowhere_end(void)
{
	ins_symbols_free(symbols);
	ins_modules_free(modules);
	return 0;
}

/* A group's setup and teardown. */
static inline int nowhere_start(void **state)
{
	(void)state;
	return nowhere_begin();
}

static inline int nowhere_stop(void **state)
{
	(void)state;
	return nowhere_end();
}

#endif
