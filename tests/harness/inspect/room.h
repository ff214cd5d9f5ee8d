/* SPDX-License-Identifier: MIT */
/*
 * room.h - memory of a process that exists only in the test
 *
 * Pieces of bytes at addresses, read through the function that all readers of inspect/ take: a read
 * returns all bytes or -EFAULT.
 */
#ifndef TEST_INSPECT_ROOM_H
#define TEST_INSPECT_ROOM_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ROOM_PIECES 16

struct room {
	struct {
		uint64_t address;
		const void *bytes;
		size_t size;
	} piece[ROOM_PIECES];
	size_t pieces;
	size_t reads;
};

static inline void room_add(struct room *room, uint64_t address, const void *bytes, size_t size)
{
	room->piece[room->pieces].address = address;
	room->piece[room->pieces].bytes = bytes;
	room->piece[room->pieces++].size = size;
}

static inline int room_read(void *arg, uint64_t address, void *buf, size_t size)
{
	struct room *room = arg;

	room->reads++;
	for (size_t i = 0; i < room->pieces; i++) {
		const uint64_t into = address - room->piece[i].address;

		if (into >= room->piece[i].size || size > room->piece[i].size - into)
			continue;
		memcpy(buf, (const char *)room->piece[i].bytes + into, size);
		return 0;
	}
	return -EFAULT;
}

#endif
