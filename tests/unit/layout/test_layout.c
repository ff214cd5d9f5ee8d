/* SPDX-License-Identifier: MIT */
/*
 * test_layout.c - a registry in untrusted memory is checked, then used or refused
 *
 * An accepted layout has every offset that a reader will use inside the record. The last test tries
 * a hundred thousand damaged layouts and decodes each accepted one from a record that ends where
 * readable memory ends.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/compiler.h"
#include "base/rand.h"
#include "layout/row.h"
#include "registry.h"
#include "tests/harness/watchdog.h"

#define DAMAGED 100000u

static struct fib_layout l;

static int setup(void **state)
{
	(void)state;
	make_layout(&l);
	return 0;
}

/* The layout is refused, and the reason contains the word. */
static void assert_refused_for(const char *word)
{
	const char *why = fib_layout_check(&l);

	if (!why || !strstr(why, word))
		print_error("# expected a refusal that names '%s', got '%s'\n", word,
			    why ? why : "none");
	assert_true(why && strstr(why, word));
	make_layout(&l);
}

static void test_layout_of_another_shape_is_accepted(void **state)
{
	(void)state;
	assert_null(fib_layout_check(&l));
	/* A newer and larger layout, with fields that this reader does not know. */
	l.size += 64;
	l.field_count = FIB_FIELD_COUNT + 3;
	put_field(&l, FIB_FIELD_COUNT, RECORD_SIZE - 8, 8);
	assert_null(fib_layout_check(&l));
}

static void test_layout_of_a_program_that_is_older_than_the_table_of_registers_is_accepted(
	void **state)
{
	(void)state;
	/* The layout as it was published at that version. */
	assert_int_equal(FIB_LAYOUT_SIZE_1, 1324);
	l.size = 1328;
	memset((char *)&l + 1324, 0, sizeof l - 1324);
	assert_null(fib_layout_check(&l));
}

static void put_register(enum fib_layout_base base, uint16_t offset)
{
	l.recipe = FIB_RECIPE_SAVED;
	l.register_count = 1;
	l.registers[0] = (struct fib_layout_register){FIB_REGISTER_PC, (uint8_t)base, offset};
}

static void test_layout_with_a_register_that_is_nowhere_is_refused(void **state)
{
	static const uint16_t far[] = {FIB_LAYOUT_REACH - 7, UINT16_MAX};
	size_t i;

	(void)state;
	put_register(FIB_BASE_RECORD, RECORD_SIZE - 8);
	assert_null(fib_layout_check(&l));
	put_register(FIB_BASE_RECORD, RECORD_SIZE - 7);
	assert_refused_for("register");
	put_register(FIB_BASE_STACK, FIB_LAYOUT_REACH - 8);
	assert_null(fib_layout_check(&l));
	for (i = 0; i < fib_countof(far); i++) {
		put_register(FIB_BASE_STACK, far[i]);
		assert_refused_for("register");
		put_register(FIB_BASE_SP, far[i]);
		assert_refused_for("register");
		l.context = (struct fib_layout_field){0, 8};
		put_register(FIB_BASE_CONTEXT, far[i]);
		assert_refused_for("register");
	}
	/* A register of a context that the record does not have. */
	put_register(FIB_BASE_CONTEXT, 0);
	assert_refused_for("register");
	put_register(FIB_BASE_CONTEXT, 0);
	l.context = (struct fib_layout_field){RECORD_SIZE - 7, 8};
	assert_refused_for("register");
	put_register(FIB_BASE_CONTEXT, 0);
	l.context = (struct fib_layout_field){RECORD_SIZE - 8, 8};
	assert_null(fib_layout_check(&l));
	put_register((enum fib_layout_base)0, 0);
	assert_refused_for("register");
	put_register((enum fib_layout_base)5, 0);
	assert_refused_for("register");
	put_register(FIB_BASE_SP, 0);
	l.register_count = FIB_LAYOUT_REGISTERS + 1;
	assert_refused_for("register");
	/* Registers of another recipe are never read. */
	l.recipe = FIB_RECIPE_CFI;
	l.register_count = UINT32_MAX;
	assert_null(fib_layout_check(&l));
}

static void test_layout_without_its_magic_or_of_another_version_is_refused(void **state)
{
	(void)state;
	memset(l.magic, 0, sizeof l.magic);
	assert_refused_for("magic");
	l.magic[7] = 'X';
	assert_refused_for("magic");
	l.version = FIB_LAYOUT_VERSION + 1;
	assert_refused_for("version");
	l.version = 0;
	assert_refused_for("version");
}

