/* SPDX-License-Identifier: MIT */
/* test_present.c - which memory of this process exists, by kind, and how much more may be read */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/harness/inspect/head.h"
#include "inspect/process/present.h"
#include "inspect/text/read_file.h"

#define PAGE  4096u
#define PAGES 40000u /* more than one query covers */

static struct ins_present *present;

static unsigned char *map(int flags, int fd)
{
	unsigned char *at = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE,
				 flags | MAP_NORESERVE, fd, 0);

	assert_true(at != MAP_FAILED);
	madvise(at, (size_t)PAGES * PAGE, MADV_NOHUGEPAGE);
	return at;
}

static unsigned char *map_file(int flags)
{
	int fd = memfd_create("present", MFD_CLOEXEC);
	unsigned char *at;

	assert_int_equal(ftruncate(fd, (off_t)PAGES * PAGE), 0);
	at = map(flags, fd);
	close(fd);
	return at;
}

static void unmap(unsigned char *at)
{
	munmap(at, (size_t)PAGES * PAGE);
}

static void open_present(void)
{
	char *text;
	size_t size;

	assert_int_equal(ins_read_file("/proc/self/maps", &text, &size), 0);
	assert_int_equal(ins_present_new(getpid(), text, size, &present), 0);
	free(text);
}

static int finish(void **state)
{
	(void)state;
	ins_present_free(present);
	present = NULL;
	return 0;
}

static uint64_t run(const unsigned char *at, uint64_t size, bool *ret_there)
{
	return ins_present_run(present, (uint64_t)(uintptr_t)at, size, ret_there);
}

static int spend(const unsigned char *at, size_t size)
{
	return ins_present_spend(present, (uint64_t)(uintptr_t)at, size);
}

static void test_runs_end_where_pages_begin_or_cease_to_exist(void **state)
{
	unsigned char *at = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	bool there;

	(void)state;
	at[0] = at[PAGE] = at[30000u * PAGE] = 1;
	open_present();
	assert_int_equal(run(at, (uint64_t)PAGES * PAGE, &there), 2 * PAGE);
	assert_true(there);
	/* A query may start inside a page, and the answer is no longer than the query. */
	assert_int_equal(run(at + 100, (uint64_t)PAGES * PAGE - 100, &there), 2 * PAGE - 100);
	assert_int_equal(run(at, 10, &there), 10);
	assert_true(there);
	assert_int_equal(run(at + 2 * PAGE, (uint64_t)(PAGES - 2) * PAGE, &there), 29998u * PAGE);
	assert_false(there);
	assert_int_equal(run(at + 30001u * PAGE, 500, &there), 500);
	assert_false(there);
	unmap(at);
}

static void test_private_memory_costs_nothing_and_shared_memory_an_allowance(void **state)
{
	unsigned char *private = map(MAP_PRIVATE | MAP_ANONYMOUS, -1),
		      *shared = map_file(MAP_SHARED);
	const size_t allowed = INS_PRESENT_ALLOWANCE;

	(void)state;
	memset(shared, 1, (size_t)PAGE * 200);
	open_present();
	assert_int_equal(spend(private, (size_t)PAGES * PAGE), 0);
	/* Memory that exists may be read any number of times. */
	assert_int_equal(spend(shared, (size_t)PAGE * 200), 0);
	assert_int_equal(spend(shared, (size_t)PAGE * 200), 0);
	assert_int_equal(present->left, allowed);
	assert_int_equal(spend(shared + 200 * PAGE, allowed + 1), -EDQUOT);
	assert_int_equal(spend(shared + 200 * PAGE, allowed / 2), 0);
	assert_int_equal(spend(shared + 300 * PAGE, allowed / 2), 0);
	assert_int_equal(spend(shared + 400 * PAGE, 1), -EDQUOT);
	assert_int_equal(spend(shared, (size_t)PAGE * 200), 0);
	unmap(private);
	unmap(shared);
}

