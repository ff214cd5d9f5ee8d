/* SPDX-License-Identifier: MIT */
/* test_registers.c - known registers are equal in every form, and unknown registers stay unknown */
#include <elf.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/inspect/head.h"
#include "inspect/elf/image.h"
#include "inspect/model/source.h"

static struct ins_registers is;
static struct elf_prstatus status;
static uint64_t value;

static void test_only_what_was_set_is_known(void **state)
{
	struct ins_registers r;
	unsigned i;

	(void)state;
	ins_registers_make(&r, 0x1111, 0x2222, 0, NULL);
	for (i = 0; i < INS_REGISTERS; i++)
		if (!ins_port(0) || (i != ins_port(0)->sp && i != ins_port(0)->pc))
			assert_false(ins_registers_get(&r, i, &value));
	ins_registers_set(&r, 12, 0);
	assert_true(ins_registers_get(&r, 12, &value));
	assert_int_equal(value, 0);
	/* Numbers of other registers, such as vectors. */
	ins_registers_set(&r, INS_REGISTERS, 5);
	ins_registers_set(&r, UINT64_MAX, 5);
	assert_int_equal(r.known, 1u << 12);
	assert_false(ins_registers_get(&r, INS_REGISTERS, &value));
	assert_false(ins_registers_get(&r, UINT64_C(1) << 32 | 12, &value));
}

static void test_sp_and_pc_are_known_by_whatever_number_they_have(void **state)
{
	const struct ins_port *p = ins_port(0);
	struct ins_registers r;

	(void)state;
	if (!p)
		skip();
	ins_registers_make(&r, 0x1111, 0x2222, 0x3333, NULL);
	assert_true(ins_registers_get(&r, p->sp, &value) && value == 0x2222);
	assert_true(ins_registers_get(&r, p->fp, &value) && value == 0x3333);
	assert_true(ins_registers_get_unwind(&r, (int)p->unwind_pc, &value) && value == 0x1111);
	assert_true(ins_registers_get_unwind(&r, (int)p->sp, &value) && value == 0x2222);
	assert_false(ins_registers_get_unwind(&r, -1, &value));
	assert_false(ins_registers_get_unwind(&r, 12, &value));
	assert_true(ins_registers_get_saved(&r, FIB_REGISTER_SP, &value) && value == 0x2222);
	assert_true(ins_registers_get_saved(&r, FIB_REGISTER_PC, &value) && value == 0x1111);
	assert_false(ins_registers_get_saved(&r, 12, &value));
	assert_false(ins_registers_get_saved(&r, 77, &value));
	ins_registers_set_saved(&r, FIB_REGISTER_SP, 0x4444);
	ins_registers_set_saved(&r, FIB_REGISTER_PC, 0x5555);
	ins_registers_set_saved(&r, 12, 0x6666);
	ins_registers_set_saved(&r, 77, 0x7777);
	assert_int_equal(r.sp, 0x4444);
	assert_int_equal(r.pc, 0x5555);
	assert_true(ins_registers_get_saved(&r, 12, &value) && value == 0x6666);
	ins_registers_set(&r, p->sp, 0x8888);
	assert_int_equal(r.sp, 0x8888);
	assert_int_equal(r.known, 1u << 12 | UINT32_C(1) << p->fp);
}

