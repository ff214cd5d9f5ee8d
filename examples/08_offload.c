/* SPDX-License-Identifier: MIT */
/* 08_offload.c - run a blocking call on a separate thread, while other fibers continue. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <fiber.h>

/* Runs on a plain thread, so it may use errno. */
static void *flush(void *arg)
{
	return (void *)(intptr_t)(fsync(*(int *)arg) < 0 ? -errno : 0);
}

/* flush() uses fd on our stack, so there is no deadline. Only for fibers that are not cancelled. */
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
