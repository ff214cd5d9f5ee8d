/* SPDX-License-Identifier: MIT */
/* test_memory.c - both ways to read another process's memory give the same bytes and errors */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/inspect/head.h"
#include "inspect/process/memory.h"
#include "tests/harness/forbid.h"

static const char words[] = "what another process would see";

static uint64_t address(const void *at)
{
	return (uint64_t)(uintptr_t)at;
}

/* Way 0 is process_vm_readv, way 1 is /proc/PID/mem. */
static void open_way(struct ins_memory *m, int way)
{
	char path[64];

	assert_int_equal(ins_memory_open(m, getpid(), address(words)), 0);
	assert_int_equal(m->file, -1);
	if (way) {
		snprintf(path, sizeof path, "/proc/%d/mem", (int)getpid());
		m->file = open(path, O_RDONLY | O_CLOEXEC);
		assert_true(m->file >= 0);
	}
}

static void test_pieces_are_all_read_in_order(void **state)
{
	struct ins_memory m;
	int way;

	(void)state;
	for (way = 0; way < 2; way++) {
		char a[5] = "", b[8] = "";
		const struct ins_memory_piece pieces[] = {{address(words), a, 4},
							  {address(words + 5), b, 7}};

		open_way(&m, way);
		assert_int_equal(ins_memory_read(&m, pieces, 2), 0);
		assert_string_equal(a, "what");
		assert_string_equal(b, "another");
		ins_memory_close(&m);
	}
}

static void test_what_is_not_mapped_is_an_error_and_no_crash(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *two =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ins_memory m;
	char buf[16] = "";
	int way;

	(void)state;
	assert_ptr_not_equal(two, MAP_FAILED);
	munmap(two + page, page);
	for (way = 0; way < 2; way++) {
		const struct ins_memory_piece across = {address(two + page - 8), buf, 16};
		const struct ins_memory_piece nowhere = {16, buf, 16};
		const struct ins_memory_piece high = {UINT64_MAX - 7, buf, 16};
		const struct ins_memory_piece good = {address(two), buf, 16};

		open_way(&m, way);
		assert_int_equal(ins_memory_read(&m, &across, 1), -EFAULT);
		assert_int_equal(ins_memory_read(&m, &nowhere, 1), -EFAULT);
		assert_true(ins_memory_read(&m, &high, 1) < 0);
		assert_int_equal(ins_memory_read(&m, &good, 1), 0);
		ins_memory_close(&m);
	}
	munmap(two, page);
}

static void test_more_pieces_than_fit_are_refused(void **state)
{
	struct ins_memory_piece pieces[INS_MEMORY_PIECES + 1];
	char buf[INS_MEMORY_PIECES + 1];
	struct ins_memory m;
	unsigned i;

	(void)state;
	for (i = 0; i < INS_MEMORY_PIECES + 1; i++)
		pieces[i] = (struct ins_memory_piece){address(words + i), &buf[i], 1};
	open_way(&m, 0);
	assert_int_equal(ins_memory_read(&m, pieces, INS_MEMORY_PIECES + 1), -EINVAL);
	assert_int_equal(ins_memory_read(&m, pieces, INS_MEMORY_PIECES), 0);
	assert_memory_equal(buf, words, INS_MEMORY_PIECES);
	ins_memory_close(&m);
}

static void test_a_process_that_ended_is_no_such_process(void **state)
{
	struct ins_memory m;
	pid_t child = fork();

	(void)state;
	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(ins_memory_open(&m, child, address(words)), -ESRCH);
}

/* Run in a child without process_vm_readv: return 0 if reads fall back to /proc/PID/mem. */
static int without_process_vm_readv(void)
{
	char buf[8] = "";
	struct ins_memory_piece piece = {address(words), buf, 4};
	struct ins_memory m;

	if (!harness_forbid(SYS_process_vm_readv, EPERM))
		return 77;
	if (ins_memory_open(&m, getpid(), address(words)) < 0)
		return 1;
	if (m.file < 0)
		return 2;
	return ins_memory_read(&m, &piece, 1) == 0 && strcmp(buf, "what") == 0 ? 0 : 3;
}

static void test_where_the_call_is_forbidden_the_file_is_read(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	if (child == 0)
		_exit(without_process_vm_readv());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces_are_all_read_in_order),
		cmocka_unit_test(test_what_is_not_mapped_is_an_error_and_no_crash),
		cmocka_unit_test(test_more_pieces_than_fit_are_refused),
		cmocka_unit_test(test_a_process_that_ended_is_no_such_process),
		cmocka_unit_test(test_where_the_call_is_forbidden_the_file_is_read),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
