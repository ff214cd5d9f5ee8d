/* SPDX-License-Identifier: MIT */
/*
 * inside.c - whether a descriptor can become ready while no fiber runs
 *
 * Pipes and socket pairs are known by device and inode. Event descriptors share one inode; they have
 * a number of their own (proc(5), fdinfo).
 */
#include "net/inside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/compiler.h"
#include "net/real.h"
#include "net/sockets.h"
#include "os/virtual.h"
#include "os/world.h"

struct identity {
	uint64_t device, number;
};

static struct {
	struct identity *at;
	size_t n, room;
	bool opened_up;
} made;

void fib_inside_begin(void)
{
	made.n = 0;
	made.opened_up = false;
}

/* The number in "eventfd-id: 7"; -1: fd is no event descriptor, or the system does not say. */
static long event_number(int fd)
{
	char path[64], text[512];
	const char *at;
	ssize_t n;
	int info;

	snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
	info = fib_real()->open(path, O_RDONLY | O_CLOEXEC);
	if (info < 0)
		return -1;
	n = fib_real()->read(info, text, sizeof text - 1);
	fib_real()->close(info);
	text[n > 0 ? n : 0] = 0;
	at = strstr(text, "eventfd-id:");
	return at ? strtol(at + strlen("eventfd-id:"), NULL, 10) : -1;
}

static bool identify(int fd, struct identity *ret)
{
	struct stat st;
	long number;

	if (fstat(fd, &st) < 0)
		return false;
	*ret = (struct identity){st.st_dev, st.st_ino};
	if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))
		return true;
	number = event_number(fd);
	*ret = (struct identity){UINT64_MAX, (uint64_t)number};
	return number >= 0;
}

void fib_inside_note(const int *fds, unsigned n)
{
	const size_t room = made.room ? 2 * made.room : 64;
	struct identity id, *more;
	unsigned i;

	for (i = 0; i < n && fib_virtual_here(); i++) {
		if (made.n == made.room) {
			more = realloc(made.at, room * sizeof *more);
			if (!more)
				return; /* it counts as outside */
			made.at = more;
			made.room = room;
		}
		if (identify(fds[i], &id))
			made.at[made.n++] = id;
	}
}

void fib_inside_opened_up(void)
{
	made.opened_up = true;
}

static bool has_one_thread(void)
{
	DIR *dir = opendir("/proc/self/task");
	unsigned n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n == 3; /* with . and .. */
}

bool fib_inside_alone(void)
{
	siginfo_t info;

	return !made.opened_up && has_one_thread() &&
	       waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD;
}

bool fib_inside_has(int fd)
{
	struct identity id;
	size_t i;

	if (fib_socket_of(fd))
		return true;
	if (!made.n || !identify(fd, &id))
		return false;
	for (i = 0; i < made.n; i++)
		if (made.at[i].device == id.device && made.at[i].number == id.number)
			return true;
	return false;
}

void fib_inside_waits(int fd)
{
	if (fib_world_is_unused() && !fib_inside_has(fd))
		fib_world_use();
}