static void test_layout_that_was_cut_is_refused(void **state)
{
	size_t essential = offsetof(struct fib_layout, fields) +
			   (FIB_FIELD_STACK_SIZE + 1) * sizeof l.fields[0];
	size_t n;

	(void)state;
	l.size = FIB_LAYOUT_SIZE_1 - 1;
	assert_refused_for("smaller");
	l.size = 0;
	assert_refused_for("smaller");
	/* A read that ended early leaves zeros at the end. */
	for (n = 0; n < essential; n++) {
		bool was_zero = true;
		size_t i;

		for (i = n; i < essential; i++)
			was_zero = was_zero && ((unsigned char *)&l)[i] == 0;
		memset((char *)&l + n, 0, sizeof l - n);
		assert_true(was_zero || fib_layout_check(&l) != NULL);
		make_layout(&l);
	}
}

static void test_layout_with_impossible_records_is_refused(void **state)
{
	static const uint32_t sizes[] = {0, 8, 63, 100, 4097, 4104, UINT32_MAX};
	size_t i;

	(void)state;
	for (i = 0; i < fib_countof(sizes); i++) {
		l.record_size = sizes[i];
		assert_refused_for("record size");
	}
	l.committed = l.capacity + 1;
	assert_refused_for("number of records");
	l.committed = l.capacity = UINT64_MAX;
	assert_refused_for("number of records");
	l.capacity = (UINT64_C(1) << 32) + 1;
	assert_refused_for("number of records");
}

static void test_layout_with_tables_larger_than_their_room_is_refused(void **state)
{
	(void)state;
	l.field_count = FIB_LAYOUT_FIELDS + 1;
	assert_refused_for("tables");
	l.wait_count = FIB_LAYOUT_WAITS + 1;
	assert_refused_for("tables");
	l.state_count = 9;
	assert_refused_for("tables");
	l.state_count = UINT32_MAX;
	assert_refused_for("tables");
}

static void test_layout_with_a_field_outside_the_record_is_refused(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < FIB_LAYOUT_FIELDS; i++) {
		put_field(&l, (enum fib_layout_field_id)i, RECORD_SIZE - 7, 8);
		assert_refused_for("outside");
		put_field(&l, (enum fib_layout_field_id)i, UINT16_MAX, UINT16_MAX);
		assert_refused_for("outside");
		put_field(&l, (enum fib_layout_field_id)i, 0, RECORD_SIZE + 1);
		assert_refused_for("outside");
	}
}

static void test_layout_without_a_field_that_every_reader_needs_is_refused(void **state)
{
	static const enum fib_layout_field_id needed[] = {
		FIB_FIELD_SP, FIB_FIELD_PC,	   FIB_FIELD_SEQ,	 FIB_FIELD_STATE,
		FIB_FIELD_ID, FIB_FIELD_STACK_LOW, FIB_FIELD_STACK_SIZE,
	};
	size_t i;

	(void)state;
	for (i = 0; i < fib_countof(needed); i++) {
		l.fields[needed[i]].size = 0;
		assert_refused_for("lacks");
		/* An address or a size may have 4 bytes, and a state has 1. */
		l.fields[needed[i]].size = needed[i] == FIB_FIELD_STATE ||
							   needed[i] == FIB_FIELD_STACK_LOW ||
							   needed[i] == FIB_FIELD_STACK_SIZE
						   ? 2
						   : 4;
		assert_refused_for("lacks");
		l.field_count = needed[i];
		assert_refused_for("lacks");
	}
}

static void test_layout_with_names_without_an_end_is_refused(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 8; i++) {
		memset(l.state_names[i], 'x', sizeof l.state_names[i]);
		assert_refused_for("terminated");
	}
	for (i = 0; i < FIB_LAYOUT_WAITS; i++) {
		memset(l.wait_names[i], 'x', sizeof l.wait_names[i]);
		assert_refused_for("terminated");
	}
	memset(l.program, 'x', sizeof l.program);
	assert_refused_for("terminated");
	memset(l.port, 'x', sizeof l.port);
	assert_refused_for("terminated");
}

static void test_layout_has_what_it_counts_in_the_size_the_reader_knows(void **state)
{
	(void)state;
	assert_true(fib_layout_has(&l, FIB_FIELD_CPU, 8));
	assert_false(fib_layout_has(&l, FIB_FIELD_CPU, 4));
	l.field_count = FIB_FIELD_CPU;
	assert_false(fib_layout_has(&l, FIB_FIELD_CPU, 8));
	assert_false(fib_layout_has(&l, FIB_LAYOUT_FIELDS, 0));
}

/* Change a few bytes, more of them where the numbers are. */
static void damage(uint64_t *seed)
{
	unsigned n = 1 + fib_rand_below(seed, 4);

	while (n--) {
		uint32_t room = fib_rand_below(seed, 2) ? (uint32_t)sizeof l
							: offsetof(struct fib_layout, objects);

		((unsigned char *)&l)[fib_rand_below(seed, room)] = (unsigned char)fib_rand(seed);
	}
}

static void test_layout_without_ranges_of_code_has_no_internal_code(void **state)
{
	(void)state;
	l.entry_low = 0x1000;
	l.entry_high = 0x1010;
	l.code[1] = (struct fib_layout_range){0x3000, 0x2000};
	assert_false(fib_layout_has_code(&l));
	assert_false(fib_layout_is_internal(&l, 0));
	assert_false(fib_layout_is_internal(&l, 0x1000));
	assert_false(fib_layout_is_internal(&l, 0x2800));
	assert_false(fib_layout_is_internal(&l, UINT64_MAX));
}

