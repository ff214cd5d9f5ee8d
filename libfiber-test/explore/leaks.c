/* SPDX-License-Identifier: MIT */
/*
 * leaks.c - memory and descriptors that a schedule leaves behind
 *
 * Blocks are known where the program's allocations are wrapped (libc/memory.c). Those that were
 * allocated before the schedule are not counted. Descriptors are compared with those that were open
 * when the schedule began; what libfiber opens for itself, epoll descriptors and rings, is not
 * counted, and neither are such descriptors of the program.
 */
#include "explore/leaks.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fiber/test.h>

#include "base/check.h"
#include "base/compiler.h"
#include "explore/finding.h"
#include "report/place.h"

#define DESCRIPTORS 1024 /* higher ones are not looked at */

struct block {
	const void *at; /* NULL: a free place, or one that was freed if caller is set */
	size_t size;
	const void *caller;
	size_t number; /* counts the blocks of the schedule */
};

static struct {
	unsigned flags;
	struct block *blocks; /* an open hash table */
	size_t room, used, left, number;
	unsigned char open[DESCRIPTORS];
} leaks;

/* -- memory -- */

static size_t place_of(const void *at, size_t room)
{
	return (size_t)((uintptr_t)at * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (room - 1);
}

static void insert(struct block block)
{
	size_t i = place_of(block.at, leaks.room);

	while (leaks.blocks[i].at || leaks.blocks[i].caller)
		i = (i + 1) & (leaks.room - 1);
	leaks.blocks[i] = block;
	leaks.used++;
}

static void grow(void)
{
	struct block *old = leaks.blocks;
	const size_t n = leaks.room;
	size_t i;

	leaks.room = n ? 2 * n : 256;
	leaks.blocks = calloc(leaks.room, sizeof *leaks.blocks);
	fib_check(leaks.blocks);
	leaks.used = 0;
	for (i = 0; i < n; i++)
		if (old[i].at)
			insert(old[i]);
	free(old);
}

void fib_leaks_add(const void *at, size_t size, const void *caller)
{
	if (!at || !(leaks.flags & FIBER_TEST_MEMORY))
		return;
	if (2 * leaks.used >= leaks.room)
		grow();
	insert((struct block){at, size, caller, leaks.number++});
	leaks.left++;
}

void fib_leaks_remove(const void *at)
{
	size_t i;

	if (!at || !(leaks.flags & FIBER_TEST_MEMORY) || !leaks.room)
		return;
	for (i = place_of(at, leaks.room); leaks.blocks[i].at || leaks.blocks[i].caller;
	     i = (i + 1) & (leaks.room - 1)) {
		if (leaks.blocks[i].at != at)
			continue;
		leaks.blocks[i].at = NULL; /* caller stays: the search goes on here */
		leaks.left--;
		return;
	}
}

static void check_memory(void)
{
	const struct block *first = NULL;
	size_t i, bytes = 0;
	char place[256];

	for (i = 0; i < leaks.room; i++) {
		if (!leaks.blocks[i].at)
			continue;
		bytes += leaks.blocks[i].size;
		if (!first || leaks.blocks[i].number < first->number)
			first = &leaks.blocks[i];
	}
	leaks.flags = 0;
	if (!first)
		return;
	fib_place_text(first->caller, place, sizeof place);
	fib_finding(FIBER_TEST_LEAK, "%zu block%s with %zu bytes %s left; the first is of %s",
		    leaks.left, leaks.left == 1 ? "" : "s", bytes, leaks.left == 1 ? "is" : "are",
		    place);
}

/* -- descriptors -- */

static void read_descriptors(unsigned char open[DESCRIPTORS])
{
	DIR *folder = opendir("/proc/self/fd");
	const struct dirent *entry;
	int fd;

	memset(open, 0, DESCRIPTORS);
	if (!folder)
		return;
	while ((entry = readdir(folder))) {
		fd = atoi(entry->d_name);
		if (entry->d_name[0] != '.' && fd < DESCRIPTORS && fd != dirfd(folder))
			open[fd] = 1;
	}
	closedir(folder);
}

/* What it is, as the system names it; "" for what libfiber opens for itself. */
static const char *name_of(int fd, char *buf, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	n = readlink(path, buf, size - 1);
	buf[n > 0 ? n : 0] = 0;
	if (strcmp(buf, "anon_inode:[eventpoll]") == 0 || strcmp(buf, "anon_inode:[io_uring]") == 0)
		buf[0] = 0;
	/* The numbers of sockets and pipes differ each time. */
	if (buf[0] != '/' && strstr(buf, ":["))
		strstr(buf, ":[")[0] = 0;
	return buf;
}

static void check_descriptors(void)
{
	unsigned char open[DESCRIPTORS];
	char name[256], first[256] = "";
	unsigned count = 0;
	int fd;

	read_descriptors(open);
	for (fd = 0; fd < DESCRIPTORS; fd++) {
		if (!open[fd] || leaks.open[fd] || !name_of(fd, name, sizeof name)[0])
			continue;
		if (!count++)
			snprintf(first, sizeof first, "%.200s", name);
	}
	if (count)
		fib_finding(FIBER_TEST_LEAK, "%u descriptor%s left open; the first is of %s", count,
			    count == 1 ? " is" : "s are", first);
}

void fib_leaks_begin(unsigned flags)
{
	leaks.flags = flags;
	leaks.used = leaks.left = leaks.number = 0;
	if (leaks.room)
		memset(leaks.blocks, 0, leaks.room * sizeof *leaks.blocks);
	if (flags & FIBER_TEST_DESCRIPTORS)
		read_descriptors(leaks.open);
}

void fib_leaks_end(void)
{
	if (leaks.flags & FIBER_TEST_MEMORY && leaks.left)
		check_memory();
	if (leaks.flags & FIBER_TEST_DESCRIPTORS)
		check_descriptors();
	leaks.flags = 0;
}
