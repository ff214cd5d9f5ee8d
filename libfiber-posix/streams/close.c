/* SPDX-License-Identifier: MIT */
/*
 * close.c - fclose(3), freopen(3) and pclose(3)
 *
 * The C library writes what the buffer holds and closes the descriptor, by calls that are not seen. So
 * the buffer is written here first. What cannot be written is discarded, as the stream is closed in any
 * case: the C library must not try again, and block.
 */
#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>

#include <fiber/fiber.h>
#include <fiber/posix.h>

#include "call/descriptor.h"
#include "call/off_carrier.h"
#include "call/park.h"
#include "streams/buffer.h"
#include "streams/hold.h"
#include "system/streams.h"
#include "system/system.h"

/* Write what the buffer holds. Returns 0, or the errno of what is discarded. */
static int finish(FILE *stream)
{
	int error = 0;

	if (fpx_drain(stream))
		return 0;
	error = errno;
	__fpurge(stream);
	return error;
}

/*
 * Get the stream for a call that closes it, in a fiber. Other fibers stay out until fpx_drop().
 * *ret_use.waits: the descriptor may wait, and *ret_error says what finish() does.
 */
static struct fpx_use enter(FILE *stream, int *ret_error)
{
	struct fpx_use use = fpx_enter(stream);

	*ret_error = use.waits ? finish(stream) : 0;
	return use;
}

static void forget(int fd)
{
	if (fd >= 0 && fpx_informs())
		fpx_forget(fd);
}

/* The result of a call that has closed the stream. */
static int result(int rc, int error)
{
	if (!error)
		return rc;
	errno = error;
	return EOF;
}

int fiber_posix_fclose(FILE *stream)
{
	const int fd = stream ? fpx_stream_fd(stream) : -1;
	struct fpx_use use;
	int rc, error;

	if (!stream || !fiber_self()) {
		forget(fd);
		return fpx_system.fclose(stream);
	}
	use = enter(stream, &error);
	forget(fd);
	if (!use.held) {
		fpx_leave(stream, use);
		return result(fpx_system.fclose(stream), error);
	}
	fpx_unlock_to_free(stream);
	rc = fpx_system.fclose(stream);
	fpx_drop(stream);
	return result(rc, error);
}

/* The stream's descriptor is replaced, or closed if that fails. */
FILE *fiber_posix_freopen(const char *path, const char *mode, FILE *stream)
{
	const int fd = stream ? fpx_stream_fd(stream) : -1;
	struct fpx_use use = {0};
	FILE *now;
	int error;

	if (fiber_self() && stream)
		use = enter(stream, &error);
	forget(fd);
	now = fpx_system.freopen(path, mode, stream);
	/* A wait may have begun between. */
	forget(fd);
	if (use.held || use.locked)
		fpx_leave(stream, use);
	return now;
}

struct closing {
	FILE *stream;
	int rc, error;
};

static void *close_there(void *arg)
{
	struct closing *c = arg;

	c->rc = fpx_streams.pclose(c->stream);
	c->error = errno;
	return NULL;
}

/* The C library waits for the process. Its number is known to it alone, so another thread waits. */
int fiber_posix_pclose(FILE *stream)
{
	struct closing c = {.stream = stream};
	struct fpx_use use;
	int error;

	if (!fpx_parks()) {
		forget(fpx_stream_fd(stream));
		return fpx_streams.pclose(stream);
	}
	use = enter(stream, &error);
	forget(fpx_stream_fd(stream));
	if (!use.held)
		fpx_leave(stream, use);
	fpx_unlock_to_free(stream);
	if (fpx_for_disk(close_there, &c) < 0)
		c.rc = EOF;
	fpx_drop(stream);
	if (c.rc < 0)
		errno = c.error;
	return result(c.rc, error);
}
