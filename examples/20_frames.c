/* SPDX-License-Identifier: MIT */
/* 20_frames.c - messages that start with their length, sent with one call and received whole. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <fiber.h>

#define SECOND INT64_C(1000000000)

static int send_frame(int fd, const char *text)
{
	uint32_t length = (uint32_t)strlen(text);
	const struct iovec pieces[] = {{&length, sizeof(length)},
				       {(void *)(uintptr_t)text, length}};

	return (int)fiber_writev(fd, pieces, 2, fiber_after(SECOND));
}

/* Returns the length of the text; 0 at the end; -EPROTO if the stream ends inside a message. */
static int receive_frame(int fd, char *text, size_t size)
{
	const int64_t deadline = fiber_after(SECOND); /* for all of it, not for each piece */
	uint32_t length;
	ssize_t n = fiber_read_full(fd, &length, sizeof(length), deadline);

	if (n <= 0)
		return (int)n;
	if (n < (ssize_t)sizeof(length) || length >= size)
		return -EPROTO;
	n = fiber_read_full(fd, text, length, deadline);
	if (n < 0)
		return (int)n;
	text[n] = '\0';
	return n < (ssize_t)length ? -EPROTO : (int)n;
}

static void *speak(void *arg)
{
	const uint32_t much = 100;
	const int fd = (int)(intptr_t)arg;

	send_frame(fd, "to be or not to be");
	send_frame(fd, "that is the question");
	fiber_write_full(fd, &much, sizeof(much), fiber_after(SECOND)); /* and then nothing */
	fiber_close(fd);
	return NULL;
}

static void *listen_to(void *arg)
{
	const int fd = (int)(intptr_t)arg;
	char text[128];
	int n;

	while ((n = receive_frame(fd, text, sizeof(text))) > 0)
		printf("%d bytes: %s\n", n, text);
	printf("then: %s\n", n == -EPROTO ? "cut off" : "the end");
	fiber_close(fd);
	return NULL;
}

int main(void)
{
	fiber_fn *const fns[] = {speak, listen_to};
	void *args[2];
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
		return 1;
	args[0] = (void *)(intptr_t)fds[0];
	args[1] = (void *)(intptr_t)fds[1];
	return fiber_run_many(fns, args, 2, NULL, NULL) < 0;
}
