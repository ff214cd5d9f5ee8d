/* SPDX-License-Identifier: MIT */
/*
 * linear.c - check the histories of a schedule that ended well
 *
 * The message names no call, so that schedules with the same bug have the same message, and the
 * shortest one can be found among them. The calls are in the report.
 */
#include "explore/linear.h"

#include "explore/finding.h"
#include "history/draw.h"
#include "history/record.h"
#include "report/report.h"

static _Noreturn void find(unsigned i)
{
	static char text[FIB_DRAWING + 256];

	if (fib_report_is_wanted()) {
		fib_record_draw(i, fib_finding_progress, text, sizeof text);
		fib_report_begin_with(text);
	}
	fib_finding(FIBER_TEST_NONLINEAR, "no order of the calls explains the history");
}

void fib_linear_check(void)
{
	unsigned i;
	int rc;

	fib_record_close();
	for (i = 0; i < fib_record_count(); i++) {
		fib_finding_progress();
		rc = fib_record_check(i);
		if (rc == 0)
			find(i);
		if (rc < 0)
			fib_finding(FIBER_TEST_FAILED,
				    "the search for an order of the calls exceeds its limits: "
				    "record fewer calls, or use by_key; see "
				    "fiber_test_linearizable(3)");
	}
}
