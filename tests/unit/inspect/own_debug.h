/* SPDX-License-Identifier: MIT */
/* own_debug.h - the debug information of the test program itself, for tests of who reads it. */
#ifndef TEST_INSPECT_OWN_DEBUG_H
#define TEST_INSPECT_OWN_DEBUG_H

#include <elfutils/libdwfl.h>
#include <unistd.h>

#include "head.h"

static const Dwfl_Callbacks own_callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
};

static Dwfl *own_debug(void)
{
	Dwfl *dwfl = dwfl_begin(&own_callbacks);

	assert_non_null(dwfl);
	assert_int_equal(dwfl_linux_proc_report(dwfl, getpid()), 0);
	assert_int_equal(dwfl_report_end(dwfl, NULL, NULL), 0);
	return dwfl;
}

#endif
