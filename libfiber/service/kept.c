/* SPDX-License-Identifier: MIT */
/*
 * kept.c - what the service thread opens at start and keeps
 *
 * A program may forbid itself system calls once it has started, with seccomp(2), and be killed at the first that is not allowed. So
 * what answers need is opened before: a pipe to copy memory through, and the files of /proc about this process. Answers then read
 * and write what is open. The list of calls that are left is in libfiber(7); tests/cli/test_sandbox.c holds it against the program.
 *
 * A program may also close every descriptor that it finds, and open files under their numbers. So a kept file is looked at again in
 * each answer before it is used (os/kept.h). One that is ours no more is forgotten, and opened anew.
 *
 * One pipe does for all answers: a copy goes in and comes out again in one call, and only the service thread makes any.
 */
#include "service/kept.h"

#include <errno.h>
#include <stdbool.h>

#include "os/kept.h"

enum state { UNTRIED, TRUSTED, UNSEEN, REFUSED };

/* T: the service thread, while it runs */
static struct {
	const char *path;
	struct fib_os_kept file;
	enum state state;
	int rc; /* why it was REFUSED */
} files[FIB_KEPT_FILES] = {
	[FIB_KEPT_MAPS] = {.path = "/proc/self/maps", .file = {-1, 0}},
	[FIB_KEPT_STATM] = {.path = "/proc/self/statm", .file = {-1, 0}},
	[FIB_KEPT_PAGEMAP] = {.path = "/proc/self/pagemap", .file = {-1, 0}},
};

static struct {
	struct fib_os_pipe pipe;
	bool seen; /* since this request began */
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
	/* What the page map says can be had in another way, and making up for its loss is not worth the time. */
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
