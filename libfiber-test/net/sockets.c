/* SPDX-License-Identifier: MIT */
/*
 * sockets.c - the internet sockets of a schedule
 *
 * Names of UNIX sockets are in the abstract namespace and contain a random number of this process:
 * two tests that run side by side do not meet. A serial number is never used twice in a process.
 * Sockets are freed at the end of the schedule, so pointers between them stay valid.
 */
#include "net/sockets.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/check.h"
#include "io/descriptor.h"
#include "net/real.h"
#include "os/virtual.h"
#include "os/world.h"

#define BUCKETS 256u
#define PREFIX	"fiber-test."

static struct {
	struct fib_socket **all;
	unsigned count, room;
	unsigned first_serial; /* of this schedule */
	struct fib_socket *buckets[BUCKETS];
	uint64_t tag;
	pid_t pid; /* whose tag it is */
} sockets;

static struct fib_socket **bucket(uint64_t inode)
{
	return &sockets.buckets[inode % BUCKETS];
}

/* Before a fork. */
static void share_all(void)
{
	unsigned i;

	fib_world_use();
	for (i = 0; i < sockets.count; i++)
		sockets.all[i]->shared = true;
}

void fib_sockets_begin(void)
{
	static bool prepared;

	if (!prepared)
		pthread_atfork(share_all, NULL, NULL);
	prepared = true;
	if (sockets.pid == getpid())
		return;
	sockets.pid = getpid();
	if (syscall(SYS_getrandom, &sockets.tag, sizeof sockets.tag, 0) != sizeof sockets.tag)
		sockets.tag = (uint64_t)sockets.pid;
}

unsigned fib_socket_count(void)
{
	return sockets.count;
}

struct fib_socket *fib_socket_at(unsigned i)
{
	return sockets.all[i];
}

static uint64_t inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode) ? (uint64_t)st.st_ino : 0;
}

static struct fib_socket *find(uint64_t inode)
{
	struct fib_socket *s;

	for (s = *bucket(inode); s && s->inode != inode; s = s->next)
		;
	return s;
}

struct fib_socket *fib_socket_of(int fd)
{
	const int error = errno;
	struct fib_socket *s;
	uint64_t inode;

	if (!sockets.count || !fib_virtual_here())
		return NULL;
	inode = inode_of(fd);
	errno = error;
	s = inode ? find(inode) : NULL;
	return s && !s->closed ? s : NULL;
}

struct fib_socket *fib_socket_add(int fd, int family, bool stream)
{
	struct fib_socket *s = calloc(1, sizeof *s), **more;
	const unsigned room = sockets.room ? 2 * sockets.room : 16;

	if (s && sockets.count == sockets.room) {
		more = realloc(sockets.all, room * sizeof *more);
		if (more) {
			sockets.all = more;
			sockets.room = room;
		}
	}
	if (!s || sockets.count == sockets.room) {
		free(s);
		return NULL;
	}
	s->inode = inode_of(fd);
	s->serial = sockets.first_serial + sockets.count;
	s->family = family;
	s->stream = stream;
	s->references = 1;
	s->lingering = -1;
	s->overflow_end = &s->overflow;
	s->local = s->remote = fib_address_none(family);
	s->next = *bucket(s->inode);
	*bucket(s->inode) = s;
	sockets.all[sockets.count++] = s;
	return s;
}

socklen_t fib_socket_name(const struct fib_socket *s, struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	/* The first byte stays 0. */
	return (socklen_t)offsetof(struct sockaddr_un, sun_path) + 1 +
	       (socklen_t)snprintf(ret->sun_path + 1, sizeof ret->sun_path - 1,
				   PREFIX "%d.%016llx.%u", (int)sockets.pid,
				   (unsigned long long)sockets.tag, s->serial);
}

struct fib_socket *fib_socket_named(const struct sockaddr_un *name, socklen_t size)
{
	const socklen_t start = (socklen_t)offsetof(struct sockaddr_un, sun_path) + 1;
	char text[sizeof name->sun_path + 1];
	const char *serial;
	unsigned long n;

	if (size <= start || size > sizeof *name)
		return NULL;
	memcpy(text, name->sun_path + 1, size - start);
	text[size - start] = 0;
	serial = strrchr(text, '.');
	if (!serial || strncmp(text, PREFIX, strlen(PREFIX)) != 0)
		return NULL;
	n = strtoul(serial + 1, NULL, 10) - sockets.first_serial;
	return n < sockets.count ? sockets.all[n] : NULL;
}

int fib_socket_make_name(struct fib_socket *s, int fd)
{
	struct sockaddr_un name;
	const socklen_t size = fib_socket_name(s, &name);

	if (s->named)
		return 0;
	if (fib_real()->bind(fd, (struct sockaddr *)&name, size) < 0)
		return -errno;
	s->named = true;
	return 0;
}

int fib_socket_descriptor(const struct fib_socket *s)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	int found = -1, fd;

	while (dir && found < 0 && (entry = readdir(dir))) {
		fd = atoi(entry->d_name);
		if (entry->d_name[0] != '.' && fd != s->lingering && inode_of(fd) == s->inode)
			found = fd;
	}
	if (dir)
		closedir(dir);
	return found;
}

bool fib_socket_alive(struct fib_socket *s)
{
	if (!s->closed && !s->shared && fib_socket_descriptor(s) < 0)
		s->closed = true; /* by libc itself, as in fclose(3) */
	return !s->closed;
}

/* Give a connection that was veiled the room that it had. The kernel doubles what it is given. */
static void restore_room(struct fib_socket *s, int fd)
{
	const int room = s->send_room / 2;

	if (!s->send_room || s->veiled)
		return;
	fib_real()->setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
	s->send_room = 0;
}

int fib_socket_take_error(struct fib_socket *s, int fd)
{
	int error = 0, kept = s->error;
	socklen_t size = sizeof error;

	s->error = 0;
	restore_room(s, fd);
	if (!kept && fib_real()->getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0)
		kept = error;
	if (!kept || !s->veiled)
		return kept;
	s->veiled = 0; /* the listener has been closed */
	s->connected = false;
	return ECONNREFUSED;
}

void fib_socket_let_go(struct fib_socket *s)
{
	struct fib_overflow *o;

	while ((o = s->overflow)) {
		s->overflow = o->next;
		free(o);
	}
	s->overflow_end = &s->overflow;
	s->overflow_bytes = 0;
	if (s->lingering >= 0)
		fib_real()->close(s->lingering);
	s->lingering = -1;
}

static void forget(struct fib_socket *s)
{
	struct fib_socket_option *o;
	int fd;

	while (!s->closed && (fd = fib_socket_descriptor(s)) >= 0) {
		fib_descriptor_forget(fd);
		fib_real()->close(fd);
		fib_descriptor_closed(fd);
	}
	fib_socket_let_go(s);
	while ((o = s->options)) {
		s->options = o->next;
		free(o);
	}
	*bucket(s->inode) = NULL;
	free(s);
}

void fib_sockets_end(void)
{
	unsigned i;

	for (i = 0; i < sockets.count; i++)
		forget(sockets.all[i]);
	sockets.first_serial += sockets.count;
	sockets.count = 0;
}
