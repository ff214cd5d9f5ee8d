/* SPDX-License-Identifier: MIT */
/* test_core_copy.c - which memory goes into a core; untouched memory stays untouched */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/harness/inspect/head.h"
#include "inspect/corefile/core_copy.h"
#include "tests/harness/paths.h"

#define PAGE  UINT64_C(4096)
#define PAGES 600 /* memory to copy: more than one piece */

static struct ins_core_part *part;
static char path[HARNESS_PATH];
static struct ins_error error;

static void test_parts_are_what_the_kernel_takes_by_default(void **state)
{
	struct ins_mapping m[] = {
		{.start = 0x1000, .end = 0x5000, .inode = 7, .flags = PF_R | PF_X, .path = "/p"},
		{.start = 0x5000,
		 .end = 0x6000,
		 .inode = 7,
		 .offset = 0x4000,
		 .flags = PF_R,
		 .path = "/p"},
		{.start = 0x6000, .end = 0x7000, .inode = 7, .flags = PF_R | PF_W, .path = "/p"},
		{.start = 0x7000, .end = 0x8000, .flags = PF_R | PF_W, .path = "[heap]"},
		{.start = 0x8000, .end = 0x9000, .flags = 0, .path = ""},
		{.start = 0x9000, .end = 0xa000, .flags = PF_R, .withheld = true, .path = ""},
		{.start = 0xa000,
		 .end = 0xb000,
		 .flags = PF_R,
		 .inode = 9,
		 .shared = true,
		 .path = "/f"},
		{.start = 0xb000,
		 .end = 0xc000,
		 .flags = PF_R,
		 .inode = 9,
		 .shared = true,
		 .deleted = true,
		 .path = "/f"},
		{.start = 0xc000, .end = 0xd000, .flags = PF_R, .path = "[vvar]"},
		{.start = 0xd000, .end = 0xf000, .flags = PF_R | PF_X, .path = "[vdso]"},
	};
	const struct ins_mappings mappings = {m, sizeof m / sizeof m[0]};
	const uint64_t all[] = {0x4000, 0x1000, 0x1000, 0x1000, 0, 0, 0, 0x1000, 0, 0x2000};
	const uint64_t few[] = {PAGE, 0, 0x1000, 0x1000, 0, 0, 0, 0x1000, 0, 0x2000};

	(void)state;
	for (int stacks = 0; stacks < 2; stacks++) {
		assert_int_equal(ins_core_parts_live(&mappings, stacks, &part), 0);
		for (size_t i = 0; i < mappings.count; i++) {
			assert_int_equal(part[i].start, m[i].start);
			assert_int_equal(part[i].end, m[i].end);
			assert_int_equal(part[i].size, (stacks ? few : all)[i]);
		}
		free(part);
	}
}

static int own_memory(void *source, uint64_t address, void *buf, size_t size)
{
	const struct iovec to = {buf, size}, from = {(void *)(uintptr_t)address, size};

	(void)source;
	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)size ? 0 : -EFAULT;
}

static struct ins_core_writer begin(struct ins_core_part *parts, size_t count, const char *name)
{
	int fd = open(harness_file(path, name), O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct ins_core_writer w;

	assert_true(fd >= 0);
	assert_int_equal(ins_core_writer_begin(&w, fd, parts, count), 0);
	return w;
}

static void end(struct ins_core_writer *w, struct ins_core *core)
{
	assert_int_equal(ins_core_writer_end(w), 0);
	close(w->fd);
	ins_core_writer_free(w);
	assert_int_equal(ins_core_open(path, &error, core), 0);
}

/*
 * Pages that exist: the first, the last, two around an unreadable hole, and the first after a gap.
 */
static void test_memory_is_copied_and_not_touched(void **state)
{
	struct ins_source source = {.pid = getpid(), .memory = own_memory};
	char *at = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint64_t start = (uintptr_t)at;
	const struct ins_core_gap gap = {start + 400 * PAGE, start + 420 * PAGE};
	struct ins_core_part one = {
		.start = start, .end = start + PAGES * PAGE, .size = PAGES * PAGE};
	struct ins_core_part again;
	static unsigned char there[PAGES], byte;
	struct ins_core_writer w;
	struct ins_core core, second;

	(void)state;
	assert_true(at != MAP_FAILED);
	madvise(at, PAGES * PAGE, MADV_NOHUGEPAGE);
	at[0] = at[300 * PAGE] = at[302 * PAGE] = at[410 * PAGE] = at[420 * PAGE] = 'x';
	at[301 * PAGE] = 'y';
	at[PAGES * PAGE - 1] = 'z';
	mprotect(at + 301 * PAGE, PAGE, PROT_NONE);
	w = begin(&one, 1, "first");
	assert_int_equal(ins_core_copy_live(&w, &source, &gap), 0);
	assert_int_equal(mincore(at, PAGES * PAGE, there), 0);
	for (size_t i = 0; i < PAGES; i++)
		assert_int_equal(there[i] & 1, i == 0 || (i >= 300 && i <= 302) || i == 410 ||
						       i == 420 || i == PAGES - 1);
	end(&w, &core);
	/* Copy that core into another. */
	again = one;
	w = begin(&again, 1, "second");
	assert_int_equal(ins_core_copy_core(&w, &core), 0);
	end(&w, &second);
	for (size_t i = 0; i < PAGES; i++) {
		unsigned char wanted = i == 0 || i == 300 || i == 302 || i == 420 ? 'x' : 0;

		assert_int_equal(ins_core_read(&core, start + i * PAGE, &byte, 1), 0);
		assert_int_equal(byte, wanted);
		assert_int_equal(ins_core_read(&second, start + i * PAGE, &byte, 1), 0);
		assert_int_equal(byte, wanted);
	}
	assert_int_equal(ins_core_read(&second, start + PAGES * PAGE - 1, &byte, 1), 0);
	assert_int_equal(byte, 'z');
	ins_core_close(&core);
	ins_core_close(&second);
	munmap(at, PAGES * PAGE);
}

static void test_parts_of_a_core_are_those_that_it_has(void **state)
{
	static const unsigned char text[2 * 4096] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3};
	struct ins_core_part was[] = {
		{.start = 0x10000, .end = 0x12000, .size = 2 * PAGE, .flags = PF_R | PF_X},
		{.start = 0x20000, .end = 0x22000, .size = 2 * PAGE, .flags = PF_R | PF_X},
		{.start = 0x30000, .end = 0x32000, .size = PAGE, .flags = PF_R | PF_W},
	};
	struct ins_core_writer w = begin(was, 3, "parts");
	struct ins_core core;

	(void)state;
	assert_int_equal(ins_core_writer_memory(&w, 0x10000, text, sizeof text, false), 0);
	end(&w, &core);
	assert_int_equal(ins_core_parts_core(&core, false, &part), 0);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(part[i].start, was[i].start);
		assert_int_equal(part[i].end, was[i].end);
		assert_int_equal(part[i].size, was[i].size);
		assert_int_equal(part[i].flags, was[i].flags);
	}
	free(part);
	/* Code mapped from a file keeps its header; other code is left out. */
	assert_int_equal(ins_core_parts_core(&core, true, &part), 0);
	assert_int_equal(part[0].size, PAGE);
	assert_int_equal(part[1].size, 0);
	assert_int_equal(part[2].size, PAGE);
	free(part);
	ins_core_close(&core);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts_are_what_the_kernel_takes_by_default),
		cmocka_unit_test(test_memory_is_copied_and_not_touched),
		cmocka_unit_test(test_parts_of_a_core_are_those_that_it_has),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
