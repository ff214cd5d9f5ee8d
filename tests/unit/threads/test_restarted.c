/* SPDX-License-Identifier: MIT */
/* test_restarted.c - the call that is restarted, from the instruction that loaded its number */
#include "inspect/threads/restarted.h"
#include "tests/harness/inspect/asleep.h"

static struct ins_modules modules;
static struct ins_source source = {.memory = asleep_memory, .modules = &modules};
/* mov $call, %eax; syscall */
static unsigned char code[] = {0xb8, SYS_clock_nanosleep, 0, 0, 0, 0x0f, 0x05};

static int64_t find(int64_t call)
{
	const struct ins_thread_at at = {.call = call,
					 .registers.pc = (uint64_t)(uintptr_t)code + sizeof code};

	return ins_restarted_call(&source, &at);
}

static void test_the_number_of_a_restarted_call_is_in_the_code(void **state)
{
	(void)state;
	code[1] = SYS_clock_nanosleep;
	assert_int_equal(find(SYS_restart_syscall), SYS_clock_nanosleep);
	code[1] = SYS_futex;
	assert_int_equal(find(SYS_restart_syscall), SYS_futex);
	/* Any other call is the one that it says. */
	assert_int_equal(find(SYS_read), SYS_read);
	assert_int_equal(find(-1), -1);
}

static void test_other_code_says_nothing(void **state)
{
	(void)state;
	code[1] = SYS_getpid; /* is never restarted */
	assert_int_equal(find(SYS_restart_syscall), SYS_restart_syscall);
	code[1] = SYS_futex;
	code[6] = 0x34;
	assert_int_equal(find(SYS_restart_syscall), SYS_restart_syscall);
	code[6] = 0x05;
	code[0] = 0xb9;
	assert_int_equal(find(SYS_restart_syscall), SYS_restart_syscall);
	code[0] = 0xb8;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_number_of_a_restarted_call_is_in_the_code),
		cmocka_unit_test(test_other_code_says_nothing),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
