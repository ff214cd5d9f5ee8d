/* SPDX-License-Identifier: MIT */
/*
 * test_symbolize.c - from an address to functions, inlined ones too, files and lines
 *
 * The program to look at is this one: the compiler knows the right answers.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/inspect/head.h"
#include "inspect/process/memory.h"
#include "inspect/text/read_file.h"
#include "inspect/symbols/symbolize.h"

#define NOIPA __attribute__((noipa))

static struct ins_memory memory;
static struct ins_modules *modules;
static struct ins_symbols *symbols;
static volatile uintptr_t here; /* a return address within the innermost function */

static NOIPA void note_return_address(void)
{
	here = (uintptr_t)__builtin_return_address(0);
}

enum { LINE_INNER = __LINE__ + 4 };

static inline __attribute__((always_inline)) void inner(void)
{
	note_return_address();
	__asm__ volatile("");
}

enum { LINE_MIDDLE = __LINE__ + 4 };

static inline __attribute__((always_inline)) void middle(void)
{
	inner();
	__asm__ volatile("");
}

enum { LINE_OUTER = __LINE__ + 4 };

static NOIPA void outer(void)
{
	middle();
	__asm__ volatile("");
}

/* The mangled name of web::server::serve(int). */
void serve(int n) __asm__("_ZN3web6server5serveEi");
NOIPA void serve(int n)
{
	(void)n;
	note_return_address();
	__asm__ volatile("");
}

static const struct ins_frame *at(uint64_t pc, bool returned, size_t *ret_count)
{
	const struct ins_frame *f = ins_symbols_at(symbols, pc, returned, ret_count);

	assert_non_null(f);
	assert_true(*ret_count >= 1);
	return f;
}

static void test_inlined_functions_come_first_each_with_the_line_of_its_call(void **state)
{
	const struct ins_frame *f;
	size_t n;

	(void)state;
	outer();
	f = at(here, true, &n);
	assert_int_equal(n, 3);
	assert_string_equal(f[0].function, "inner");
	assert_string_equal(f[1].function, "middle");
	assert_string_equal(f[2].function, "outer");
	assert_true(f[0].inlined && f[1].inlined && !f[2].inlined);
	assert_int_equal(f[0].line, LINE_INNER);
	assert_int_equal(f[1].line, LINE_MIDDLE);
	assert_int_equal(f[2].line, LINE_OUTER);
	assert_non_null(strstr(f[2].file, "test_symbolize.c"));
	/* Only the function that contains the code has an offset, the address's. */
	assert_false(f[0].has_offset || f[1].has_offset);
	assert_true(f[2].has_offset);
	assert_int_equal(f[2].offset, here - (uintptr_t)outer);
	assert_non_null(strstr(f[0].module, "test_symbolize"));
}

static void test_a_return_address_belongs_to_the_call_before_it(void **state)
{
	const struct ins_frame *f;
	size_t n;

	(void)state;
	/* A function's first address, as a return address, belongs to the function before it. */
	f = at((uintptr_t)outer, false, &n);
	assert_string_equal(f[n - 1].function, "outer");
	assert_int_equal(f[n - 1].offset, 0);
	f = at((uintptr_t)outer, true, &n);
	assert_true(!f[n - 1].function || strcmp(f[n - 1].function, "outer") != 0);
}

static void test_cplusplus_names_are_as_written(void **state)
{
	const struct ins_frame *f;
	size_t n;

	(void)state;
	serve(1);
	f = at(here, true, &n);
	assert_int_equal(n, 1);
	assert_string_equal(f[0].function, "web::server::serve(int)");
}

static void test_a_function_without_debug_information_has_its_symbol(void **state)
{
	/* The C library's function, not the program's PLT stub. */
	const uint64_t pc = (uintptr_t)dlsym(RTLD_NEXT, "getpid");
	const struct ins_frame *f;
	size_t n;

	(void)state;
	f = at(pc, false, &n);
	assert_non_null(f[n - 1].function);
	assert_non_null(strstr(f[n - 1].function, "getpid"));
	assert_int_equal(f[n - 1].offset, 0);
	assert_true(f[n - 1].has_offset);
}