static void test_a_fiber_has_those_of_its_row_and_others(void **state)
{
	struct ins_fiber fiber = {.row = {.pc = 0x10, .sp = 0x20, .fp = 0x30}};
	struct ins_registers others;

	(void)state;
	if (!ins_port(0))
		skip();
	ins_registers_of(&fiber, &is);
	assert_int_equal(is.known, UINT32_C(1) << ins_port(0)->fp);
	fiber.row.fp = 0;
	ins_registers_of(&fiber, &is);
	assert_int_equal(is.known, 0);
	assert_true(is.pc == 0x10 && is.sp == 0x20);
	ins_registers_make(&others, 0x40, 0x50, 0x60, NULL);
	ins_registers_set(&others, 3, 0x70);
	ins_registers_give(&others, &fiber);
	assert_true(fiber.row.pc == 0x40 && fiber.row.sp == 0x50 && fiber.row.fp == 0x60);
	ins_registers_of(&fiber, &is);
	assert_memory_equal(&is, &others, sizeof is);
	/* If the frame pointer is unknown, the row's old value is cleared. */
	ins_registers_make(&others, 0x41, 0x51, 0, NULL);
	ins_registers_give(&others, &fiber);
	assert_int_equal(fiber.row.fp, 0);
}

static void test_a_status_has_what_is_known_and_else_what_a_program_has(void **state)
{
	struct ins_registers was;
	unsigned i;

	(void)state;
	ins_registers_make(&was, 0x1111222233334444, 0x5555666677778888, 0x99, NULL);
	for (i = 0; i < 16; i++)
		if (ins_port(0) && i != ins_port(0)->sp && i != ins_port(0)->fp)
			ins_registers_set(&was, i, 0xa00 + i);
	if (!ins_registers_to_status(&was, 4711, &status))
		skip();
	assert_int_equal(status.pr_pid, 4711);
	assert_int_equal(status.pr_cursig, 0);
	assert_true(ins_registers_from_kernel(&status.pr_reg, &is));
	assert_int_equal(is.pc, was.pc);
	assert_int_equal(is.sp, was.sp);
	/* A status has a field for each register; unknown registers are 0 there. */
	assert_int_equal(is.known & was.known, is.known & 0xffff);
	for (i = 0; i < INS_REGISTERS; i++)
		if (is.known >> i & 1)
			assert_int_equal(is.at[i], was.at[i]);
	if (ins_machine_self() == EM_X86_64) {
		assert_int_equal(status.pr_reg[17], 0x33);	 /* cs */
		assert_int_equal(status.pr_reg[18], 0x202);	 /* eflags */
		assert_int_equal(status.pr_reg[20], 0x2b);	 /* ss */
		assert_int_equal(status.pr_reg[15], UINT64_MAX); /* orig_rax */
	}
}

static void test_the_number_of_the_system_call_is_known_on_x86_64(void **state)
{
	uint64_t word[INS_REGISTER_WORDS] = {0};
	int64_t call;

	(void)state;
	word[15] = 34;
	assert_true(ins_registers_call(EM_X86_64, word, &call));
	assert_int_equal(call, 34);
	/* The state after an interrupt. */
	word[15] = ~UINT64_C(0xfb);
	assert_true(ins_registers_call(EM_X86_64, word, &call));
	assert_int_equal(call, -1);
	assert_false(ins_registers_call(EM_S390, word, &call));
}

static void test_registers_of_each_machine_become_words_and_come_back(void **state)
{
	static const unsigned machines[] = {EM_X86_64, EM_AARCH64, EM_RISCV, EM_S390};
	uint64_t word[INS_REGISTER_WORDS];
	struct ins_registers was;
	size_t i;
	unsigned k;

	(void)state;
	for (i = 0; i < sizeof machines / sizeof machines[0]; i++) {
		const struct ins_port *port = ins_port(machines[i]);
		const struct ins_registers none = {.machine = machines[i]};

		assert_non_null(port);
		assert_in_range(ins_registers_words(machines[i]), 16, INS_REGISTER_WORDS);
		ins_registers_make(&was, 0x1111222233334444, 0x5555666677778888, 0x99, &none);
		assert_int_equal(was.known, UINT32_C(1) << port->fp);
		assert_true(ins_registers_to_words(&was, word));
		assert_true(ins_registers_from_words(machines[i], word, &is));
		assert_int_equal(is.pc, was.pc);
		assert_int_equal(is.sp, was.sp);
		for (k = 0; k < INS_REGISTERS; k++)
			if (was.known >> k & 1)
				assert_int_equal(is.at[k], was.at[k]);
	}
	assert_int_equal(ins_registers_words(EM_MIPS), 0);
	assert_null(ins_port(EM_MIPS));
}

