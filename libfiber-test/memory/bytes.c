/* SPDX-License-Identifier: MIT */
/*
 * bytes.c - order by bytes that are sent through descriptors
 *
 * A send happens before the receive that returns its bytes. A descriptor does not tell which one is
 * its other end. So descriptors are put into classes, and each send comes before every later
 * receive of its class: both ends of a pipe have the same inode, which has a class, as long as the
 * schedule uses at most PIPES of them; all sockets are one class; all others (files, event
 * descriptors) are one. Data that is
 * ordered by bytes between other fibers of the same class can race unseen; no race is invented.
 */
#include "memory/bytes.h"

#include <sys/stat.h>

#include "memory/actors.h"
#include "order.h"

#define PIPES	61u
#define SOCKETS PIPES
#define OTHERS	(PIPES + 1)
#define ANY	(PIPES + 2)
#define CLASSES (PIPES + 3)

static const unsigned char classes[CLASSES]; /* the addresses stand for the classes */

/* Those of this schedule, in the order in which they were used first. */
static struct {
	ino_t inodes[PIPES];
	unsigned n;
} pipes;

void fib_bytes_begin(void)
{
	pipes.n = 0;
}

static unsigned class_of_pipe(ino_t inode)
{
	unsigned i;

	for (i = 0; i < pipes.n; i++)
		if (pipes.inodes[i] == inode)
			return i;
	if (pipes.n == PIPES)
		return PIPES - 1;
	pipes.inodes[pipes.n] = inode;
	return pipes.n++;
}

static unsigned class_of(int fd)
{
	struct stat s;

	if (fd < 0 || fstat(fd, &s) < 0)
		return ANY;
	if (S_ISFIFO(s.st_mode))
		return class_of_pipe(s.st_ino);
	return S_ISSOCK(s.st_mode) ? SOCKETS : OTHERS;
}

void fib_order_bytes_out(int fd)
{
	if (fib_actor_self())
		fib_order_release(&classes[class_of(fd)]);
}

void fib_order_bytes_in(int fd, long result)
{
	unsigned class, i;

	if (result < 0 || !fib_actor_self())
		return;
	class = class_of(fd);
	fib_order_acquire(&classes[ANY]);
	for (i = 0; i < CLASSES; i++)
		if (class == ANY || class == i)
			fib_order_acquire(&classes[i]);
}
