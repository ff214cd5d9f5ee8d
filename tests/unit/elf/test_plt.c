/* SPDX-License-Identifier: MIT */
/* test_plt.c - PLT stubs have the names that objdump gives them, and nothing else has one */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inspect/elf/plt.h"
#include "tests/harness/inspect/own_debug.h"

static GElf_Addr bias;
static Dwfl_Module *self;

static int begin(void **state)
{
	int rc = own_debug(state);

	self = dwfl_addrmodule(debug, (Dwarf_Addr)(uintptr_t)&begin);
	assert_non_null(dwfl_module_getelf(self, &bias));
	return rc;
}

/* The next stub in objdump's listing: its address in the file and its name. */
static bool next_stub(FILE *listing, unsigned long *ret, char name[256])
{
	char line[512];

	while (fgets(line, sizeof line, listing))
		if (sscanf(line, "%lx <%255[^>]>:", ret, name) == 2 && ins_plt_is(name))
			return true;
	return false;
}

static void test_every_stub_is_called_what_objdump_calls_it(void **state)
{
	char command[128], name[256];
	unsigned long at;
	unsigned count = 0;
	FILE *listing;

	(void)state;
	snprintf(command, sizeof command,
		 "objdump -d --section=.plt --section=.plt.sec "
		 "--section=.plt.got /proc/%d/exe",
		 getpid());
	listing = popen(command, "r"); /* NOLINT(cert-env33-c) */
	assert_non_null(listing);
	for (; next_stub(listing, &at, name); count++) {
		char *first = ins_plt_name(self, at + bias),
		     *later = ins_plt_name(self, at + bias + 3);

		assert_string_equal(first, name);
		assert_string_equal(later, name);
		free(first);
		free(later);
	}
	assert_int_equal(pclose(listing), 0);
#ifdef __x86_64__
	assert_true(count > 20);
#endif
}

static void test_what_is_no_stub_has_no_such_name(void **state)
{
	(void)state;
	assert_null(ins_plt_name(self, (Dwarf_Addr)(uintptr_t)&begin));
	assert_null(ins_plt_name(self, (Dwarf_Addr)(uintptr_t)&bias));
	assert_null(ins_plt_name(self, bias));
	assert_null(ins_plt_name(self, 0));
	assert_true(ins_plt_is("free@plt"));
	assert_false(ins_plt_is("@plt"));
	assert_false(ins_plt_is("free"));
	assert_false(ins_plt_is(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_stub_is_called_what_objdump_calls_it),
		cmocka_unit_test(test_what_is_no_stub_has_no_such_name),
	};

	return HEAD_RUN(tests, begin, own_debug_end);
}
