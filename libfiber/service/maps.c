/* SPDX-License-Identifier: MIT */
/*
 * maps.c - which files are mapped where, read for one peer after the other
 *
 * /proc/self/maps is opened once (kept.c). The kernel goes on quickly where the last read ended. For any other place it makes all lines
 * before that again, which takes milliseconds in a program with ten thousands of mappings. So one peer reads at a time, from the first
 * line to the last, and others wait for it.
 *
 * A peer that does not take what is sent to it keeps the others waiting for STALLED at most. Then the next one reads, and the lines
 * that the first one has had are made once more when it goes on.
 */
#include "service/maps.h"

#include <errno.h>

#include "service/kept.h"

#define STALLED INT64_C(500000000) /* ns */

static const struct fib_peer *reader; /* T the service thread only; NULL: nobody reads */

static bool stalled(int64_t now)
{
	return reader->writing && now - reader->spoke >= STALLED;
}

ssize_t fib_maps_read(struct fib_peer *peer, void *buf, size_t size, uint64_t offset, int64_t now)
{
	int fd;

	if (reader && reader != peer && !stalled(now)) {
		peer->waits_for_maps = true;
		return -EAGAIN;
	}
	reader = peer;
	peer->waits_for_maps = false;
	fd = fib_kept_file(FIB_KEPT_MAPS);
	return fd < 0 ? fd : fib_os_read_at(fd, buf, size, offset);
}

void fib_maps_leave(const struct fib_peer *peer)
{
	if (reader == peer)
		reader = NULL;
}

int64_t fib_maps_until(const struct fib_peer *peer)
{
	if (!peer->waits_for_maps || !reader || reader == peer)
		return 0;
	return reader->writing ? reader->spoke + STALLED : INT64_MAX;
}
