/* SPDX-License-Identifier: MIT */
/* test_call_target.c - the function that a call instruction calls, in code written here */
#include <string.h>

#include "inspect/unwind/call_target.h"
#include "tests/harness/inspect/head.h"

/* Memory of 64 bytes at this address. */
#define AT 0x10000u

static unsigned char bytes[64];

static int read_bytes(void *source, uint64_t address, void *buf, size_t size)
{
	(void)source;
	if (size > sizeof bytes || address < AT || address - AT > sizeof bytes - size)
		return -14; /* EFAULT */
	memcpy(buf, bytes + (address - AT), size);
	return 0;
}

static struct ins_modules modules;
static struct ins_source source = {.memory = read_bytes, .modules = &modules};

static void put(size_t at, const void *code, size_t size)
{
	memcpy(bytes + at, code, size);
}

static int begin(void **state)
{
	(void)state;
	memset(bytes, 0, sizeof bytes);
	modules.machine.number = EM_X86_64;
	return 0;
}

/* call to byte 32, which returns to byte 6. */
static void put_call(void)
{
	static const unsigned char call[] = {0xe8, 26, 0, 0, 0};

	put(1, call, sizeof call);
}

static void test_a_direct_call_leads_to_its_target(void **state)
{
	(void)state;
	put_call();
	assert_int_equal(ins_call_target(&source, AT + 6), AT + 32);
	assert_int_equal(ins_call_target_function(&source, AT + 6), AT + 32);
	assert_int_equal(ins_call_target(&source, AT + 7), 0);
}

static void test_a_stub_leads_to_the_function_in_its_word(void **state)
{
	static const unsigned char jump[] = {0xff, 0x25, 2, 0, 0, 0};
	const uint64_t function = 0x123456;

	(void)state;
	put_call();
	put(32, jump, sizeof jump);
	put(40, &function, sizeof function);
	assert_int_equal(ins_call_target(&source, AT + 6), AT + 32);
	assert_int_equal(ins_call_target_function(&source, AT + 6), function);
}

static void test_a_call_through_the_table_leads_to_the_function_in_its_word(void **state)
{
	static const unsigned char call[] = {0xff, 0x15, 34, 0, 0, 0};
	const uint64_t function = 0x123456;

	(void)state;
	put(0, call, sizeof call);
	put(40, &function, sizeof function);
	assert_int_equal(ins_call_target(&source, AT + 6), 0);
	assert_int_equal(ins_call_target_function(&source, AT + 6), function);
}

static void test_what_is_no_call_or_cannot_be_read_leads_nowhere(void **state)
{
	(void)state;
	assert_int_equal(ins_call_target_function(&source, AT + 6), 0);
	assert_int_equal(ins_call_target_function(&source, AT), 0);
	assert_int_equal(ins_call_target(&source, 3), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_a_direct_call_leads_to_its_target, begin),
		cmocka_unit_test_setup(test_a_stub_leads_to_the_function_in_its_word, begin),
		cmocka_unit_test_setup(
			test_a_call_through_the_table_leads_to_the_function_in_its_word, begin),
		cmocka_unit_test_setup(test_what_is_no_call_or_cannot_be_read_leads_nowhere, begin),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
