/* SPDX-License-Identifier: MIT */
/*
 * scan.c - fscanf(3) from a stream whose descriptor may wait
 *
 * How many bytes vfscanf(3) needs is known to it alone. So the C library scans another stream, whose
 * read function is here: it takes a byte of the real stream, and parks where that has to wait. One byte
 * at a time, so the other stream never holds more than the byte that ended the scan. That one is put
 * back. The other stream has a buffer all the same: to fill one without, the C library would flush
 * stdout, and could block.
 *
 * While it scans, the C library has a record on the stack, in a list of the thread: what to unlock if the
 * thread is cancelled. Another fiber of the carrier may scan meanwhile, and the records would be
 * unlinked in the wrong order. So the list is set back to what it was before the scan while the fiber
 * parks.
 */
#include "streams/scan.h"

#include <errno.h>
#include <pthread.h>
#include <stdio_ext.h>

#include "streams/buffer.h"
#include "streams/read.h"
#include "system/streams.h"
#include "system/system.h"

#define BUFFER 16

struct scan {
	FILE *stream;
	struct _pthread_cleanup_buffer *outside; /* the thread's list before the scan */
	int error;				 /* errno of a read that failed; 0: none did */
};

/* Of the C library: they link a record into the list, and set the list to what the record says. */
extern void _pthread_cleanup_push(struct _pthread_cleanup_buffer *record, void (*fn)(void *),
				  void *arg);
extern void _pthread_cleanup_pop(struct _pthread_cleanup_buffer *record, int run);

/* Make `list` the thread's list, and return the one before. */
static struct _pthread_cleanup_buffer *swap_list(struct _pthread_cleanup_buffer *list)
{
	struct _pthread_cleanup_buffer record, *before;

	_pthread_cleanup_push(&record, NULL, NULL);
	before = record.__prev;
	record.__prev = list;
	_pthread_cleanup_pop(&record, 0);
	return before;
}

static struct _pthread_cleanup_buffer *list_now(void)
{
	struct _pthread_cleanup_buffer *const list = swap_list(NULL);

	swap_list(list);
	return list;
}

/* fpx_fill() outside the scan. An error of an earlier call does not count. */
static void fill(struct scan *s)
{
	struct _pthread_cleanup_buffer *const inside = swap_list(s->outside);
	const int before = s->stream->_flags & _IO_ERR_SEEN;

	s->stream->_flags &= ~_IO_ERR_SEEN;
	fpx_fill(s->stream);
	if (s->stream->_flags & _IO_ERR_SEEN)
		s->error = errno;
	s->stream->_flags |= before;
	swap_list(inside);
}

static ssize_t read_one(void *arg, char *to, size_t size)
{
	struct scan *s = arg;

	if (!size)
		return 0;
	if (!fpx_readable(s->stream) || __fwriting(s->stream))
		fill(s);
	if (!fpx_readable(s->stream))
		return s->error ? -1 : 0;
	*to = (char)fpx_get_char(s->stream);
	return 1;
}

/* Give the bytes back that the scan has not used. */
static void put_back(FILE *from, FILE *stream)
{
	int bytes[BUFFER], n = 0;

	while (n < BUFFER && fpx_readable(from))
		bytes[n++] = fpx_streams.fgetc_unlocked(from);
	while (n)
		fpx_streams.ungetc(bytes[--n], stream);
}

int fpx_scan(FILE *stream, int (*scan)(FILE *, const char *, va_list), const char *format,
	     va_list args)
{
	struct scan s = {.stream = stream, .outside = list_now()};
	FILE *const other = fopencookie(&s, "r", (cookie_io_functions_t){.read = read_one});
	char buffer[BUFFER];
	int n, error;

	if (!other)
		return EOF;
	fpx_streams.setvbuf(other, buffer, _IOFBF, sizeof buffer);
	__fsetlocking(other, FSETLOCKING_BYCALLER);
	n = scan(other, format, args);
	error = s.error ? s.error : errno;
	put_back(other, stream);
	fpx_system.fclose(other);
	errno = error;
	return n;
}
