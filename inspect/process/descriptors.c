/* SPDX-License-Identifier: MIT */
/*
 * descriptors.c - what the descriptors of a live process are: pipes, files, sockets and their peers
 *
 * The kernel names a descriptor by a link in /proc/PID/fd. Of a socket the link has only an inode
 * number; the tables in /proc/PID/net have its addresses. They are as long as the machine has
 * sockets, so they are read once for all descriptors, and only if there is a socket among these.
 */
#include "inspect/process/descriptors.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inspect/text/read_file.h"

#define LISTENS 0x0a /* the state in /proc/net/tcp */

static struct ins_socket_name *add(struct ins_descriptors *d, uint64_t inode)
{
	if (d->count == d->room) {
		const size_t room = d->room ? 2 * d->room : 64;
		struct ins_socket_name *more = realloc(d->socket, room * sizeof *more);

		if (!more)
			return NULL;
		d->socket = more;
		d->room = room;
	}
	d->socket[d->count] = (struct ins_socket_name){.inode = inode};
	return &d->socket[d->count++];
}

/* An address as the tables have it: words of 8 hexadecimal digits, in the machine's byte order. */
static void say_address(const char *hex, unsigned port, char *buf, size_t size)
{
	const size_t words = strlen(hex) / 8;
	const int family = words == 1 ? AF_INET : AF_INET6;
	char word[9] = "", text[INET6_ADDRSTRLEN] = "?";
	uint32_t address[4] = {0};
	size_t i;

	for (i = 0; i < words && i < 4; i++) {
		memcpy(word, hex + 8 * i, 8);
		address[i] = (uint32_t)strtoul(word, NULL, 16);
	}
	inet_ntop(family, address, text, sizeof text);
	snprintf(buf, size, family == AF_INET ? "%s:%u" : "[%s]:%u", text, port);
}

static void take_internet(struct ins_descriptors *d, const char *line)
{
	char local[33], peer[33], text[INET6_ADDRSTRLEN + 16];
	unsigned local_port, peer_port, status;
	struct ins_socket_name *s;
	const char *before;
	uint64_t inode;
	bool listens;

	if (sscanf(line, "%*u: %32[0-9A-Fa-f]:%x %32[0-9A-Fa-f]:%x %x %*s %*s %*s %*u %*u %" SCNu64,
		   local, &local_port, peer, &peer_port, &status, &inode) != 6)
		return;
	/* A socket of datagrams without a peer receives from all. */
	listens = status == LISTENS || !peer_port;
	s = add(d, inode);
	if (!s)
		return;
	say_address(listens ? local : peer, listens ? local_port : peer_port, text, sizeof text);
	before = listens ? "listening " : "";
	snprintf(s->name, sizeof s->name, "%s%.*s", before,
		 (int)(sizeof s->name - 1 - strlen(before)), text);
}

static void take_unix(struct ins_descriptors *d, const char *line)
{
	struct ins_socket_name *s;
	uint64_t inode;
	int at = 0;

	if (sscanf(line, "%*x: %*x %*x %*x %*x %*x %" SCNu64 " %n", &inode, &at) != 1)
		return;
	s = add(d, inode);
	if (s)
		snprintf(s->name, sizeof s->name, "unix%s%.26s", at && line[at] ? " " : "",
			 at ? line + at : "");
}

static void read_table(struct ins_descriptors *d, const char *name,
		       void (*take)(struct ins_descriptors *, const char *))
{
	char path[64], *text, *line, *rest;
	size_t size;

	snprintf(path, sizeof path, "/proc/%d/net/%s", (int)d->pid, name);
	if (ins_read_file(path, &text, &size) < 0)
		return;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		take(d, line);
	free(text);
}

static int by_inode(const void *a, const void *b)
{
	const struct ins_socket_name *x = a, *y = b;

	return x->inode < y->inode ? -1 : x->inode > y->inode;
}

static void read_tables(struct ins_descriptors *d)
{
	d->read = true;
	read_table(d, "tcp", take_internet);
	read_table(d, "tcp6", take_internet);
	read_table(d, "udp", take_internet);
	read_table(d, "udp6", take_internet);
	read_table(d, "unix", take_unix);
	if (d->count)
		qsort(d->socket, d->count, sizeof d->socket[0], by_inode);
}

static void name_socket(struct ins_descriptors *d, uint64_t inode, char *buf)
{
	const struct ins_socket_name key = {.inode = inode}, *s = NULL;

	if (!d->read)
		read_tables(d);
	if (d->count)
		s = bsearch(&key, d->socket, d->count, sizeof key, by_inode);
	snprintf(buf, INS_DESCRIPTOR_NAME, "%s", s ? s->name : "socket");
}

const char *ins_descriptor_name(struct ins_descriptors *descriptors, uint32_t fd,
				char buf[INS_DESCRIPTOR_NAME])
{
	static const char anonymous[] = "anon_inode:";
	char path[64], link[512];
	const char *name = link;
	uint64_t inode;
	ssize_t n;

	buf[0] = 0;
	snprintf(path, sizeof path, "/proc/%d/fd/%" PRIu32, (int)descriptors->pid, fd);
	n = readlink(path, link, sizeof link - 1);
	if (n < 0)
		return buf;
	link[n] = 0;
	if (sscanf(link, "socket:[%" SCNu64 "]", &inode) == 1) {
		name_socket(descriptors, inode, buf);
		return buf;
	}
	if (strncmp(name, anonymous, sizeof anonymous - 1) == 0)
		name += sizeof anonymous - 1 + strspn(name + sizeof anonymous - 1, "[");
	else if (link[0] == '/')
		name = strrchr(link, '/') + 1;
	/* "pipe:[123]", "[eventpoll]" */
	if (link[0] != '/')
		link[(size_t)(name - link) + strcspn(name, ":]")] = 0;
	snprintf(buf, INS_DESCRIPTOR_NAME, "%.31s", name);
	return buf;
}

void ins_descriptors_free(struct ins_descriptors *descriptors)
{
	free(descriptors->socket);
	*descriptors = (struct ins_descriptors){.pid = descriptors->pid};
}
