/* SPDX-License-Identifier: MIT */
/*
 * kept.c - files and a pipe that the service thread keeps open from its start
 *
 * A program may forbid itself system calls with seccomp(2) once it has started, and be killed at
 * the first that is not allowed. So what answers need is opened before: a pipe to copy memory
 * through, and the files of /proc about this process. Answers then only read and write these.
 * libfiber(7) lists the calls that are left; tests/cli/test_sandbox.c compares that list with the
 * program.
 *
 * A program may also close every descriptor it finds and reuse the numbers. So a kept file is
 * checked before its first use in each answer (os/kept.h). One that belongs to the program now is
 * dropped and opened again.
 *
 * One pipe serves all answers: a copy is written and read back in one call, and only the service
 * thread does so.
 */
#include "service/kept.h"

#include <errno.h>
#include <stdbool.h>

#include "os/kept.h"

enum state { UNTRIED, TRUSTED, UNSEEN, REFUSED };

/* T: the service thread only, while it runs */
static struct {
	const char *path;
	struct fib_os_kept file;
	enum state state;
	int rc; /* why, if REFUSED */
} files[FIB_KEPT_FILES] = {
	[FIB_KEPT_MAPS] = {.path = "/proc/self/maps", .file = {-1, 0}},
	[FIB_KEPT_STATM] = {.path = "/proc/self/statm", .file = {-1, 0}},
	[FIB_KEPT_PAGEMAP] = {.path = "/proc/self/pagemap", .file = {-1, 0}},
};

static struct {
	struct fib_os_pipe pipe;
	bool seen; /* checked since this request began */
} copies = {.pipe = {{-1, -1}, 0}};

static void open_file(enum fib_kept_file which)
{
	files[which].rc = fib_os_keep(&files[which].file, files[which].path);
	files[which].state = files[which].rc < 0 ? REFUSED : TRUSTED;
}

int fib_kept_file(enum fib_kept_file which)
{
	if (files[which].state == UNSEEN && fib_os_kept_ours(&files[which].file))
		files[which].state = TRUSTED;
	/*
	 * There is another way to get what the page map says; opening it again is not worth the
	 * time.
	 */
	if (which == FIB_KEPT_PAGEMAP && files[which].state != TRUSTED)
		return -ENOENT;
	if (files[which].state == UNTRIED || files[which].state == UNSEEN)
		open_file(which);
	return files[which].state == TRUSTED ? files[which].file.fd : files[which].rc;
}

struct fib_os_pipe *fib_kept_pipe(void)
{
	if (!copies.seen && !fib_os_pipe_ours(&copies.pipe)) {
		copies.pipe = FIB_OS_NO_PIPE;
		fib_os_pipe_open(&copies.pipe);
	}
	copies.seen = true;
	return &copies.pipe;
}

struct fib_os_pipe *fib_kept_pipe_now(void)
{
	copies.seen = false;
	return fib_kept_pipe();
}

void fib_kept_renew(void)
{
	unsigned i;

	copies.seen = false;
	for (i = 0; i < FIB_KEPT_FILES; i++)
		if (files[i].state == TRUSTED)
			files[i].state = UNSEEN;
}

void fib_kept_open(bool answers)
{
	unsigned i;

	fib_kept_pipe_now();
	for (i = 0; answers && i < FIB_KEPT_FILES; i++)
		open_file(i);
}

void fib_kept_close(void)
{
	unsigned i;

	if (fib_os_pipe_ours(&copies.pipe))
		fib_os_pipe_close(&copies.pipe);
	copies.pipe = FIB_OS_NO_PIPE;
	copies.seen = false;
	for (i = 0; i < FIB_KEPT_FILES; i++) {
		fib_os_kept_close(&files[i].file);
		files[i].state = UNTRIED;
	}
}
