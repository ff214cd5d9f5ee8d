/* SPDX-License-Identifier: MIT */
/* test_call_names.c - system calls that programs sleep in have names, others have none */
#include <sys/syscall.h>

#include "tests/harness/inspect/head.h"
#include "inspect/model/call_names.h"

static void test_calls_have_names_where_programs_sleep_in_them(void **state)
{
	(void)state;
	assert_string_equal(ins_call_name(SYS_read), "read");
	assert_string_equal(ins_call_name(SYS_epoll_pwait), "epoll_pwait");
	assert_null(ins_call_name(SYS_getpid));
	assert_null(ins_call_name(-1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls_have_names_where_programs_sleep_in_them),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
