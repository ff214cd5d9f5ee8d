/* SPDX-License-Identifier: MIT */
/*
 * calls.c - the calls of stdio by another name
 *
 * Each has three ways. In a plain thread it is the C library's. In a fiber, if the stream's descriptor
 * may wait, it is the function in_fiber_<name>() below. Else it is the C library's too, with the stream's
 * lock (hold.c).
 */
#include "streams/calls.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio_ext.h>
#include <string.h>

#include <fiber/fiber.h>
#include <fiber/posix.h>

#include "call/off_carrier.h"
#include "call/park.h"
#include "streams/buffer.h"
#include "streams/hold.h"
#include "streams/read.h"
#include "streams/write.h"
#include "system/streams.h"

/* A call of a stream. `way`: fpx_enter or fpx_unlocked. */
#define CALL(result, name, parameters, arguments, stream, way, native, own)     \
	result name parameters                                                  \
	{                                                                       \
		struct fpx_use use;                                             \
		result ret;                                                     \
                                                                                \
		if (!fiber_self())                                              \
			return fpx_streams.native arguments;                    \
		use = way(stream);                                              \
		ret = use.waits ? own arguments : fpx_streams.native arguments; \
		fpx_leave(stream, use);                                         \
		return ret;                                                     \
	}
#define LOCKED(result, name, parameters, arguments, stream)                              \
	CALL(result, fiber_posix_##name, parameters, arguments, stream, fpx_enter, name, \
	     in_fiber_##name)
#define UNLOCKED(result, name, parameters, arguments, stream)                            \
	CALL(result, fpx_##name##_unlocked, parameters, arguments, stream, fpx_unlocked, \
	     name##_unlocked, in_fiber_##name)

/* -- bytes -- */

static size_t in_fiber_fread(void *to, size_t size, size_t n, FILE *stream)
{
	size_t bytes;

	if (__builtin_mul_overflow(size, n, &bytes))
		bytes = SIZE_MAX;
	return bytes ? fpx_get_bytes(stream, to, bytes) / size : 0;
}

static size_t in_fiber_fwrite(const void *from, size_t size, size_t n, FILE *stream)
{
	size_t bytes, done;

	if (__builtin_mul_overflow(size, n, &bytes))
		bytes = SIZE_MAX;
	if (!bytes)
		return 0;
	fpx_put_bytes(stream, from, bytes, &done);
	return done == bytes ? n : done / size;
}

static char *in_fiber_fgets(char *to, int size, FILE *stream)
{
	return fpx_get_line(stream, to, size);
}

static int in_fiber_fputs(const char *text, FILE *stream)
{
	size_t done;

	return fpx_put_bytes(stream, text, strlen(text), &done) ? 1 : EOF;
}

static int in_fiber_puts(const char *text)
{
	const size_t size = strlen(text);
	size_t done;

	if (!fpx_put_bytes(stdout, text, size, &done) || fpx_put_char(stdout, '\n') == EOF)
		return EOF;
	return size < INT_MAX ? (int)size + 1 : INT_MAX;
}

static int in_fiber_fgetc(FILE *stream)
{
	return fpx_get_char(stream);
}

static int in_fiber_fputc(int c, FILE *stream)
{
	return fpx_put_char(stream, c);
}

static ssize_t in_fiber_getdelim(char **line, size_t *size, int delim, FILE *stream)
{
	return fpx_get_delim(stream, line, size, delim);
}

LOCKED(size_t, fread, (void *to, size_t size, size_t n, FILE *stream), (to, size, n, stream),
       stream)
LOCKED(size_t, fwrite, (const void *from, size_t size, size_t n, FILE *stream),
       (from, size, n, stream), stream)
LOCKED(char *, fgets, (char *to, int size, FILE *stream), (to, size, stream), stream)
LOCKED(int, fputs, (const char *text, FILE *stream), (text, stream), stream)
LOCKED(int, puts, (const char *text), (text), stdout)
LOCKED(int, fgetc, (FILE * stream), (stream), stream)
LOCKED(int, fputc, (int c, FILE *stream), (c, stream), stream)
LOCKED(ssize_t, getdelim, (char **line, size_t *size, int delim, FILE *stream),
       (line, size, delim, stream), stream)
UNLOCKED(size_t, fread, (void *to, size_t size, size_t n, FILE *stream), (to, size, n, stream),
	 stream)
UNLOCKED(size_t, fwrite, (const void *from, size_t size, size_t n, FILE *stream),
	 (from, size, n, stream), stream)
UNLOCKED(char *, fgets, (char *to, int size, FILE *stream), (to, size, stream), stream)
UNLOCKED(int, fputs, (const char *text, FILE *stream), (text, stream), stream)
UNLOCKED(int, fgetc, (FILE * stream), (stream), stream)
UNLOCKED(int, fputc, (int c, FILE *stream), (c, stream), stream)

static int in_fiber_overflow(FILE *stream, int c)
{
	if (c != EOF)
		return fpx_put_char(stream, c);
	return fpx_drain(stream) ? 0 : EOF;
}

CALL(int, fpx_uflow, (FILE * stream), (stream), stream, fpx_unlocked, __uflow, in_fiber_fgetc)
CALL(int, fpx_overflow, (FILE * stream, int c), (stream, c), stream, fpx_unlocked, __overflow,
     in_fiber_overflow)

ssize_t fiber_posix_getline(char **line, size_t *size, FILE *stream)
{
	return fiber_posix_getdelim(line, size, '\n', stream);
}

/* -- what else uses the buffer: with nothing to be written it does not need the descriptor -- */

static int in_fiber_fflush(FILE *stream)
{
	return fpx_drain(stream) ? fpx_streams.fflush_unlocked(stream) : EOF;
}

static int in_fiber_ungetc(int c, FILE *stream)
{
	return fpx_drain(stream) ? fpx_streams.ungetc(c, stream) : EOF;
}

static int in_fiber_fseeko(FILE *stream, off_t at, int whence)
{
	return fpx_drain(stream) ? fpx_streams.fseeko(stream, at, whence) : -1;
}

static int in_fiber_setvbuf(FILE *stream, char *buffer, int mode, size_t size)
{
	return fpx_drain(stream) ? fpx_streams.setvbuf(stream, buffer, mode, size) : EOF;
}

LOCKED(int, ungetc, (int c, FILE *stream), (c, stream), stream)
LOCKED(int, fseeko, (FILE * stream, off_t at, int whence), (stream, at, whence), stream)
LOCKED(int, setvbuf, (FILE * stream, char *buffer, int mode, size_t size),
       (stream, buffer, mode, size), stream)
UNLOCKED(int, fflush, (FILE * stream), (stream), stream)

static void *flush_there(void *arg)
{
	int *error = arg;

	*error = fpx_streams.fflush(NULL) == EOF ? errno : 0;
	return NULL;
}

/* Which streams there are is known to the C library alone, so another thread writes them. */
static int flush_all(void)
{
	int error, rc = fpx_off_carrier(flush_there, &error);

	if (rc == 0 && !error)
		return 0;
	errno = rc < 0 ? -rc : error;
	return EOF;
}

int fiber_posix_fflush(FILE *stream)
{
	struct fpx_use use;
	int rc;

	/* Another thread would wait for the stream that the fiber itself has locked. */
	if (!fiber_self() || (!stream && (!fpx_parks() || fpx_holds_any())))
		return fpx_streams.fflush(stream);
	if (!stream)
		return flush_all();
	use = fpx_enter(stream);
	rc = use.waits ? in_fiber_fflush(stream) : fpx_streams.fflush(stream);
	fpx_leave(stream, use);
	return rc;
}

/* -- what needs the lock alone -- */

#define GUARDED(result, name, parameters, arguments, stream)                             \
	CALL(result, fiber_posix_##name, parameters, arguments, stream, fpx_enter, name, \
	     fpx_streams.name)

GUARDED(int, feof, (FILE * stream), (stream), stream)
GUARDED(int, ferror, (FILE * stream), (stream), stream)
GUARDED(off_t, ftello, (FILE * stream), (stream), stream)

void fiber_posix_clearerr(FILE *stream)
{
	struct fpx_use use;

	if (!fiber_self()) {
		fpx_streams.clearerr(stream);
		return;
	}
	use = fpx_enter(stream);
	fpx_streams.clearerr(stream);
	fpx_leave(stream, use);
}

void fiber_posix_rewind(FILE *stream)
{
	struct fpx_use use;

	if (!fiber_self()) {
		fpx_streams.rewind(stream);
		return;
	}
	use = fpx_enter(stream);
	if (!use.waits || fpx_drain(stream))
		fpx_streams.rewind(stream);
	fpx_leave(stream, use);
}

void fiber_posix_flockfile(FILE *stream)
{
	if (fiber_self())
		fpx_hold(stream);
	else
		fpx_streams.flockfile(stream);
}

int fiber_posix_ftrylockfile(FILE *stream)
{
	return fiber_self() ? (fpx_try_hold(stream) ? 0 : -1) : fpx_streams.ftrylockfile(stream);
}

void fiber_posix_funlockfile(FILE *stream)
{
	if (fiber_self())
		fpx_release(stream);
	else
		fpx_streams.funlockfile(stream);
}
