/* SPDX-License-Identifier: MIT */
/* test_core_status.c - find a thread by its stack pointer, and the signal that ended the program */
#include <signal.h>
#include <string.h>
#include <sys/procfs.h>

#include "tests/harness/inspect/elf_bytes.h"
#include "tests/harness/inspect/head.h"
#include "inspect/corefile/core.h"
#include "inspect/corefile/core_status.h"
#include "tests/harness/paths.h"

#define SP 19 /* index in the x86-64 note */
#define PC 16

static struct elf_bytes elf;
static char path[HARNESS_PATH];

static void add_thread(pid_t tid, uint64_t sp, uint64_t pc, short number)
{
	struct elf_prstatus status = {.pr_pid = tid, .pr_cursig = number};

	status.pr_reg[SP] = sp;
	status.pr_reg[PC] = pc;
	elf_note(&elf, "CORE", NT_PRSTATUS, &status, sizeof status);
}

static void add_signal(int number, int code, void *address)
{
	siginfo_t info = {.si_signo = number, .si_code = code};

	info.si_addr = address;
	elf_note(&elf, "CORE", NT_SIGINFO, &info, sizeof info);
}

/* Open a core with the notes that add() appends. */
static void open_with(void (*add)(void), struct ins_core *ret)
{
	struct ins_error error = {""};
	size_t from;

	elf_start(&elf, ET_CORE);
	from = elf.size;
	add();
	elf_add(&elf, PT_NOTE, from, 0, elf.size - from);
	elf_write(&elf, harness_file(path, "core"), elf.size);
	assert_int_equal(ins_core_open(path, &error, ret), 0);
}

static void three(void)
{
	add_thread(1, 0x5000, 0x10, SIGSEGV);
	add_signal(SIGSEGV, SEGV_MAPERR, (void *)0x123);
	add_thread(2, 0x1000, 0x20, SIGSEGV);
	add_signal(SIGBUS, 1, (void *)0x456);
	add_thread(3, 0x9000, 0x30, SIGSEGV);
}

static void test_a_thread_is_found_by_the_stack_it_is_on(void **state)
{
	struct ins_core core;

	(void)state;
	if (ins_machine_self() != EM_X86_64)
		skip();
	open_with(three, &core);
	assert_int_equal(core.threads, 3);
	assert_int_equal(ins_core_status_on(&core, 0x4000, 0x2000)->tid, 1);
	assert_int_equal(ins_core_status_on(&core, 0x1000, 1)->tid, 2);
	assert_int_equal(ins_core_status_on(&core, 0x8fff, 0x1000)->registers.pc, 0x30);
	assert_int_equal(ins_core_status_on(&core, 0x8fff, 0x1000)->registers.sp, 0x9000);
	assert_null(ins_core_status_on(&core, 0x1001, 0x1000));
	assert_null(ins_core_status_on(&core, 0x9001, UINT64_MAX));
	assert_null(ins_core_status_on(&core, 0, 0x1000));
	ins_core_close(&core);
}

static void test_the_signal_is_that_of_the_first_thread(void **state)
{
	struct ins_core core;

	(void)state;
	if (ins_machine_self() != EM_X86_64)
		skip();
	open_with(three, &core);
	assert_int_equal(core.crash.signal, SIGSEGV);
	assert_int_equal(core.crash.thread, 1);
	assert_int_equal(core.crash.pc, 0x10);
	assert_true(core.crash.has_address);
	assert_int_equal(core.crash.address, 0x123);
	ins_core_close(&core);
}

static void stopped(void)
{
	add_thread(1, 0x5000, 0x10, SIGTRAP);
}

static void none(void)
{
	elf_note(&elf, "CORE", NT_PRSTATUS, "short", 5);
}

static void test_a_program_that_was_only_stopped_was_not_ended(void **state)
{
	struct ins_core core;

	(void)state;
	open_with(stopped, &core);
	assert_int_equal(core.crash.signal, 0);
	ins_core_close(&core);
	open_with(none, &core);
	assert_int_equal(core.threads, 0);
	assert_null(ins_core_status_on(&core, 0, UINT64_MAX));
	ins_core_close(&core);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_thread_is_found_by_the_stack_it_is_on),
		cmocka_unit_test(test_the_signal_is_that_of_the_first_thread),
		cmocka_unit_test(test_a_program_that_was_only_stopped_was_not_ended),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
