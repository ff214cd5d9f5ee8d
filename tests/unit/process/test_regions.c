/* SPDX-License-Identifier: MIT */
/* test_regions.c - the readable memory of a process, and what the kernel keeps for it */
#include "inspect/process/regions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/harness/inspect/head.h"

static const char maps[] = "1000-2000 r-xp 00000000 fe:00 77 /bin/it\n"
			   "2000-3000 rw-p 00001000 fe:00 77 /bin/it\n"
			   "3000-4000 rw-p 00000000 00:00 0 \n"
			   "5000-6000 rw-p 00000000 00:00 0 [heap]\n"
			   "7000-8000 ---p 00000000 00:00 0 \n"
			   "9000-a000 rw-s 00000000 00:05 12 /dev/dri/card0\n"
			   "a000-b000 rw-s 00000000 00:01 13 /dev/zero (deleted)\n"
			   "b000-c000 rw-s 00000000 00:0e 14 anon_inode:[io_uring]\n"
			   "c000-d000 rw-s 00000000 00:18 15 /dev/shm/it\n"
			   "e000-f000 r--p 00000000 00:00 0 [vvar]\n"
			   "f000-10000 r-xp 00000000 00:00 0 [vdso]\n";

static void test_devices_and_what_cannot_be_read_are_left_out(void **state)
{
	static const struct ins_region want[] = {
		{0x1000, 0x2000, false, false, true, false},
		{0x2000, 0x3000, true, false, true, false},
		{0x3000, 0x4000, true, false, false, false},
		{0x5000, 0x6000, true, false, false, true},
		{0xa000, 0xb000, true, true, true, false},
		{0xb000, 0xc000, true, true, true, false},
		{0xc000, 0xd000, true, true, true, false},
	};
	struct ins_regions got;
	FILE *text = fmemopen((void *)maps, sizeof maps - 1, "r");

	(void)state;
	assert_int_equal(ins_regions_parse(text, &got), 0);
	fclose(text);
	assert_int_equal(got.count, sizeof want / sizeof want[0]);
	for (size_t i = 0; i < got.count; i++) {
		assert_int_equal(got.at[i].start, want[i].start);
		assert_int_equal(got.at[i].end, want[i].end);
		assert_int_equal(got.at[i].writable, want[i].writable);
		assert_int_equal(got.at[i].shared, want[i].shared);
		assert_int_equal(got.at[i].file, want[i].file);
		assert_int_equal(got.at[i].heap, want[i].heap);
	}
	free(got.at);
}

static void test_a_living_process_has_its_memory_in_them(void **state)
{
	char *mine = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const uint64_t at = (uint64_t)(uintptr_t)mine;
	struct ins_regions got;
	bool found = false;

	(void)state;
	assert_int_equal(ins_regions_live(getpid(), &got), 0);
	for (size_t i = 0; i < got.count; i++)
		found |= at >= got.at[i].start && at < got.at[i].end && got.at[i].shared &&
			 got.at[i].writable;
	assert_true(found);
	free(got.at);
	munmap(mine, 4096);
}

static void test_a_process_that_does_not_exist_is_an_error(void **state)
{
	struct ins_regions got;

	(void)state;
	assert_true(ins_regions_live(0x7ffffffe, &got) < 0);
}

static int take(void *context, uint64_t word)
{
	return word == *(uint64_t *)context ? 7 : 0;
}

static void test_the_data_of_epoll_is_found(void **state)
{
	uint64_t word = UINT64_C(0x123456789abcdef0);
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = word};
	const int epoll = epoll_create1(EPOLL_CLOEXEC), fd = eventfd(0, EFD_CLOEXEC);

	(void)state;
	assert_int_equal(ins_kernel_words(getpid(), take, &word), 0);
	assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), 0);
	assert_int_equal(ins_kernel_words(getpid(), take, &word), 7);
	close(fd);
	close(epoll);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_devices_and_what_cannot_be_read_are_left_out),
		cmocka_unit_test(test_a_living_process_has_its_memory_in_them),
		cmocka_unit_test(test_a_process_that_does_not_exist_is_an_error),
		cmocka_unit_test(test_the_data_of_epoll_is_found),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
