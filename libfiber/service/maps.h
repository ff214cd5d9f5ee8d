/* SPDX-License-Identifier: MIT */
/*
 * maps.h - read the mappings of the process, for one peer at a time
 *
 * See maps.c. Only for the service thread.
 */
#ifndef FIB_SERVICE_MAPS_H
#define FIB_SERVICE_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "service/peer.h"

/*
 * Read bytes of the mappings from offset into buf. Returns their number, 0 at the end, or a
 * negative errno. -EAGAIN: another peer is reading; fib_maps_until() says when to try again. Other
 * peers are kept out until fib_maps_leave().
 */
ssize_t fib_maps_read(struct fib_peer *peer, void *buf, size_t size, uint64_t offset, int64_t now);

/* The peer needs no more of them, or is closed. */
void fib_maps_leave(const struct fib_peer *peer);

/*
 * How long the peer waits for another one that reads; 0: it does not. INT64_MAX: until that one
 * goes on.
 */
int64_t fib_maps_until(const struct fib_peer *peer);

#endif
