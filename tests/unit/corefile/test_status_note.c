/* SPDX-License-Identifier: MIT */
/* test_status_note.c - the notes on threads and processes, of any machine */
#include <string.h>

#include "inspect/corefile/status_note.h"
#include "tests/harness/inspect/head.h"

static unsigned char note[INS_STATUS_NOTE_MOST];

static void check_round_trip(struct ins_machine machine, size_t size)
{
	const struct ins_registers none = {.machine = machine.number};
	struct ins_registers was;
	struct ins_status_note is;

	ins_registers_make(&was, 0x123456789a, 0x7fff00001000, 0x7fff00001100, &none);
	assert_int_equal(ins_status_note_size(machine), size);
	assert_int_equal(ins_status_note_make(machine, &was, 4711, note), size);
	assert_true(ins_status_note_take(machine, note, size, &is));
	assert_int_equal(is.tid, 4711);
	assert_int_equal(is.signal, 0);
	assert_int_equal(is.registers.pc, was.pc);
	assert_int_equal(is.registers.sp, was.sp);
	assert_int_equal(is.registers.machine, machine.number);
	assert_false(ins_status_note_take(machine, note, size - 1, &is));
}

static void test_a_status_of_each_machine_comes_back(void **state)
{
	(void)state;
	/* The sizes are those of the kernel's cores. */
	check_round_trip((struct ins_machine){EM_X86_64, false}, 336);
	check_round_trip((struct ins_machine){EM_AARCH64, false}, 392);
	check_round_trip((struct ins_machine){EM_RISCV, false}, 376);
	check_round_trip((struct ins_machine){EM_S390, true}, 336);
}

static void test_a_swapped_status_has_its_numbers_in_the_other_byte_order(void **state)
{
	static const unsigned char pc[8] = {0, 0, 0, 0x12, 0x34, 0x56, 0x78, 0x9a};
	static const unsigned char tid[4] = {0, 0, 0x12, 0x67};

	(void)state;
	check_round_trip((struct ins_machine){EM_S390, true}, 336);
	assert_memory_equal(note + 32, tid, sizeof tid);
	assert_memory_equal(note + 112 + 8, pc, sizeof pc);
}

static void test_a_status_of_an_unknown_machine_is_refused(void **state)
{
	const struct ins_machine machine = {EM_MIPS, false};
	struct ins_status_note is;

	(void)state;
	assert_int_equal(ins_status_note_size(machine), 0);
	assert_false(ins_status_note_take(machine, note, sizeof note, &is));
}

static void test_a_swapped_process_and_signal_are_converted(void **state)
{
	const struct ins_machine machine = {EM_S390, true};
	struct elf_prpsinfo info = {.pr_pid = 4711};
	siginfo_t fault = {.si_signo = SIGSEGV, .si_code = 1};
	siginfo_t sent = {.si_signo = SIGABRT, .si_code = -6};

	(void)state;
	memcpy(info.pr_fname, "crowd", 6);
	fault.si_addr = (void *)(uintptr_t)0x123456789a;
	sent.si_pid = 4711;
	ins_swap(&info.pr_pid, sizeof info.pr_pid);
	ins_swap(&fault.si_signo, 4);
	ins_swap(&fault.si_code, 4);
	ins_swap(&fault.si_addr, 8);
	ins_swap(&sent.si_signo, 4);
	ins_swap(&sent.si_code, 4);
	ins_swap(&sent.si_pid, 4);
	ins_status_note_swap_process(machine, &info);
	ins_status_note_swap_signal(machine, &fault);
	ins_status_note_swap_signal(machine, &sent);
	assert_int_equal(info.pr_pid, 4711);
	assert_string_equal(info.pr_fname, "crowd");
	assert_int_equal(fault.si_signo, SIGSEGV);
	assert_int_equal((uintptr_t)fault.si_addr, 0x123456789a);
	assert_int_equal(sent.si_code, -6);
	assert_int_equal(sent.si_pid, 4711);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_status_of_each_machine_comes_back),
		cmocka_unit_test(test_a_swapped_status_has_its_numbers_in_the_other_byte_order),
		cmocka_unit_test(test_a_status_of_an_unknown_machine_is_refused),
		cmocka_unit_test(test_a_swapped_process_and_signal_are_converted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