static void test_private_files_count_only_where_it_is_said(void **state)
{
	unsigned char *file = map_file(MAP_PRIVATE);

	(void)state;
	open_present();
	assert_int_equal(spend(file, (size_t)PAGES * PAGE), 0);
	present->files = true;
	assert_int_equal(spend(file, (size_t)PAGES * PAGE), -EDQUOT);
	assert_int_equal(spend(file, 1), 0);
	unmap(file);
}

static void test_much_shared_memory_that_was_not_touched_is_given_up(void **state)
{
	unsigned char *shared = map_file(MAP_SHARED);
	bool there;

	(void)state;
	shared[0] = shared[100u * PAGE] = 1;
	open_present();
	assert_int_equal(run(shared, (uint64_t)PAGES * PAGE, &there), PAGE);
	assert_true(there);
	assert_int_equal(run(shared + PAGE, (uint64_t)(PAGES - 1) * PAGE, &there), 99 * PAGE);
	assert_false(there);
	assert_int_equal(run(shared + 101u * PAGE, (uint64_t)(PAGES - 101) * PAGE, &there), 0);
	ins_present_renew(present);
	assert_int_equal(run(shared + PAGE, (uint64_t)(PAGES - 1) * PAGE, &there), 99 * PAGE);
	unmap(shared);
}

static void test_what_is_mapped_later_is_found(void **state)
{
	unsigned char *shared;
	bool there;

	(void)state;
	open_present();
	ins_present_renew(present);
	shared = map_file(MAP_SHARED);
	ins_present_renew(present);
	assert_int_equal(spend(shared, (size_t)PAGES * PAGE), -EDQUOT);
	shared[0] = 1;
	assert_int_equal(run(shared, PAGE * 2, &there), PAGE);
	unmap(shared);
}

static void test_without_a_pagemap_there_is_as_much_as_the_process_has(void **state)
{
	unsigned char *private = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);
	bool there = false;

	(void)state;
	open_present();
	close(present->pagemap);
	present->pagemap = -1;
	assert_int_equal(run(private, (uint64_t)PAGES * PAGE, &there), (uint64_t)PAGES * PAGE);
	assert_true(there);
	unmap(private);
	finish(state);
	/* Nothing is known about a process that does not exist. */
	assert_int_equal(ins_present_new(-1, "", 0, &present), 0);
	assert_int_equal(present->pagemap, -1);
	assert_true(ins_present_held(-1) == UINT64_MAX);
	assert_true(ins_present_mapped(-1) == UINT64_MAX);
	assert_int_equal(run(private, 7, &there), 7);
	assert_int_equal(spend(private, 7), 0);
}

static void test_what_the_process_has_grows_when_it_writes(void **state)
{
	const uint64_t before = ins_present_held(getpid());
	unsigned char *at = map(MAP_PRIVATE | MAP_ANONYMOUS, -1);

	(void)state;
	memset(at, 1, (size_t)PAGES * PAGE);
	assert_true(ins_present_held(getpid()) >= before + PAGES / 2 * PAGE);
	assert_true(ins_present_mapped(getpid()) >= (uint64_t)PAGES * PAGE);
	unmap(at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_runs_end_where_pages_begin_or_cease_to_exist,
					  finish),
		cmocka_unit_test_teardown(
			test_private_memory_costs_nothing_and_shared_memory_an_allowance, finish),
		cmocka_unit_test_teardown(test_private_files_count_only_where_it_is_said, finish),
		cmocka_unit_test_teardown(test_much_shared_memory_that_was_not_touched_is_given_up,
					  finish),
		cmocka_unit_test_teardown(test_what_is_mapped_later_is_found, finish),
		cmocka_unit_test_teardown(
			test_without_a_pagemap_there_is_as_much_as_the_process_has, finish),
		cmocka_unit_test(test_what_the_process_has_grows_when_it_writes),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
