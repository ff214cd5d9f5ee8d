/* SPDX-License-Identifier: MIT */
/* descriptors.h - what the descriptors of a live process are: pipes, files, sockets and their peers */
#ifndef INS_DESCRIPTORS_H
#define INS_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define INS_DESCRIPTOR_NAME 32

struct ins_socket_name {
	uint64_t inode;
	char name[INS_DESCRIPTOR_NAME];
};

/* The sockets of the process' network namespace; zeroed before the first use. */
struct ins_descriptors {
	pid_t pid;
	bool read;			/* the tables were read */
	struct ins_socket_name *socket; /* by ascending inode */
	size_t count, room;
};

/*
 * The name of descriptor fd: the address of a socket's peer, "listening 0.0.0.0:80", "unix PATH",
 * "pipe", "eventpoll", the last part of a file's path. "": unknown. Sockets are those of the first
 * call that met one. Not escaped. Returns buf.
 */
const char *ins_descriptor_name(struct ins_descriptors *descriptors, uint32_t fd,
				char buf[INS_DESCRIPTOR_NAME]);
void ins_descriptors_free(struct ins_descriptors *descriptors);

#endif