static void test_an_unknown_address_is_one_frame_with_nothing_but_the_address(void **state)
{
	static const uint64_t pcs[] = {0, 1, 0x10, INT64_MAX, UINT64_MAX};
	const struct ins_frame *f;
	size_t i, n;

	(void)state;
	for (i = 0; i < 2 * sizeof pcs / sizeof pcs[0]; i++) {
		f = at(pcs[i / 2], i & 1, &n);
		assert_int_equal(n, 1);
		assert_true(f->pc == pcs[i / 2]);
		assert_null(f->function);
		assert_null(f->module);
		assert_null(f->file);
		assert_int_equal(f->line, 0);
		assert_false(f->has_offset || f->inlined);
	}
}

static void test_an_address_in_data_has_its_module_and_offset(void **state)
{
	const struct ins_module *m;
	const struct ins_frame *f;
	size_t n;

	(void)state;
	m = ins_modules_find(modules, (uintptr_t)outer);
	assert_non_null(m);
	/* The ELF header is not code. */
	f = at(m->start + 4, false, &n);
	assert_int_equal(n, 1);
	assert_null(f->function);
	assert_string_equal(f->module, m->path);
	assert_true(f->has_offset);
	assert_int_equal(f->offset, m->start + 4 - m->bias);
}

static void test_a_module_is_called_by_the_end_of_its_path(void **state)
{
	static const char *const name[][2] = {
		{"/lib/x86_64/libc.so.6", "libc.so.6"},
		{"[vdso]", "[vdso]"},
		{"a/b", "b"},
		{"/odd/", "/odd/"},
	};
	struct ins_frame f = {.module = ""};
	size_t i;

	(void)state;
	assert_null(ins_frame_module(&f));
	f.module = NULL;
	assert_null(ins_frame_module(&f));
	for (i = 0; i < sizeof name / sizeof name[0]; i++) {
		f.module = name[i][0];
		assert_string_equal(ins_frame_module(&f), name[i][1]);
	}
}

static void test_answers_are_kept(void **state)
{
	const struct ins_frame *first, *again;
	uint64_t pc;
	size_t n, k;

	(void)state;
	outer();
	first = at(here, true, &n);
	/* Enough other addresses to make the table grow. */
	for (pc = 1; pc < 5000; pc++)
		at(pc * 64, pc & 1, &k);
	again = at(here, true, &k);
	assert_ptr_equal(first, again);
	assert_int_equal(n, k);
	for (pc = 1; pc < 5000; pc++)
		assert_true(at(pc * 64, pc & 1, &k)->pc == pc * 64);
}

static int read_self(void *reader, uint64_t address, void *buf, size_t size)
{
	const struct ins_memory_piece piece = {address, buf, size};

	return ins_memory_read(reader, &piece, 1);
}

static int start(void **state)
{
	static struct ins_problems problems;
	char *text;
	size_t size;

	(void)state;
	memory = (struct ins_memory){.pid = getpid(), .file = -1};
	if (ins_read_file("/proc/self/maps", &text, &size) < 0 ||
	    ins_modules_new(getpid(), read_self, &memory, &problems, &modules) < 0 ||
	    ins_modules_parse_maps(modules, text, size) < 0)
		return -1;
	free(text);
	ins_modules_sort(modules);
	return ins_symbols_new(modules, &symbols);
}

static int stop(void **state)
{
	(void)state;
	ins_symbols_free(symbols);
	ins_modules_free(modules);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inlined_functions_come_first_each_with_the_line_of_its_call),
		cmocka_unit_test(test_a_return_address_belongs_to_the_call_before_it),
		cmocka_unit_test(test_cplusplus_names_are_as_written),
		cmocka_unit_test(test_a_function_without_debug_information_has_its_symbol),
		cmocka_unit_test(test_an_unknown_address_is_one_frame_with_nothing_but_the_address),
		cmocka_unit_test(test_an_address_in_data_has_its_module_and_offset),
		cmocka_unit_test(test_a_module_is_called_by_the_end_of_its_path),
		cmocka_unit_test(test_answers_are_kept),
	};

	return HEAD_RUN(tests, start, stop);
}
