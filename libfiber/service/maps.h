/* SPDX-License-Identifier: MIT */
/*
 * maps.h - which files are mapped where, read for one peer after the other
 *
 * See maps.c. The service thread's.
 */
#ifndef FIB_SERVICE_MAPS_H
#define FIB_SERVICE_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "service/peer.h"

/* Bytes of the mappings from offset on into buf: how many, 0 at the end, or a negative errno. -EAGAIN: another peer reads them now;
 * fib_maps_until() says when to come again. The peer keeps them from others until fib_maps_leave(). */
ssize_t fib_maps_read(struct fib_peer *peer, void *buf, size_t size, uint64_t offset, int64_t now);

/* The peer has all it wants of them, or has gone. */
void fib_maps_leave(const struct fib_peer *peer);

/* Until when the peer waits for another one that reads them; 0: it does not. INT64_MAX: until that one goes on. */
int64_t fib_maps_until(const struct fib_peer *peer);

#endif
