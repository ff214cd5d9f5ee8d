/* SPDX-License-Identifier: MIT */
/* own_debug.h - the debug information of the test program itself, for tests of its readers */
#ifndef TEST_INSPECT_OWN_DEBUG_H
#define TEST_INSPECT_OWN_DEBUG_H

#include <elfutils/libdwfl.h>
#include <unistd.h>

#include "tests/harness/inspect/head.h"

static const Dwfl_Callbacks own_callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
};

static Dwfl *debug;

/* The group's setup and teardown. */
static inline int own_debug(void **state)
{
	(void)state;
	debug = dwfl_begin(&own_callbacks);
	assert_non_null(debug);
	assert_int_equal(dwfl_linux_proc_report(debug, getpid()), 0);
	assert_int_equal(dwfl_report_end(debug, NULL, NULL), 0);
	return 0;
}

static inline int own_debug_end(void **state)
{
	(void)state;
	dwfl_end(debug);
	return 0;
}

#endif
