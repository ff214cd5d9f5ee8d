/* SPDX-License-Identifier: MIT */
/*
 * maps.c - read the mappings of the process, for one peer at a time
 *
 * /proc/self/maps is opened once (kept.c). A read that continues at the end of the last read is
 * fast. For any other offset the kernel makes all lines before it again, which takes milliseconds
 * with tens of thousands of mappings. So one peer reads at a time, from the first line to the last,
 * and others wait.
 *
 * A peer that does not take its data delays the others by at most STALLED. Then the next one reads.
 * When the first continues, the lines that it has had are made once more.
 */
#include "service/maps.h"

#include <errno.h>

#include "service/kept.h"

#define STALLED INT64_C(500000000) /* ns */

static const struct fib_peer *reader; /* T the service thread only; NULL: no peer reads */

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
