/* SPDX-License-Identifier: MIT */
/* test_pagemap.c - the deepest page that exists shows how deep a stack has been */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inspect/process/pagemap.h"
#include "layout/row.h"
#include "tests/harness/watchdog.h"

#define PAGES 2000u /* more than one read covers */

static int fd;
static size_t page;
static char *stack;

static uint64_t depth(uint64_t low, uint64_t size)
{
	return ins_pagemap_depth(fd, low, size);
}

static void test_pagemap_finds_the_deepest_page_that_was_touched(void **state)
{
	const uint64_t low = (uint64_t)(uintptr_t)stack, size = PAGES * page;

	(void)state;
	assert_int_equal(depth(low, size), 0);
	stack[(PAGES - 1) * page] = 1;
	assert_int_equal(depth(low, size), page);
	stack[700 * page] = 1;
	assert_int_equal(depth(low, size), (PAGES - 700) * page);
	stack[0] = 1;
	assert_int_equal(depth(low, size), size);
	/* The depth never exceeds the stack. */
	assert_int_equal(depth(low + 100, size - 100), size - 100);
}

static void test_pagemap_of_what_is_no_stack_is_unknown(void **state)
{
	const uint64_t low = (uint64_t)(uintptr_t)stack;

	(void)state;
	assert_true(depth(0, page) == FIB_ROW_UNKNOWN);
	assert_true(depth(low, 0) == FIB_ROW_UNKNOWN);
	assert_true(depth(low, UINT64_MAX) == FIB_ROW_UNKNOWN);
	assert_true(depth(page, UINT64_C(1) << 60) == FIB_ROW_UNKNOWN);
	assert_true(depth(UINT64_MAX - 10 * page, 5 * page) == FIB_ROW_UNKNOWN);
	assert_true(ins_pagemap_depth(-1, low, page) == FIB_ROW_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pagemap_finds_the_deepest_page_that_was_touched),
		cmocka_unit_test(test_pagemap_of_what_is_no_stack_is_unknown),
	};

	harness_watchdog(60);
	page = (size_t)sysconf(_SC_PAGESIZE);
	fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	stack = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	if (fd < 0 || stack == MAP_FAILED || madvise(stack, PAGES * page, MADV_NOHUGEPAGE))
		return 2;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
