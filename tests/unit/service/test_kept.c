/* SPDX-License-Identifier: MIT */
/* test_kept.c - files opened once serve every answer; a reused number is not touched */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "service/kept.h"
#include "tests/harness/entries.h"
#include "tests/harness/watchdog.h"

static int tear_down(void **state)
{
	(void)state;
	fib_kept_close();
	return 0;
}

/* Act like a program that closed fd and used its number for its own file. */
static void take_number(int fd)
{
	int own = open("/dev/null", O_RDWR | O_CLOEXEC);

	assert_true(own >= 0);
	assert_int_equal(dup2(own, fd), fd);
	close(own);
}

static uint64_t seen_through_pipe(uint64_t word)
{
	uint64_t copy = 0;

	assert_int_equal(fib_os_peek_through(fib_kept_pipe(), (uint64_t)(uintptr_t)&word, &copy,
					     sizeof copy),
			 0);
	return copy;
}

static void test_kept_is_opened_once(void **state)
{
	const size_t before = harness_descriptors();
	char text[64];
	int maps;

	(void)state;
	fib_kept_open(false);
	assert_int_equal(harness_descriptors(), before + 2);
	fib_kept_open(true);
	assert_int_equal(harness_descriptors(), before + 5);
	maps = fib_kept_file(FIB_KEPT_MAPS);
	fib_kept_renew();
	assert_int_equal(fib_kept_file(FIB_KEPT_MAPS), maps);
	assert_true(fib_os_read_at(maps, text, sizeof text, 0) > 0);
	assert_true(fib_os_resident(fib_kept_file(FIB_KEPT_STATM)) > 0);
	assert_int_equal(seen_through_pipe(4711), 4711);
	assert_int_equal(harness_descriptors(), before + 5);
	fib_kept_close();
	assert_int_equal(harness_descriptors(), before);
}

static void test_kept_file_whose_number_is_another_file_is_opened_anew(void **state)
{
	char text[64];
	int maps;

	(void)state;
	fib_kept_open(true);
	maps = fib_kept_file(FIB_KEPT_MAPS);
	take_number(maps);
	fib_kept_renew();
	assert_int_not_equal(fib_kept_file(FIB_KEPT_MAPS), maps);
	assert_true(fib_os_read_at(fib_kept_file(FIB_KEPT_MAPS), text, sizeof text, 0) > 0);
	fib_kept_close();
	/* The program's file is still open. */
	assert_int_equal(read(maps, text, 1), 0);
	close(maps);
}

static void test_kept_pipe_whose_number_is_another_file_is_not_written_to(void **state)
{
	struct fib_os_pipe old;
	int other[2];
	char byte;

	(void)state;
	fib_kept_open(true);
	old = *fib_kept_pipe();
	assert_int_equal(pipe2(other, O_CLOEXEC | O_NONBLOCK), 0);
	assert_int_equal(dup2(other[0], old.fds[0]), old.fds[0]);
	assert_int_equal(dup2(other[1], old.fds[1]), old.fds[1]);
	fib_kept_renew();
	assert_int_equal(seen_through_pipe(4712), 4712);
	assert_int_not_equal(fib_kept_pipe()->fds[1], old.fds[1]);
	assert_int_equal(seen_through_pipe(4713), 4713);
	assert_int_equal(read(other[0], &byte, 1), -1);
	fib_kept_close();
	assert_int_equal(write(old.fds[1], "x", 1), 1);
	close(old.fds[0]);
	close(old.fds[1]);
	close(other[0]);
	close(other[1]);
}

static void test_kept_page_map_that_is_lost_is_done_without(void **state)
{
	int pagemap;

	(void)state;
	assert_int_equal(fib_kept_file(FIB_KEPT_PAGEMAP), -ENOENT);
	fib_kept_open(true);
	pagemap = fib_kept_file(FIB_KEPT_PAGEMAP);
	assert_true(pagemap >= 0);
	take_number(pagemap);
	fib_kept_renew();
	assert_int_equal(fib_kept_file(FIB_KEPT_PAGEMAP), -ENOENT);
	close(pagemap);
}

/* The two ways to find how deep a stack has been agree. */
static void test_kept_page_map_agrees_with_mincore(void **state)
{
	const size_t page = fib_os_page_size(), size = 300 * page;
	uint64_t low;
	void *at;

	(void)state;
	fib_kept_open(true);
	assert_int_equal(fib_os_map_stacks(size, &at), 0);
	fib_os_will_split(at, size); /* touches the last page */
	low = (uint64_t)(uintptr_t)at;
	assert_int_equal(fib_os_high_water(low, size), page);
	assert_int_equal(fib_os_high_water_by(fib_kept_file(FIB_KEPT_PAGEMAP), low, size), page);
	((volatile char *)at)[7 * page] = 1;
	assert_int_equal(fib_os_high_water(low, size), size - 7 * page);
	assert_int_equal(fib_os_high_water_by(fib_kept_file(FIB_KEPT_PAGEMAP), low, size),
			 size - 7 * page);
	fib_os_unmap(at, size);
}

static void test_kept_pipe_reads_what_is_longer_than_it_holds_and_says_what_is_missing(void **state)
{
	const size_t page = fib_os_page_size(), size = 64 * page;
	unsigned char *from, *copy;
	void *at, *to;
	size_t i;

	(void)state;
	assert_int_equal(fib_os_map_buffer(size, &at), 0);
	assert_int_equal(fib_os_map_buffer(size, &to), 0);
	from = at;
	copy = to;
	for (i = 0; i < size; i++)
		from[i] = (unsigned char)(i * 31);
	assert_int_equal(
		fib_os_peek_through(fib_kept_pipe(), (uint64_t)(uintptr_t)from + 5, copy, size - 5),
		0);
	assert_memory_equal(copy, from + 5, size - 5);
	fib_os_unmap(from + 40 * page, page);
	assert_int_equal(
		fib_os_peek_through(fib_kept_pipe(), (uint64_t)(uintptr_t)from, copy, size),
		-EFAULT);
	/* The pipe is empty for the next read. */
	assert_int_equal(seen_through_pipe(4714), 4714);
	fib_os_unmap(from, size);
	fib_os_unmap(to, size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_kept_is_opened_once, tear_down),
		cmocka_unit_test_teardown(
			test_kept_file_whose_number_is_another_file_is_opened_anew, tear_down),
		cmocka_unit_test_teardown(
			test_kept_pipe_whose_number_is_another_file_is_not_written_to, tear_down),
		cmocka_unit_test_teardown(test_kept_page_map_that_is_lost_is_done_without,
					  tear_down),
		cmocka_unit_test_teardown(test_kept_page_map_agrees_with_mincore, tear_down),
		cmocka_unit_test_teardown(
			test_kept_pipe_reads_what_is_longer_than_it_holds_and_says_what_is_missing,
			tear_down),
	};

	harness_watchdog(60);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