#if defined(__x86_64__)
/* Spin with known values in the registers, in the order of DWARF's numbers. */
static void spin_with_numbers(void)
{
	__asm__ volatile("movq $100, %%rax\n\tmovq $101, %%rdx\n\tmovq $102, %%rcx\n\t"
			 "movq $103, %%rbx\n\tmovq $104, %%rsi\n\tmovq $105, %%rdi\n\t"
			 "movq $106, %%rbp\n\tmovq $108, %%r8\n\tmovq $109, %%r9\n\t"
			 "movq $110, %%r10\n\tmovq $111, %%r11\n\tmovq $112, %%r12\n\t"
			 "movq $113, %%r13\n\tmovq $114, %%r14\n\tmovq $115, %%r15\n\t"
			 "int3\n1:\tjmp 1b"
			 :
			 :
			 : "memory");
	_exit(1);
}
#else
static void spin_with_numbers(void)
{
	raise(SIGSTOP);
	_exit(0);
}
#endif

static void test_the_kernel_has_them_in_the_same_places(void **state)
{
	struct iovec all = {&status.pr_reg, sizeof status.pr_reg};
	unsigned i;
	char here;
	pid_t child;
	int how;

	(void)state;
	if (!ins_port(0))
		skip();
	child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		spin_with_numbers();
	}
	assert_int_equal(waitpid(child, &how, 0), child);
	assert_true(WIFSTOPPED(how));
	assert_int_equal(ptrace(PTRACE_GETREGSET, child, (void *)NT_PRSTATUS, &all), 0);
	assert_true(ins_registers_from_kernel(&status.pr_reg, &is));
	/* The thread runs on a copy of this stack. */
	assert_in_range(is.sp, (uintptr_t)&here - 65536, (uintptr_t)&here + 65536);
	assert_in_range(is.pc, 0x1000, UINT64_MAX / 2);
	for (i = 0; ins_machine_self() == EM_X86_64 && i < 16; i++) {
		assert_true(ins_registers_get(&is, i, &value));
		if (i != ins_port(0)->sp)
			assert_int_equal(value, 100 + i);
	}
	kill(child, SIGKILL);
	waitpid(child, &how, 0);
}

#if defined(__x86_64__)
static void test_the_arguments_of_a_call_are_in_its_registers(void **state)
{
	/* rdi, rsi, rdx, r10, r8, r9 */
	static const unsigned numbers[] = {5, 4, 1, 10, 8, 9};
	struct ins_registers r = {0};
	uint64_t got;
	unsigned i;

	(void)state;
	assert_false(ins_registers_argument(&r, 0, &got));
	for (i = 0; i < 6; i++)
		ins_registers_set(&r, numbers[i], 70 + i);
	for (i = 0; i < 6; i++) {
		assert_true(ins_registers_argument(&r, i, &got));
		assert_int_equal(got, 70 + i);
	}
	assert_false(ins_registers_argument(&r, 6, &got));
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
		cmocka_unit_test(test_the_number_of_the_system_call_is_known_on_x86_64),
		cmocka_unit_test(test_registers_of_each_machine_become_words_and_come_back),
		cmocka_unit_test(test_the_arguments_of_a_call_are_in_its_registers),
#endif
		cmocka_unit_test(test_only_what_was_set_is_known),
		cmocka_unit_test(test_sp_and_pc_are_known_by_whatever_number_they_have),
		cmocka_unit_test(test_a_fiber_has_those_of_its_row_and_others),
		cmocka_unit_test(test_a_status_has_what_is_known_and_else_what_a_program_has),
		cmocka_unit_test(test_the_kernel_has_them_in_the_same_places),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
