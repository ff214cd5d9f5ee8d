/* SPDX-License-Identifier: MIT */
/* 08_offload.c - a call that can only block runs on a thread of its own, and other fibers go on. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <fiber.h>

/* Runs on a plain thread, where errno is errno. */
static void *flush(void *arg)
{
	return (void *)(intptr_t)(fsync(*(int *)arg) < 0 ? -errno : 0);
}

/* fd is on our stack until flush() is through: so this has no deadline and is for fibers that nobody cancels. */
static int flush_file(int fd)
{
	void *result;
	int rc = fiber_block(flush, &fd, &result, FIBER_FOREVER);

	return rc < 0 ? rc : (int)(intptr_t)result;
}

static void *start(void *arg)
{
	FILE *file = tmpfile();
	int rc;

	if (!file)
		fiber_fail(-EIO, "no temporary file");
	fputs("to be kept\n", file);
	fflush(file);
	rc = flush_file(fileno(file));
	printf("flushed: %d\n", rc);
	rc = flush_file(-1);
	printf("no file: %s\n", rc == -EBADF ? "EBADF" : "?");
	fclose(file);
	return arg;
}

int main(void)
{
	return fiber_run(start, NULL, NULL, NULL) < 0;
}
