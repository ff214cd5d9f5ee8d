/* SPDX-License-Identifier: MIT */
/* test_byte_order.c - convert what a program of another byte order publishes */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "inspect/source/byte_order.h"
#include "tests/harness/inspect/head.h"
#include "tests/harness/inspect/rows.h"

#define AT UINT64_C(0x1000)

static unsigned char memory[1024]; /* at AT */
static struct ins_modules modules = {.machine = {EM_S390, true}};
static struct ins_source source = {.modules = &modules};

static int read_memory(void *reader, uint64_t address, void *buf, size_t size)
{
	(void)reader;
	if (address - AT > sizeof memory || size > sizeof memory - (address - AT))
		return -EFAULT;
	memcpy(buf, memory + (address - AT), size);
	return 0;
}

static void put(size_t offset, uint64_t number, size_t size)
{
	memcpy(memory + offset, &number, size);
	ins_swap(memory + offset, size);
}

static void begin(void)
{
	memset(memory, 0, sizeof memory);
	memset(&source.layout, 0, sizeof source.layout);
	source.memory = read_memory;
}

static void test_a_layout_is_the_same_after_two_conversions_and_texts_never_change(void **state)
{
	static struct fib_layout was, is;
	unsigned char *bytes = (unsigned char *)&was;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof was; i++)
		bytes[i] = (unsigned char)(i * 7 + i / 251);
	is = was;
	ins_byte_order_layout(modules.machine, &is);
	assert_int_equal(is.records, __builtin_bswap64(was.records));
	assert_int_equal(is.fields[3].offset, __builtin_bswap16(was.fields[3].offset));
	assert_int_equal(is.registers[5].offset, __builtin_bswap16(was.registers[5].offset));
	assert_int_equal(is.registers[5].number, was.registers[5].number);
	assert_int_equal(is.worker.size, __builtin_bswap16(was.worker.size));
	assert_memory_equal(is.program, was.program, sizeof was.program);
	assert_memory_equal(is.wait_names, was.wait_names, sizeof was.wait_names);
	ins_byte_order_layout(modules.machine, &is);
	assert_memory_equal(&is, &was, sizeof was);
	ins_byte_order_layout((struct ins_machine){EM_AARCH64, false}, &is);
	assert_memory_equal(&is, &was, sizeof was);
}

static void test_numbers_of_a_record_are_converted_and_its_name_is_not(void **state)
{
	struct fib_layout_field *f = source.layout.fields;
	uint64_t id, reads[2];
	uint16_t pins;

	(void)state;
	begin();
	f[FIB_FIELD_ID] = (struct fib_layout_field){0, 8};
	f[FIB_FIELD_PINS] = (struct fib_layout_field){8, 2};
	f[FIB_FIELD_NAME] = (struct fib_layout_field){16, 8};
	f[FIB_FIELD_READS] = (struct fib_layout_field){32, 16};
	put(0, 4711, 8);
	put(8, 3, 2);
	memcpy(memory + 16, "abcdefg", 8);
	put(32, 0x1122, 8);
	put(40, 0x3344, 8);
	ins_byte_order_record(&source, memory);
	memcpy(&id, memory, sizeof id);
	memcpy(&pins, memory + 8, sizeof pins);
	memcpy(reads, memory + 32, sizeof reads);
	assert_int_equal(id, 4711);
	assert_int_equal(pins, 3);
	assert_string_equal((char *)memory + 16, "abcdefg");
	assert_int_equal(reads[0], 0x1122);
	assert_int_equal(reads[1], 0x3344);
}

static void test_an_object_has_its_name_and_its_holder(void **state)
{
	struct fib_row row = {.wait_kind = FIB_WAIT_MUTEX, .wait_object = AT};
	struct fib_layout_object *o = &source.layout.objects[FIB_WAIT_MUTEX];

	(void)state;
	begin();
	o->name = (struct fib_layout_field){0, 8};
	o->holder = (struct fib_layout_field){8, 8};
	memcpy(memory, "lock-77", 8);
	put(8, 42, 8);
	assert_int_equal(ins_byte_order_resolve(&source, &row), 0);
	assert_string_equal(row.object_name, "lock-77");
	assert_int_equal(row.holder, 42);
}

static void test_descriptors_of_a_select_are_named(void **state)
{
	/* Two descriptors are polled, one for reading, one for writing. */
	struct fib_row row = {.wait_kind = FIB_WAIT_SELECT,
			      .wait_arg = UINT64_C(2) | UINT64_C(2) << 32,
			      .polled = AT};

	(void)state;
	begin();
	put(0, 17, 4);
	put(4, POLLIN, 2);
	put(8, 18, 4);
	put(12, POLLOUT, 2);
	assert_int_equal(ins_byte_order_resolve(&source, &row), 0);
	assert_string_equal(row.object_name, "17 read, 18 write");
}

static void test_labels_are_found_by_their_owner(void **state)
{
	struct fib_row row = {.id = 5, .labels = AT};

	(void)state;
	begin();
	put(0, 5, 8);
	put(8, 1, 8);
	memcpy(memory + 16 + FIB_LAYOUT_LABELS, "key\0value\0", 11);
	assert_int_equal(ins_byte_order_labels(&source, &row), 0);
	assert_string_equal(row.label, "key");
	assert_string_equal(row.label + 4, "value");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_a_layout_is_the_same_after_two_conversions_and_texts_never_change),
		cmocka_unit_test(test_numbers_of_a_record_are_converted_and_its_name_is_not),
		cmocka_unit_test(test_an_object_has_its_name_and_its_holder),
		cmocka_unit_test(test_descriptors_of_a_select_are_named),
		cmocka_unit_test(test_labels_are_found_by_their_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
