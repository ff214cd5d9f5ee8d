/* SPDX-License-Identifier: MIT */
/* head.h - the common head of the inspect tests */
#ifndef TEST_INSPECT_HEAD_H
#define TEST_INSPECT_HEAD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/harness/watchdog.h"

/* The last lines of main(). */
#define HEAD_RUN(tests, setup, teardown)                                  \
	(harness_watchdog(110), cmocka_set_message_output(CM_OUTPUT_TAP), \
	 cmocka_run_group_tests(tests, setup, teardown))

#endif
