/* SPDX-License-Identifier: MIT */
/* test_core_handler.c - from a signal handler's own stack to the interrupted stack */
#include <signal.h>
#include <string.h>

#include "tests/harness/inspect/elf_bytes.h"
#include "tests/harness/inspect/head.h"
#include "inspect/corefile/core.h"
#include "inspect/corefile/core_handler.h"
#include "tests/harness/paths.h"

#define OWN_SIZE 32768

static _Alignas(4096) unsigned char own[OWN_SIZE];
static struct elf_bytes elf;
static char path[HARNESS_PATH];
static struct ins_core core;
static uint64_t sp, interrupted; /* in the handler, and approximately before it */

static void open_with(const void *bytes, uint64_t address, size_t size)
{
	struct ins_error error = {""};
	uint64_t at;

	elf_start(&elf, ET_CORE);
	at = elf_append(&elf, bytes, size);
	elf_add(&elf, PT_LOAD, at, address, size);
	elf_write(&elf, harness_file(path, "core"), elf.size);
	assert_int_equal(ins_core_open(path, &error, &core), 0);
}

static uint64_t from(uint64_t at, uint64_t *ret_end)
{
	uint64_t left = UINT64_MAX;

	return ins_core_handler_from(&core, at, &left, ret_end);
}

/* AddressSanitizer forbids reading between the frames of a stack. */
__attribute__((no_sanitize("address"))) static void keep(const volatile unsigned char *stack,
							 size_t size)
{
	static unsigned char kept[OWN_SIZE];
	size_t i;

	for (i = 0; i < size; i++)
		kept[i] = stack[i];
	open_with(kept, (uint64_t)(uintptr_t)stack, size);
}

static void on_signal(int number)
{
	unsigned char here = (unsigned char)number;

	sp = (uint64_t)(uintptr_t)__builtin_frame_address(0) & ~(uint64_t)7;
	if (number == SIGUSR1)
		raise(SIGUSR2);
	else
		keep((unsigned char *)sp, (size_t)(own + OWN_SIZE - (unsigned char *)sp));
	__asm__ volatile("" : : "r"(&here) : "memory");
}

/* Take a signal on the stack `own` or on this one, and make a core of that stack. */
static void take(int number, int flags)
{
	const stack_t stack = {.ss_sp = own, .ss_size = sizeof own};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};

	memset(own, 0, sizeof own);
	interrupted = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	assert_int_equal(sigaltstack(&stack, NULL), 0);
	assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
	assert_int_equal(sigaction(SIGUSR2, &action, NULL), 0);
	raise(number);
}

static void expect_way_back(void)
{
	uint64_t end = 0, back = from(sp, &end);

	assert_int_equal(end, (uint64_t)(uintptr_t)own + OWN_SIZE);
	assert_true(back < interrupted && interrupted - back < 4096);
}

static void test_a_handler_on_its_own_stack_leads_back(void **state)
{
	(void)state;
	take(SIGUSR2, SA_ONSTACK);
	expect_way_back();
	ins_core_close(&core);
}

static void test_a_handler_within_a_handler_leads_back_too(void **state)
{
	(void)state;
	take(SIGUSR1, SA_ONSTACK);
	expect_way_back();
	ins_core_close(&core);
}

static void test_what_is_no_such_frame_leads_nowhere(void **state)
{
	uint64_t word[512] = {0}, end = 1, left = 7;
	size_t i;

	(void)state;
	open_with(word, 0x10000, sizeof word);
	assert_int_equal(from(0x10000, &end), 0x10000);
	assert_int_equal(end, 0);
	assert_int_equal(from(0x70000, &end), 0x70000);
	ins_core_close(&core);
	/* Stacks without the frame, and one that claims an impossible size. */
	for (i = 0; i + 5 < 512; i += 6) {
		word[i + 2] = i % 4 ? 0x10008 + 8 * i : 1;
		word[i + 4] = i % 4 ? 8 : UINT64_MAX;
	}
	open_with(word, 0x10000, sizeof word);
	assert_int_equal(from(0x10001, &end), 0x10001);
	/* The search stops at its limit. */
	assert_int_equal(ins_core_handler_from(&core, 0x10000, &left, &end), 0x10000);
	assert_int_equal(left, 7);
	ins_core_close(&core);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_handler_on_its_own_stack_leads_back),
		cmocka_unit_test(test_a_handler_within_a_handler_leads_back_too),
		cmocka_unit_test(test_what_is_no_such_frame_leads_nowhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
