/* SPDX-License-Identifier: MIT */
/* stream.h - what other calls need of reading and writing bytes */
#ifndef FPX_CALL_STREAM_H
#define FPX_CALL_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/* Send SIGPIPE if n is -EPIPE. Returns n. */
ssize_t fpx_broken(ssize_t n);

/* The number of bytes of all pieces. */
size_t fpx_pieces_size(const struct iovec *v, size_t count);

/*
 * Write what follows the first `done` bytes, parking until the deadline. Returns how many bytes are
 * written then, with those before; or a negative errno if there are none.
 */
ssize_t fpx_write_rest(int fd, const struct iovec *v, size_t count, size_t done, int64_t deadline);

#endif
