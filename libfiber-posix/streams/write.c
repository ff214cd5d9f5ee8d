/* SPDX-License-Identifier: MIT */
/* write.c - write a stream whose descriptor may wait */
#include "streams/write.h"

#include <stdio_ext.h>
#include <string.h>

#include "streams/buffer.h"

/* Move bytes once: past an empty buffer, or into a part of it. Returns false with an error. */
static bool put_some(FILE *stream, const char *from, size_t size, size_t *ret_done)
{
	size_t whole, room;

	*ret_done = 0;
	if (!fpx_may_write(stream))
		return false;
	whole = (size_t)(stream->_IO_buf_end - stream->_IO_buf_base);
	if (!__fpending(stream) && size >= whole) {
		size -= size % whole;
		*ret_done = fpx_write_past(stream, from, size);
		return *ret_done == size;
	}
	if (stream->_IO_write_ptr == stream->_IO_buf_end && !fpx_drain(stream))
		return false;
	room = (size_t)(stream->_IO_buf_end - stream->_IO_write_ptr);
	*ret_done = size < room ? size : room;
	memcpy(stream->_IO_write_ptr, from, *ret_done);
	stream->_IO_write_ptr += *ret_done;
	return true;
}

/* Returns how many bytes the stream has taken; fewer than size with an error. */
static size_t put(FILE *stream, const char *from, size_t size)
{
	size_t done = 0, n;
	bool good = true;

	while (good && done < size) {
		good = put_some(stream, from + done, size - done, &n);
		done += n;
	}
	return done;
}

bool fpx_put_bytes(FILE *stream, const char *from, size_t size, size_t *ret_done)
{
	const char *const end = __flbf(stream) ? memrchr(from, '\n', size) : NULL;
	const size_t lines = end ? (size_t)(end + 1 - from) : 0;

	*ret_done = put(stream, from, lines);
	if (*ret_done < lines || (lines && !fpx_drain(stream)))
		return false;
	*ret_done += put(stream, from + lines, size - lines);
	return *ret_done == size;
}

int fpx_put_char(FILE *stream, int c)
{
	const char byte = (char)c;
	size_t done;

	if (stream->_IO_write_ptr < stream->_IO_write_end)
		*stream->_IO_write_ptr++ = byte;
	else if (!fpx_put_bytes(stream, &byte, 1, &done))
		return EOF;
	return (unsigned char)c;
}
