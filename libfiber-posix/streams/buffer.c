/* SPDX-License-Identifier: MIT */
/*
 * buffer.c - read into and write from the buffer of a stream, parking
 *
 * The C library reads and writes the descriptor inside itself. Waiting for the descriptor before such a
 * call is not enough: the call may read more than once, and another process may take the bytes first.
 * So the bytes are moved here, by fiber_posix_read() and fiber_posix_write(), which know O_NONBLOCK,
 * time limits, cancellation and SIGPIPE. Between two calls the stream is as the C library would have
 * left it, and its own calls (ungetc(3), a plain thread's fgets(3)) go on with the same buffer.
 *
 * The fields of struct _IO_FILE are those that <bits/types/struct_FILE.h> shows. They never change:
 * programs that were compiled for old versions have getc() as a macro that uses them.
 *
 *     reading   read_base <= read_ptr <= read_end       bytes to be read from read_ptr on
 *     writing   write_base <= write_ptr <= buf_end      bytes to be written from write_base on
 *
 * What depends on more than these fields is left to the C library, at moments when it does not need the
 * descriptor: to make the buffer, to change between reading and writing with nothing to be written, to
 * leave the memory of ungetc(3).
 *
 * An error does not discard what is to be written, as the C library does. So a write that gave EAGAIN
 * or ECANCELED can be repeated.
 */
#include "streams/buffer.h"

#include <errno.h>
#include <stdio_ext.h>
#include <string.h>

#include <fiber/posix.h>

#include "streams/hold.h"
#include "system/streams.h"

/* Of the C library, for its own streams in C++. */
extern void _IO_doallocbuf(FILE *stream);
extern int _IO_switch_to_get_mode(FILE *stream);
extern void _IO_free_backup_area(FILE *stream);

/* The C library keeps where in the file the descriptor is; a pipe has no such place. */
static void moved(FILE *stream, size_t n)
{
	if (stream->_offset >= 0)
		stream->_offset += (off64_t)n;
}

static bool fail(FILE *stream)
{
	stream->_flags |= _IO_ERR_SEEN;
	return false;
}

static bool prepare_read(FILE *stream)
{
	if (!__freadable(stream)) {
		errno = EBADF;
		return fail(stream);
	}
	if (__fwriting(stream)) {
		if (!fpx_drain(stream))
			return false;
		_IO_switch_to_get_mode(stream);
	}
	if (fpx_readable(stream))
		return true;
	/* From now on it is a stream of bytes. */
	stream->_mode = -1;
	if (stream->_IO_backup_base)
		_IO_free_backup_area(stream);
	if (!stream->_IO_buf_base)
		_IO_doallocbuf(stream);
	return true;
}

/*
 * ISO C: input of a stream that is not fully buffered writes what a terminal is to show. The caller has
 * the stream, so it does not wait for the lock of stdout: the holder of that may want to read.
 */
static void flush_lines(FILE *stream)
{
	if (stream == stdout || !__flbf(stdout) || !__fpending(stdout) ||
	    (!__flbf(stream) && __fbufsize(stream) > 1) || !fpx_try_hold(stdout))
		return;
	if (fpx_unlocked(stdout).waits)
		fpx_drain(stdout);
	else
		fpx_streams.fflush_unlocked(stdout);
	fpx_release(stdout);
}

bool fpx_may_read(FILE *stream)
{
	if (!prepare_read(stream))
		return false;
	if (fpx_readable(stream))
		return true;
	if (stream->_flags & _IO_EOF_SEEN)
		return false;
	flush_lines(stream);
	return true;
}

/* Programs tell the end of the file from an error by an errno that they have cleared. */
size_t fpx_read_past(FILE *stream, char *to, size_t size)
{
	const int before = errno;
	const ssize_t n = fiber_posix_read(stream->_fileno, to, size);

	if (n < 0) {
		fail(stream);
		return 0;
	}
	errno = before;
	if (n == 0)
		stream->_flags |= _IO_EOF_SEEN;
	moved(stream, (size_t)n);
	return (size_t)n;
}

bool fpx_fill(FILE *stream)
{
	char *base;

	if (fpx_readable(stream) && !__fwriting(stream))
		return true;
	if (!fpx_may_read(stream))
		return false;
	if (fpx_readable(stream))
		return true;
	base = stream->_IO_buf_base;
	stream->_IO_read_base = stream->_IO_read_ptr = stream->_IO_read_end = base;
	stream->_IO_write_base = stream->_IO_write_ptr = stream->_IO_write_end = base;
	stream->_IO_read_end += fpx_read_past(stream, base, (size_t)(stream->_IO_buf_end - base));
	return fpx_readable(stream) > 0;
}

bool fpx_may_write(FILE *stream)
{
	char *base;

	if (__fpending(stream))
		return true;
	/* With nothing to be written this call writes nothing. */
	if (fpx_streams.__overflow(stream, EOF) == EOF)
		return false;
	base = stream->_IO_buf_base;
	stream->_IO_read_base = stream->_IO_read_ptr = stream->_IO_read_end = base;
	stream->_IO_write_base = stream->_IO_write_ptr = base;
	stream->_IO_write_end =
		__flbf(stream) || __fbufsize(stream) <= 1 ? base : stream->_IO_buf_end;
	return true;
}

/* A blocking write moves all bytes unless there is an error, which the next one meets. */
size_t fpx_write_past(FILE *stream, const char *from, size_t size)
{
	const int before = errno;
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		n = fiber_posix_write(stream->_fileno, from + done, size - done);
		if (n <= 0) {
			fail(stream);
			return done;
		}
		done += (size_t)n;
		moved(stream, (size_t)n);
	}
	errno = before;
	return done;
}

bool fpx_drain(FILE *stream)
{
	const size_t size = __fpending(stream);
	const size_t done = size ? fpx_write_past(stream, stream->_IO_write_base, size) : 0;

	if (done && done < size)
		memmove(stream->_IO_write_base, stream->_IO_write_base + done, size - done);
	stream->_IO_write_ptr -= done;
	return done == size;
}
