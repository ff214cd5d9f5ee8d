/* SPDX-License-Identifier: MIT */
/*
 * leaks.c - memory and descriptors that a schedule leaves behind
 *
 * Blocks are known where the program's allocations are wrapped (libc/memory.c). Those that were
 * allocated before the schedule are not counted. Descriptors are compared with those that were open
 * when the schedule began. What libfiber has opened for itself is not counted: the epoll descriptor
 * of a runtime, and its ring, which that watches.
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
#include "io/op.h"
#include "report/place.h"
#include "sched/gather.h"

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

/* fd has not been left by the program. */
static void disregard(int fd)
{
	if (fd >= 0 && fd < DESCRIPTORS)
		leaks.open[fd] = 1;
}

/* The descriptors of a runtime. Its ring is the one that its epoll descriptor watches as that. */
static void disregard_own(struct fib_carrier *c)
{
	struct fib_poller *poller = c->sched->poller;
	const int epoll = poller->ops->descriptor(poller);
	unsigned long long token;
	char line[256];
	FILE *in;
	int fd;

	disregard(epoll);
	snprintf(line, sizeof line, "/proc/self/fdinfo/%d", epoll);
	in = fopen(line, "re");
	while (in && fgets(line, sizeof line, in))
		if (sscanf(line, "tfd: %d events: %*x data: %llx", &fd, &token) == 2 &&
		    token == FIB_OP_RING)
			disregard(fd);
	if (in)
		fclose(in);
}

/* What it is, as the system names it. */
static const char *name_of(int fd, char *buf, size_t size)
{
	static const char anonymous[] = "anon_inode:[";
	char path[64], *end;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	n = readlink(path, buf, size - 1);
	buf[n > 0 ? n : 0] = 0;
	/* "eventfd"; the numbers of sockets and pipes differ each time. */
	if (strncmp(buf, anonymous, sizeof anonymous - 1) == 0) {
		memmove(buf, buf + sizeof anonymous - 1, strlen(buf) - sizeof anonymous + 2);
		end = strchr(buf, ']');
	} else {
		end = buf[0] != '/' ? strstr(buf, ":[") : NULL;
	}
	if (end)
		*end = 0;
	return buf;
}

static void check_descriptors(void)
{
	unsigned char open[DESCRIPTORS];
	char name[256], first[256] = "";
	unsigned count = 0;
	int fd;

	fib_gather_each(disregard_own);
	read_descriptors(open);
	for (fd = 0; fd < DESCRIPTORS; fd++) {
		if (!open[fd] || leaks.open[fd])
			continue;
		if (!count++)
			snprintf(first, sizeof first, "%.200s", name_of(fd, name, sizeof name));
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
