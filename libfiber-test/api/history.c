/* SPDX-License-Identifier: MIT */
/*
 * history.c - what a test calls to record a history
 *
 * A call begins after the choice before it, and returns after the choice before that. So the calls
 * of other fibers may begin and return anywhere between the two, and no order of begins and returns
 * that the program can have is missed.
 */
#include <fiber/fiber.h>
#include <fiber/test.h>

#include "choice.h"
#include "explore/explorer.h"
#include "explore/finding.h"
#include "explore/footprint.h"
#include "history/record.h"

static void expect(const char *why, const char *function)
{
	if (why)
		fib_finding(FIBER_TEST_FAILED, "%s: %s", function, why);
}

void fiber_test_history(const struct fiber_test_model *model)
{
	fib_footprint_all();
	if (fib_explorer_on())
		expect(fib_record_history(model), __func__);
}

unsigned fiber_test_call(unsigned op, int64_t key, int64_t arg)
{
	const struct fiber *me = fiber_self();
	unsigned number;

	if (!fib_explorer_on())
		return 0;
	fib_explore_before(__func__, fib_record_object(), __builtin_return_address(0));
	expect(fib_record_call(me ? fib_explorer_number(me) : 0, op, key, arg, &number), __func__);
	return number;
}

void fiber_test_return(unsigned call, int64_t result)
{
	if (!fib_explorer_on())
		return;
	fib_explore_before(__func__, fib_record_object(), __builtin_return_address(0));
	expect(fib_record_return(call, result), __func__);
}