static void test_layout_has_internal_code_in_each_range_and_in_the_entry(void **state)
{
	(void)state;
	l.entry_low = 0x1000;
	l.entry_high = 0x1010;
	l.code[0] = (struct fib_layout_range){0x2000, 0x3000};
	l.code[FIB_LAYOUT_CODE - 1] = (struct fib_layout_range){0x5000, 0x5001};
	assert_true(fib_layout_has_code(&l));
	assert_false(fib_layout_is_internal(&l, 0x1fff));
	assert_true(fib_layout_is_internal(&l, 0x2000));
	assert_true(fib_layout_is_internal(&l, 0x2fff));
	assert_false(fib_layout_is_internal(&l, 0x3000));
	assert_true(fib_layout_is_internal(&l, 0x5000));
	assert_false(fib_layout_is_internal(&l, 0x5001));
	assert_true(fib_layout_is_internal(&l, 0x1000));
	assert_false(fib_layout_is_internal(&l, 0x1010));
}

static void test_layout_that_is_accepted_after_damage_can_be_used(void **state)
{
	unsigned char *edge = make_edge(4096), *record;
	unsigned accepted = 0, unended = 0, i;
	uint64_t seed = 2024;
	struct fib_row row;

	(void)state;
	for (i = 0; i < 4096; i++)
		edge[i] = (unsigned char)fib_rand(&seed);
	for (i = 0; i < DAMAGED; i++) {
		make_layout(&l);
		damage(&seed);
		if (fib_layout_check(&l))
			continue;
		accepted++;
		record = edge + 4096 - l.record_size;
		record[fib_rand_below(&seed, l.record_size)] ^= 0x81;
		if (fib_row_decode(&l, record, 0x10000, INT64_C(1) << 40, &row))
			unended += !memchr(row.name, 0, sizeof row.name);
	}
	assert_true(accepted > 1000 && accepted < DAMAGED);
	assert_int_equal(unended, 0);
}

/* i386 aligns 8 bytes to 4, so a hole before them must not depend on the machine. */
static void test_layout_has_the_same_offsets_on_every_machine(void **state)
{
	(void)state;
	assert_int_equal(offsetof(struct fib_layout, records), 24);
	assert_int_equal(offsetof(struct fib_layout, fields), 92);
	assert_int_equal(offsetof(struct fib_layout, code), 1432);
	assert_int_equal(offsetof(struct fib_layout, offload_since), 1512);
	assert_int_equal(offsetof(struct fib_layout, stacks), 1656);
	assert_int_equal(offsetof(struct fib_layout, worker), 1812);
	assert_int_equal(sizeof(struct fib_layout) % 8, 0);
	assert_int_equal(sizeof(struct fib_layout_stacks), 16 + FIB_LAYOUT_STACKS * 24);
}

static void test_layout_of_a_program_with_addresses_of_4_bytes_is_accepted(void **state)
{
	(void)state;
	l.fields[FIB_FIELD_STACK_LOW].size = l.fields[FIB_FIELD_STACK_SIZE].size = 4;
	assert_null(fib_layout_check(&l));
	l.fields[FIB_FIELD_ID].size = 4;
	assert_non_null(fib_layout_check(&l));
}

#define LAYOUT_TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LAYOUT_TEST(test_layout_of_another_shape_is_accepted),
		LAYOUT_TEST(
			test_layout_of_a_program_that_is_older_than_the_table_of_registers_is_accepted),
		LAYOUT_TEST(test_layout_with_a_register_that_is_nowhere_is_refused),
		LAYOUT_TEST(test_layout_without_its_magic_or_of_another_version_is_refused),
		LAYOUT_TEST(test_layout_that_was_cut_is_refused),
		LAYOUT_TEST(test_layout_with_impossible_records_is_refused),
		LAYOUT_TEST(test_layout_with_tables_larger_than_their_room_is_refused),
		LAYOUT_TEST(test_layout_with_a_field_outside_the_record_is_refused),
		LAYOUT_TEST(test_layout_without_a_field_that_every_reader_needs_is_refused),
		LAYOUT_TEST(test_layout_with_names_without_an_end_is_refused),
		LAYOUT_TEST(test_layout_has_what_it_counts_in_the_size_the_reader_knows),
		LAYOUT_TEST(test_layout_without_ranges_of_code_has_no_internal_code),
		LAYOUT_TEST(test_layout_has_internal_code_in_each_range_and_in_the_entry),
		LAYOUT_TEST(test_layout_of_a_program_with_addresses_of_4_bytes_is_accepted),
		LAYOUT_TEST(test_layout_has_the_same_offsets_on_every_machine),
		LAYOUT_TEST(test_layout_that_is_accepted_after_damage_can_be_used),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
