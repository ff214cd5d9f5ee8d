/* SPDX-License-Identifier: MIT */
/* test_object.c - the loaded file of an address is found by the loader's list as by the C library */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"
#include "os/linux/object.h"
#include "tests/harness/watchdog.h"

static struct fib_os_pipe none = FIB_OS_NO_PIPE;
static const int constant = 1;
static int variable;

struct expected {
	unsigned files, wrong;
};

static const char *name_of(const struct fib_os_object *object)
{
	return object->name ? (const char *)(uintptr_t)object->name : "";
}

/* The answer for an address of this file. The program is the first one. */
static bool is_right(uint64_t address, const struct dl_phdr_info *info, bool program)
{
	struct fib_os_object object;
	uint64_t table = 0;
	size_t i;

	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
			table = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
	return fib_os_object_listed(&none, address, &object) && object.bias == info->dlpi_addr &&
	       object.table == table &&
	       (program ? !object.name : strcmp(name_of(&object), info->dlpi_name) == 0);
}

static int compare_file(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct expected *const e = arg;
	const bool program = e->files++ == 0;
	size_t i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *const part = &info->dlpi_phdr[i];
		const uint64_t low = info->dlpi_addr + part->p_vaddr;

		if (part->p_type != PT_LOAD || !part->p_memsz)
			continue;
		if (!is_right(low, info, program) ||
		    !is_right(low + part->p_memsz - 1, info, program)) {
			print_error("# %s, part %u\n", info->dlpi_name, (unsigned)i);
			e->wrong++;
		}
	}
	return 0;
}

static void test_each_part_of_each_file_is_found_by_the_list(void **state)
{
	struct expected e = {0, 0};

	(void)state;
	dl_iterate_phdr(compare_file, &e);
	assert_true(e.files > 0);
	assert_int_equal(e.wrong, 0);
}

static void test_both_ways_find_the_same(void **state)
{
	const uintptr_t addresses[] = {(uintptr_t)is_right, (uintptr_t)&constant,
				       (uintptr_t)&variable, (uintptr_t)malloc,
				       (uintptr_t)fib_os_object_find};
	struct fib_os_object one, other;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof addresses / sizeof *addresses; i++) {
		assert_true(fib_os_object_listed(&none, addresses[i], &one));
		assert_true(fib_os_object_find(&none, addresses[i], &other));
		assert_int_equal(one.bias, other.bias);
		assert_int_equal(one.table, other.table);
		assert_string_equal(name_of(&one), name_of(&other));
	}
}

static void test_an_address_in_no_file_is_not_found(void **state)
{
	char *heap = malloc(1 << 20);
	struct fib_os_object object;
	const uintptr_t addresses[] = {0, 1, UINTPTR_MAX, (uintptr_t)heap + 4096,
				       (uintptr_t)&object};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof addresses / sizeof *addresses; i++) {
		assert_false(fib_os_object_listed(&none, addresses[i], &object));
		assert_false(fib_os_object_find(&none, addresses[i], &object));
	}
	free(heap);
}

/* -- a loader that is locked -- */

static _Atomic int searching, enough;

static void *search(void *arg)
{
	struct fib_os_object object;

	while (!fib_load(&enough)) {
		if (!fib_os_object_listed(&none, (uintptr_t)malloc, &object))
			return NULL;
		fib_add_relaxed(&searching, 1);
	}
	return arg;
}

static int wait_for_a_search(struct dl_phdr_info *info, size_t size, void *arg)
{
	const int before = fib_load(&searching);

	(void)info;
	(void)size;
	(void)arg;
	while (fib_load(&searching) < before + 2)
		sched_yield();
	return 1;
}

static void test_a_search_takes_no_lock_of_the_loader(void **state)
{
	static int right;
	pthread_t thread;
	void *result;

	(void)state;
	fib_store(&enough, 0);
	assert_int_equal(pthread_create(&thread, NULL, search, &right), 0);
	dl_iterate_phdr(wait_for_a_search, NULL);
	fib_store(&enough, 1);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, &right);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_part_of_each_file_is_found_by_the_list),
		cmocka_unit_test(test_both_ways_find_the_same),
		cmocka_unit_test(test_an_address_in_no_file_is_not_found),
		cmocka_unit_test(test_a_search_takes_no_lock_of_the_loader),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
