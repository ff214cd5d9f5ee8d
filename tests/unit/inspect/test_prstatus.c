/* SPDX-License-Identifier: MIT */
/* test_prstatus.c - a status that is made is read as it was meant, and is what the system says of a thread. */
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <elf.h>
#include <unistd.h>

#include "head.h"
#include "inspect/prstatus.h"

static void test_status_that_is_made_is_read_the_same(void **state)
{
	const struct ins_thread_state was = {0x1111222233334444, 0x5555666677778888, 0x99};
	struct elf_prstatus status;
	struct ins_thread_state is;

	(void)state;
	if (!ins_prstatus_make(&status, 4711, &was))
		skip();
	assert_int_equal(status.pr_pid, 4711);
	assert_int_equal(status.pr_cursig, 0);
	assert_true(ins_prstatus_read(&status, &is));
	assert_memory_equal(&is, &was, sizeof is);
}

static void test_status_of_the_system_has_them_in_the_same_places(void **state)
{
	const struct ins_thread_state none = {0, 0, 0};
	struct elf_prstatus status, made;
	struct iovec all = {&status.pr_reg, sizeof status.pr_reg};
	struct ins_thread_state is;
	char here;
	pid_t child;
	int how;

	(void)state;
	if (!ins_prstatus_make(&made, 1, &none))
		skip();
	child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &how, 0), child);
	assert_int_equal(ptrace(PTRACE_GETREGSET, child, (void *)NT_PRSTATUS, &all), 0);
	assert_true(ins_prstatus_read(&status, &is));
	/* It stands on a copy of this stack, in raise(). */
	assert_in_range(is.sp, (uintptr_t)&here - 65536, (uintptr_t)&here + 65536);
	assert_in_range(is.pc, 0x1000, UINT64_MAX / 2);
	kill(child, SIGKILL);
	waitpid(child, &how, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status_that_is_made_is_read_the_same),
		cmocka_unit_test(test_status_of_the_system_has_them_in_the_same_places),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
